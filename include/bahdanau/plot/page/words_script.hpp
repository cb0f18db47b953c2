// The script of the words: source and target as text, and what a word attends to, drawn between them while it
// is under the pointer or has the focus.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_words_script = R"js(
// A translation with its attention. `matrix` is that of the head that was chosen; `listeners` hear of what is active:
// (target, source), each a number or null.
class AttentionView {
  constructor(source, translation) {
    this.source = source;
    this.translation = translation;
    this.target = translation.target;
    this.keys = translation.keys;
    this.matrices = [translation.attention, ...(translation.heads || [])].map(text => matrixOf(text, this.target.length, this.keys));
    this.matrix = this.matrices[0];
    this.linked = this.keys === source.length && this.keys > 0;
    this.listeners = [];
    this.now = [null, null];
    this.focused = [null, null];
  }
  activate(target, source) {
    this.now = [target, source];
    for (const listener of this.listeners) listener(target, source);
  }
  // What the pointer has left; a word that has the focus stays active.
  release() { this.activate(...this.focused); }
  chooseHead(head) {
    this.matrix = this.matrices[head];
    this.activate(...this.now);
  }
  // The words that a target word attends to, or that attend to a source word, the most attended first.
  strongest(target, source, count) {
    const size = target !== null ? this.keys : this.target.length;
    const weights = Array.from({length: size}, (_, i) => target !== null ? this.matrix.at(target, i) : this.matrix.at(i, source));
    return weights.map((weight, i) => [i, weight]).sort((a, b) => b[1] - a[1]).slice(0, count);
  }
  labelOf(source) { return this.linked ? this.source[source] : String(source + 1); }
}

function wordButton(view, side, i) {
  const words = side === 'source' ? view.source : view.target, word = words[i];
  const button = el('button', {type: 'button', class: 'word' + (reserved.has(word) ? ' reserved' : ''), tabindex: -1, 'data-i': i},
    el('bdi', {dir: 'auto'}, word || '␠'));
  const here = side === 'source' ? [null, i] : [i, null];
  if (side === 'target') {
    const p = chance(view.translation.log_probs[i]);
    button.append(el('span', {class: 'chance'}, el('i', {style: {width: 100 * p + '%'}})));
    button.setAttribute('aria-label', `${word}, ${percent(p)}`);
  }
  if (side === 'source' && !view.linked) return button;
  button.addEventListener('pointerenter', event => { if (event.pointerType === 'mouse') view.activate(...here); });
  button.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse') view.release(); });
  button.addEventListener('focus', () => { view.focused = here; view.activate(...here); });
  button.addEventListener('blur', () => { view.focused = [null, null]; view.release(); });
  button.addEventListener('click', () => button.focus());
  return button;
}

// A sentence as words; arrows go from one to the next, and across to the word that is attended to most.
function wordLine(view, side, across) {
  const words = side === 'source' ? view.source : view.target, direction = directionOf(words);
  const buttons = words.map((_, i) => wordButton(view, side, i));
  rove(buttons, 0);
  const go = (list, i) => { if (list[i]) { rove(list, i); list[i].focus(); } };
  const line = el('div', {class: 'line ' + side, dir: direction, role: 'group', 'aria-label': `${side} words, arrow keys move`}, ...buttons);
  line.addEventListener('keydown', event => {
    const i = buttons.indexOf(document.activeElement);
    if (i < 0) return;
    const forward = direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight', back = direction === 'rtl' ? 'ArrowRight' : 'ArrowLeft';
    const towards = side === 'source' ? 'ArrowDown' : 'ArrowUp';
    if (event.key === forward) go(buttons, i + 1);
    else if (event.key === back) go(buttons, i - 1);
    else if (event.key === 'Home') go(buttons, 0);
    else if (event.key === 'End') go(buttons, buttons.length - 1);
    else if (event.key === 'Escape') document.activeElement.blur();
    else if (event.key === towards && view.linked) {
      const [best] = side === 'source' ? view.strongest(null, i, 1) : view.strongest(i, null, 1);
      go(across(), best[0]);
    } else return;
    event.preventDefault();
  });
  line.addEventListener('focusin', event => { const i = buttons.indexOf(event.target); if (i >= 0) rove(buttons, i); });
  return {line, buttons};
}

