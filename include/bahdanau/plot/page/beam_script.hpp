// The script of the search: the beam's tree with what was dropped, the n best side by side, and the words
// with those that might have come instead.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_beam_script = R"js(
const fates = ['kept', 'ended', 'dropped', 'pruned'];

// The nodes of a history: [parent, token, ln p, score, fate, rank, place] each, put at their places.
function treeOf(history, showGone) {
  const steps = history.map((step, t) => step.map(([parent, token, logProb, score, fate, rank, place], i) =>
    ({t, i, parent, token, logProb, score, fate: fates[fate], rank, place, children: []})));
  steps.forEach((step, t) => step.forEach(node => {
    node.up = t > 0 ? steps[t - 1][node.parent] : null;
    if (node.up) node.up.children.push(node);
  }));
  const shown = steps.map(step => step.filter(node => showGone || node.fate === 'kept' || node.fate === 'ended'));
  shown.forEach(step => step.forEach((node, row) => { node.row = row; }));
  return {steps, shown};
}
const pathTo = node => { const path = []; for (; node; node = node.up) path.unshift(node); return path; };
// What people take for one sign is never cut, where the browser knows what that is.
const segmenter = typeof Intl !== 'undefined' && Intl.Segmenter ? new Intl.Segmenter(undefined, {granularity: 'grapheme'}) : null;
function shorten(word, most) {
  const signs = segmenter ? Array.from(segmenter.segment(word), each => each.segment) : [...word];
  return signs.length > most ? signs.slice(0, most - 1).join('') + '…' : word;
}

function storyOf(node, width) {
  const words = pathTo(node).map(each => each.token).join(' ');
  const facts = [`ln p ${digits(node.score, 3)}`, `this word ${percent(chance(node.logProb))}`];
  if (node.fate === 'kept') facts.push('went on');
  if (node.fate === 'dropped') facts.push(`dropped at step ${node.t + 1}: number ${node.i + 1} of its step` + (width ? `, and the beam keeps ${width}` : ''));
  if (node.fate === 'pruned') facts.push(`given up at step ${node.t + 1}: what has ended is better than it can become`);
  if (node.fate === 'ended') facts.push(node.place ? `ended, number ${node.place} of the translations` : 'ended, and others ranked better',
    `ranked by ${digits(node.rank, 3)}`);
  return [el('bdi', {dir: 'auto'}, el('b', {}, words)), el('br'), el('span', {class: 'soft'}, facts.join(' · '))];
}

