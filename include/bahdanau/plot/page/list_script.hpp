// The script of the page of translations: the list, its search and order, the sentence that is shown, and
// keys.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_list_script = R"js(
const sentences = [], searchable = [], items = [];
const textOf = (tokens, text) => text || withoutEnd(tokens).join(' ');
const best = sentence => sentence.nbest[0];
const perWord = sentence => best(sentence).score / Math.max(best(sentence).target.length, 1);
const anyBleu = data.sentences.some(sentence => best(sentence).bleu !== null && best(sentence).bleu !== undefined);
const orders = {
  file: ['In their order', null],
  scoreUp: ['Score, lowest first', (a, b) => best(a).score - best(b).score],
  scoreDown: ['Score, highest first', (a, b) => best(b).score - best(a).score],
  wordUp: ['Score per word, lowest first', (a, b) => perWord(a) - perWord(b)],
  lengthDown: ['Longest first', (a, b) => b.source.length - a.source.length],
  lengthUp: ['Shortest first', (a, b) => a.source.length - b.source.length],
  ...(anyBleu ? {bleuUp: ['BLEU, lowest first', (a, b) => (best(a).bleu ?? 2) - (best(b).bleu ?? 2)],
                 bleuDown: ['BLEU, highest first', (a, b) => (best(b).bleu ?? -1) - (best(a).bleu ?? -1)]} : {})};

const search = el('input', {class: 'control', type: 'search', id: 'search', placeholder: 'Search', autocomplete: 'off', 'aria-label': 'search sentences'});
const order = el('select', {class: 'control', id: 'order', 'aria-label': 'order of sentences'}, ...Object.entries(orders).map(([name, [label]]) => el('option', {value: name}, label)));
const count = el('p', {class: 'small soft', role: 'status'});
const list = el('ol', {class: 'list', id: 'list', 'aria-label': 'sentences'});
const main = el('main', {class: 'main', id: 'sentence', tabindex: -1});
// One more sentence at the list's end; its number.
function addSentence(sentence) {
  const i = sentences.length, {bleu, score, target, text} = best(sentence);
  const item = el('a', {href: '#' + (i + 1), tabindex: -1}, el('bdi', {class: 'from', dir: directionOf(sentence.source)}, textOf(sentence.source)),
    el('bdi', {class: 'to', dir: directionOf(target)}, textOf(target, text)),
    el('span', {class: 'facts number'}, el('span', {}, String(i + 1)), el('span', {}, `ln p ${digits(score, 2)}`),
      bleu !== null && bleu !== undefined && el('span', {}, `BLEU ${digits(bleu, 2)}`)));
  item.addEventListener('click', event => { event.preventDefault(); open(i); });
  sentences.push(sentence);
  items.push(item);
  searchable.push([textOf(sentence.source), ...sentence.nbest.map(t => t.text + ' ' + t.target.join(' ')), sentence.reference ? sentence.reference.join(' ') : ''].join('\n').toLocaleLowerCase());
  return i;
}
let visible = [], current = -1, rank = 0, repaints = [];

function arrange() {
  const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean), compare = orders[order.value][1];
  visible = sentences.map((_, i) => i).filter(i => words.every(word => searchable[i].includes(word)));
  if (compare) visible.sort((a, b) => compare(sentences[a], sentences[b]) || a - b);
  list.replaceChildren(...visible.map(i => el('li', {}, items[i])));
  count.textContent = visible.length === sentences.length ? `${sentences.length} sentences` : `${visible.length} of ${sentences.length} sentences`;
  mark();
}
function mark() {
  items.forEach((item, i) => item.setAttribute('aria-current', i === current ? 'true' : 'false'));
  rove(items, visible.includes(current) ? current : visible[0]);
  place.textContent = sentences.length ? `${current + 1} / ${sentences.length}` : '';
}