// Both sentences with the links between their words: those of the active word; or of all, faintly, where each sentence is one
// line. Long ones scroll, to where the active word's links lead.
function wordsOf(view) {
  const links = svg('svg', {class: 'links', 'aria-hidden': 'true'});
  let source = null, target = null;
  source = wordLine(view, 'source', () => target.buttons);
  target = wordLine(view, 'target', () => source.buttons);
  const long = view.source.length + view.target.length > 60;
  const pair = el('div', {class: 'pair' + (long ? ' long' : '') + (view.linked ? '' : ' bare')}, links,
    el('p', {class: 'side-name'}, 'Source'), source.line, target.line, el('p', {class: 'side-name after'}, 'Translation'));
  const draw = () => {
    links.replaceChildren();
    const [t, s] = view.now, idle = t === null && s === null;
    const weigh = (button, weight, on) => {
      button.style.setProperty('--weight', weight);
      button.classList.toggle('active', on);
    };
    source.buttons.forEach((b, i) => weigh(b, view.linked && t !== null && s === null ? view.matrix.at(t, i) : 0, i === s));
    target.buttons.forEach((b, i) => weigh(b, view.linked && s !== null && t === null ? view.matrix.at(i, s) : 0, i === t));
    if (!view.linked || (idle && long)) return;
    const frame = pair.getBoundingClientRect(), above = source.line.getBoundingClientRect(), below = target.line.getBoundingClientRect();
    const boxes = list => list.map(b => b.getBoundingClientRect());
    const from = boxes(source.buttons), to = boxes(target.buttons);
    const lines = list => list.length > 0 && list[list.length - 1].top > list[0].top + 5;
    if (idle && (lines(from) || lines(to))) return;
    const least = idle ? .12 : .02;
    for (let i = 0; i < to.length; ++i) {
      if (t !== null && i !== t) continue;
      for (let j = 0; j < from.length; ++j) {
        if (s !== null && j !== s) continue;
        const weight = view.matrix.at(i, j);
        if (weight < least && !(t !== null && s !== null)) continue;
        // What has scrolled away is where it went.
        const x1 = from[j].left + from[j].width / 2 - frame.left, y1 = Math.min(Math.max(from[j].bottom, above.top), above.bottom) - frame.top;
        const x2 = to[i].left + to[i].width / 2 - frame.left, y2 = Math.max(Math.min(to[i].top, below.bottom), below.top) - frame.top;
        const bend = Math.max((y2 - y1) / 2, 14);
        links.append(svg('path', {
          d: `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${(y1 + bend).toFixed(1)} ${x2.toFixed(1)} ${(y2 - bend).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`,
          'stroke-width': (idle ? .8 + 1.6 * weight : 1 + 5 * weight).toFixed(2),
          'stroke-opacity': (idle ? .06 + .3 * weight : .25 + .7 * weight).toFixed(3),
          'data-target': i, 'data-source': j, 'data-weight': weight.toFixed(3)}));
      }
    }
  };
  const reveal = (box, button) => {
    if (button.offsetTop < box.scrollTop || button.offsetTop + button.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = button.offsetTop - box.clientHeight / 2;
  };
  view.listeners.push((t, s) => {
    if (long && view.linked && t !== null && s === null) reveal(source.line, source.buttons[view.strongest(t, null, 1)[0][0]]);
    if (long && view.linked && s !== null && t === null) reveal(target.line, target.buttons[view.strongest(null, s, 1)[0][0]]);
    draw();
  });
  for (const side of [source, target]) side.line.addEventListener('scroll', draw);
  new ResizeObserver(draw).observe(pair);
  return {pair, draw, source, target};
}

const bar = (p, kind) => el('span', {class: 'track ' + kind}, el('i', {style: {width: 100 * Math.min(p, 1) + '%'}}));

// What is said of the active word: its probability, the others that might have come, what it attends to.
function readoutOf(view) {
  const most = 6, runners = Math.max(0, ...(view.translation.runners_up || []).map(list => list.length));
  // As high as it will be, so that nothing moves away from the pointer.
  const rows = Math.max(view.keys > 0 ? Math.min(5, Math.max(view.keys, view.target.length)) : 0, 1 + Math.min(runners, most));
  const box = el('div', {class: 'readout', 'aria-live': 'polite', id: 'readout', style: {'--rows': rows}});
  const list = (name, rows, kind) => el('div', {}, el('p', {class: 'name'}, name),
    el('div', {class: 'bars'}, ...rows.flatMap(([word, p]) => [el('bdi', {dir: 'auto'}, word || '␠'), bar(p, kind), el('span', {class: 'number small'}, percent(p))])));
  view.listeners.push((t, s) => {
    const parts = [];
    if (t !== null) {
      const word = view.target[t], p = chance(view.translation.log_probs[t]);
      const others = (view.translation.runners_up || [])[t] || [];
      parts.push(list('Word ' + (t + 1) + ' of the translation', [[word, p], ...others.slice(0, most).map(([other, logProb]) => [other, chance(logProb)])], 'good'));
    }
    if (t !== null && s !== null) parts.push(list('attends to', [[view.labelOf(s), view.matrix.at(t, s)]], ''));
    else if (t !== null && view.keys > 0) parts.push(list('attends to', view.strongest(t, null, 5).map(([i, weight]) => [view.labelOf(i), weight]), ''));
    else if (s !== null) parts.push(list(`“${view.labelOf(s)}” is attended to by`, view.strongest(null, s, 5).map(([i, weight]) => [view.target[i], weight]), ''));
    if (parts.length === 0) parts.push(el('p', {class: 'soft'}, view.linked
      ? 'Point at a word, or move the focus to one: what it attends to, how probable it was, and what else might have come.'
      : 'Point at a word, or move the focus to one: how probable it was, and what else might have come.'));
    box.replaceChildren(...parts);
  });
  return box;
}
)js";

}  // namespace bahdanau::detail