// The tree as a picture: a column for each step, the best on top. `width` is the beam's, or nothing where it is not known.
function treeCard(history, chosenPlace, width) {
  const wide = 124, high = 27, gap = 30, top = 24;
  const note = el('p', {class: 'tree-note', 'aria-live': 'polite'});
  const holder = el('div', {class: 'tree'});
  const hint = () => note.replaceChildren(el('span', {class: 'soft'}, 'Point at a hypothesis, or move to one with the arrow keys: left to what it continues, right to what continues it.'));
  const draw = showGone => {
    const {steps, shown} = treeOf(history, showGone);
    const winner = steps.flat().find(node => chosenPlace > 0 && node.place === chosenPlace), won = new Set(winner ? pathTo(winner) : []);
    const x = node => node.t * (wide + gap) + 4, y = node => top + node.row * (high + 6);
    const rows = Math.max(...shown.map(step => step.length), 1);
    const edges = svg('g'), nodes = svg('g');
    const all = shown.flat();
    for (const node of all) {
      const gone = node.fate === 'dropped' || node.fate === 'pruned';
      if (node.up) {
        const x1 = x(node.up) + wide, y1 = y(node.up) + high / 2, x2 = x(node), y2 = y(node) + high / 2;
        node.edge = svg('path', {class: 'edge' + (gone ? ' gone' : '') + (won.has(node) ? ' won' : ''),
          d: `M${x1} ${y1}C${x1 + gap * .6} ${y1} ${x2 - gap * .6} ${y2} ${x2} ${y2}`});
        if (won.has(node)) edges.append(node.edge); else edges.prepend(node.edge);
      }
      node.shape = svg('g', {class: 'node' + (gone ? ' gone' : '') + (node.fate === 'ended' ? ' ended' : '') + (won.has(node) ? ' won' : ''),
        transform: `translate(${x(node)} ${y(node)})`, tabindex: -1, role: 'button', 'data-fate': node.fate,
        'aria-label': `${node.token}, step ${node.t + 1}, score ${digits(node.score, 2)}, ${node.fate}`},
        svg('rect', {width: wide, height: high, rx: 6}),
        svg('text', {x: 9, y: 18, style: {'unicode-bidi': 'isolate'}}, shorten(node.token || '␠', 10)),
        svg('text', {class: 'score', x: wide - 8, y: 18, 'text-anchor': 'end'}, (node.place ? '#' + node.place + '  ' : '') + digits(node.score, 2)));
      nodes.append(node.shape);
      const tell = () => {
        for (const each of all) { each.shape.classList.remove('path'); if (each.edge) each.edge.classList.remove('path'); }
        for (const each of pathTo(node)) { each.shape.classList.add('path'); if (each.edge) each.edge.classList.add('path'); }
        note.replaceChildren(...storyOf(node, width));
      };
      node.shape.addEventListener('pointerenter', tell);
      node.shape.addEventListener('focus', tell);
      node.shape.addEventListener('click', () => go(node));
      node.shape.addEventListener('keydown', event => {
        const step = shown[node.t], onward = node.children.filter(child => child.row !== undefined);
        const next = {ArrowUp: step[node.row - 1], ArrowDown: step[node.row + 1], ArrowLeft: node.up, ArrowRight: onward[0]}[event.key];
        if (!next) return;
        event.preventDefault();
        go(next);
      });
    }
    const go = node => {
      rove(all.map(each => each.shape), all.indexOf(node));
      node.shape.focus();
      node.shape.scrollIntoView({block: 'nearest', inline: 'nearest'});
    };
    if (all.length) all[0].shape.setAttribute('tabindex', 0);
    const headings = shown.map((_, t) => svg('text', {class: 'step', x: t * (wide + gap) + 4 + wide / 2, y: 13, 'text-anchor': 'middle'}, `step ${t + 1}`));
    const size = [shown.length * (wide + gap) - gap + 8, top + rows * (high + 6) + 2];
    holder.replaceChildren(svg('svg', {width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}`,
      role: 'group', 'aria-label': 'hypotheses of the beam'}, edges, nodes, ...headings));
    hint();
  };
  const few = history.reduce((sum, step) => sum + step.length, 0) <= 2500;  // of more, at first what was kept alone
  const gone = el('input', {type: 'checkbox', checked: few, id: 'gone', onchange: () => draw(gone.checked)});
  draw(few);
  const key = (kind, name) => el('span', {}, el('span', {class: 'key ' + kind}), name);
  return el('section', {class: 'card', id: 'beam'}, el('header', {}, el('h2', {}, 'The beam'),
    el('label', {class: 'soft'}, gone, ' what was dropped, too')), holder,
    el('div', {class: 'legend'}, key('won', 'on the way to this translation'), key('', 'kept'), key('ended', 'ended'), key('gone', 'dropped, or given up')), note);
}

// The n best, each a button that shows it; words that the best one has not are marked.
function bestCard(sentence, chosen, choose) {
  const best = withoutEnd(sentence.nbest[0].target);
  const buttons = sentence.nbest.map((translation, rank) => {
    const words = withoutEnd(translation.target), common = rank === 0 ? null : commonWords(best, words);
    const text = el('bdi', {class: 'text', dir: directionOf(words)});
    words.forEach((word, i) => text.append(i ? ' ' : '', common && !common.has(i) ? el('mark', {}, word) : word));
    return el('button', {type: 'button', 'aria-pressed': rank === chosen ? 'true' : 'false', onclick: () => choose(rank)}, text,
      el('span', {class: 'facts number'}, el('span', {}, translation.forced ? 'the reference' : `#${rank + 1}`), el('span', {}, `ln p ${digits(translation.score, 3)}`),
        el('span', {}, `${perWordOf(translation)} per word`),
        translation.bleu !== null && translation.bleu !== undefined && el('span', {}, `BLEU ${digits(translation.bleu, 3)}`)));
  });
  const found = sentence.nbest.filter(translation => !translation.forced).length;
  const title = (found > 1 ? `The ${found} best` : 'The translation') + (found < buttons.length ? ' and the reference' : '');
  return el('section', {class: 'card', id: 'best'}, el('header', {}, el('h2', {}, title),
    el('span', {class: 'soft'}, 'choose one to see its attention')), el('div', {class: 'best'}, ...buttons));
}

// What becomes of a runner-up that somebody chooses, given all words up to it: on a page that can translate, the rest follows.
const forced = {choose: null};

// Each word with its probability and its runners-up.
function wordTable(view) {
  const runners = view.translation.runners_up || [];
  const rows = view.target.map((word, t) => {
    const p = chance(view.translation.log_probs[t]);
    return el('tr', {onpointerenter: () => view.activate(t, null), onpointerleave: () => view.release()},
      el('td', {class: 'number soft'}, String(t + 1)), el('td', {}, el('bdi', {dir: 'auto'}, word)),
      el('td', {class: 'number', style: {'white-space': 'nowrap'}}, el('span', {class: 'meter'}, el('i', {style: {width: 100 * p + '%'}})), percent(p)),
      runners.length > 0 && el('td', {}, el('div', {class: 'others'}, ...(runners[t] || []).slice(0, 3).map(([other, logProb]) =>
        el('span', {}, forced.choose && !reserved.has(other) ? el('button', {class: 'force', type: 'button', title: 'go on from here with this word',
          onclick: () => forced.choose([...view.target.slice(0, t), other])}, el('bdi', {dir: 'auto'}, other)) : el('bdi', {dir: 'auto'}, other),
          el('span', {class: 'number'}, percent(chance(logProb))))))));
  });
  view.listeners.push(t => rows.forEach((row, i) => row.classList.toggle('on', i === t)));
  const names = ['', 'word', 'probability', ...(runners.length > 0 ? ['might have come'] : [])];
  return el('section', {class: 'card', id: 'words'}, el('header', {}, el('h2', {}, 'Word by word')),
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'probabilities word by word'}, el('table', {}, el('thead', {}, el('tr', {}, ...names.map(name => el('th', {scope: 'col'}, name)))), el('tbody', {}, ...rows))));
}
)js";

}  // namespace bahdanau::detail