// The card of words, matrix, search: all that there is to see of a sentence.
function show(i, chosenRank) {
  current = i;
  rank = chosenRank;
  const sentence = sentences[i], translation = sentence.nbest[rank], view = new AttentionView(sentence.source, translation);
  const words = wordsOf(view), readout = readoutOf(view);
  const fact = (name, value) => el('span', {}, name + ' ', el('b', {class: 'number'}, value));
  const parts = [el('div', {class: 'facts-line'}, fact('Sentence', `${i + 1}`), fact('ln p', digits(translation.score, 3)),
    fact('per word', perWordOf(translation)),
    fact('words', `${withoutEnd(sentence.source).length} → ${withoutEnd(translation.target).length}`),
    translation.bleu !== null && translation.bleu !== undefined && fact('BLEU', digits(translation.bleu, 3)))];
  const reference = sentence.reference && el('div', {class: 'reference'}, el('p', {class: 'side-name'}, 'Reference'), referenceOf(sentence.reference, translation));
  parts.push(el('section', {class: 'card keep', id: 'text'}, words.pair, reference, readout));
  repaints = [words.draw];
  let attention = null;
  if (view.keys > 0) {
    const gold = view.linked && goldFits(sentence, translation) ? sentence.gold : null;
    const matrix = matrixViewOf(view, gold), {scale, legend} = legendOf(gold);
    const heads = view.matrices.length > 1 && headsOf(view, matrix.repaint);
    attention = el('section', {class: 'card', id: 'attention'}, el('header', {}, el('h2', {}, 'Attention'),
      el('span', {class: 'soft'}, 'a row for each word of the translation')), heads && heads.box, matrix.box, legend);
    repaints.push(matrix.repaint, () => { scale.style.background = scaleOfColours(); });
    if (heads) repaints.push(heads.repaint);
  }
  const narrow = view.keys <= 18 && view.target.length <= 18;
  if (attention && narrow) parts.push(el('div', {class: 'twins'}, attention, wordTable(view)));
  else parts.push(...[attention, wordTable(view)].filter(Boolean));
  if (sentence.nbest.length > 1) parts.push(bestCard(sentence, rank, chosen => {
    const at = scrollY;
    show(current, chosen);
    scrollTo(0, at);
    main.querySelectorAll('#best button')[chosen].focus({preventScroll: true});
  }));
  if (sentence.history) parts.push(treeCard(sentence.history, translation.forced ? 0 : rank + 1, sentence.width));
  parts.push(el('p', {class: 'keys'}, el('kbd', {}, 'j'), ' ', el('kbd', {}, 'k'), ' next and previous sentence   ', el('kbd', {}, '/'), ' search   ',
    el('kbd', {}, '←'), ' ', el('kbd', {}, '→'), ' from word to word   ', el('kbd', {}, '↑'), ' ', el('kbd', {}, '↓'), ' to the word that is attended to most'));
  main.replaceChildren(...parts);
  view.activate(null, null);
  mark();
}
// Gold links are those of the reference; of another translation they say nothing.
function goldFits(sentence, translation) {
  const words = withoutEnd(translation.target);
  return Boolean(sentence.gold) && (translation.forced || !sentence.reference ||
    words.length === sentence.reference.length && words.every((word, i) => word === sentence.reference[i]));
}
function referenceOf(reference, translation) {
  const common = commonWords(withoutEnd(translation.target), reference), line = el('bdi', {dir: directionOf(reference)});
  reference.forEach((word, i) => line.append(i ? ' ' : '', common.has(i) ? el('span', {class: 'same'}, word) : word));
  return line;
}

const place = el('span', {class: 'small soft number', id: 'place'});
function open(i) {
  if (!(i in sentences)) return;
  document.body.classList.remove('listing');
  toggle.setAttribute('aria-expanded', 'false');
  if (location.hash !== '#' + (i + 1)) history.replaceState(null, '', '#' + (i + 1));
  show(i, 0);
  scrollTo(0, 0);
  items[i].scrollIntoView({block: 'nearest'});
}
function move(by) {
  const at = visible.indexOf(current), next = visible[at < 0 ? 0 : at + by];
  if (next !== undefined) open(next);
}
const toggle = el('button', {class: 'control toggle-list', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'side', onclick: () => {
  const shown = document.body.classList.toggle('listing');
  toggle.setAttribute('aria-expanded', shown ? 'true' : 'false');
  if (shown) search.focus();
}}, 'Sentences');
const step = (label, sign, by) => el('button', {class: 'control', type: 'button', 'aria-label': label, title: label, onclick: () => move(by)}, sign);
document.body.append(
  el('header', {class: 'bar'}, el('h1', {dir: 'auto'}, data.title), place, step('previous sentence', '‹', -1), step('next sentence', '›', 1), toggle,
    themeButton(() => repaints.forEach(repaint => repaint()))),
  el('div', {class: 'app'}, el('aside', {class: 'side', id: 'side'}, search, order, count, list), main));

search.addEventListener('input', arrange);
order.addEventListener('change', arrange);
list.addEventListener('keydown', event => {
  const i = visible.indexOf(items.indexOf(document.activeElement)), next = visible[{ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: visible.length - 1}[event.key]];
  if (i < 0 || next === undefined) return;
  event.preventDefault();
  rove(items, next);
  items[next].focus();
});
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') { document.body.classList.remove('listing'); toggle.setAttribute('aria-expanded', 'false'); }
  if (['INPUT', 'SELECT', 'TEXTAREA'].includes(document.activeElement.tagName)) return;
  if (event.key === 'j') move(1);
  else if (event.key === 'k') move(-1);
  else if (event.key === '/') { event.preventDefault(); if (getComputedStyle(toggle).display !== 'none') document.body.classList.add('listing'); search.focus(); }
});
data.sentences.forEach(addSentence);
addEventListener('hashchange', () => open(Number(location.hash.slice(1)) - 1));
arrange();
if (sentences.length) open(Number(location.hash.slice(1)) - 1 in sentences ? Number(location.hash.slice(1)) - 1 : 0);
else main.append(el('p', {class: 'empty'}, data.live ? 'Nothing was translated yet.' : 'There are no sentences.'));
)js";

}  // namespace bahdanau::detail
