// The script of a training's report: curves that fall or rise, and sample translations by epoch.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_report_script = R"js(
const niceSteps = [1, 2, 2.5, 5, 10];
function ticksOf(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, scale = 10 ** Math.floor(Math.log10(raw)), step = scale * niceSteps.find(each => each * scale >= raw * .999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) ticks.push(i * step);
  return ticks;
}
function logTicksOf(low, high) {
  const ticks = [];
  for (let power = Math.floor(low); power <= high; ++power) for (const digit of high - low < 1.5 ? [1, 2, 5] : [1])
    if (power + Math.log10(digit) >= low && power + Math.log10(digit) <= high) ticks.push(power + Math.log10(digit));
  return ticks.length > 1 ? ticks : [low, high];
}
// The mean of neighbours, for what jumps from batch to batch.
function smoothed(points) {
  const reach = Math.max(1, Math.round(points.length / 60));
  return points.map(([x], i) => {
    const near = points.slice(Math.max(0, i - reach), i + reach + 1).map(point => point[1]).filter(y => y !== null);
    return [x, near.length ? near.reduce((sum, y) => sum + y, 0) / near.length : null];
  });
}
const short = value => value === null ? '–' : Math.abs(value) >= 10000 ? Math.round(value / 1000) + 'k'
  : Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));

// A chart of lines over epochs: {name, kind, points: [[x, y], …]}; the pointer or the arrow keys read values off.
function chartOf(title, unit, lines, logarithmic) {
  const wide = 520, high = 220, left = 52, right = 12, top = 12, bottom = 30;
  const points = lines.flatMap(line => line.points).filter(([, y]) => y !== null && (!logarithmic || y > 0));
  const card = el('section', {class: 'card keep chart', 'aria-label': title}, el('header', {}, el('h2', {}, title), el('span', {class: 'soft'}, unit)));
  if (points.length === 0) { card.append(el('p', {class: 'soft'}, 'nothing yet')); return card; }
  const lowX = 0, highX = Math.max(...points.map(p => p[0]), 1);
  const scaled = y => logarithmic ? Math.log10(y) : y;
  let low = Math.min(...points.map(p => scaled(p[1]))), high_ = Math.max(...points.map(p => scaled(p[1])));
  if (!logarithmic && low > 0 && low < .5 * high_) low = 0;
  if (high_ - low < 1e-12) { high_ += Math.abs(high_) * .1 || 1; low -= Math.abs(low) * .1; }
  const x = value => left + (wide - left - right) * (value - lowX) / (highX - lowX);
  const y = value => top + (high - top - bottom) * (1 - (scaled(value) - low) / (high_ - low));
  const picture = svg('svg', {viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': `${title}: ${lines.map(line => line.name).join(', ')}`});
  for (const tick of logarithmic ? logTicksOf(low, high_) : ticksOf(low, high_, 4)) {
    const at = top + (high - top - bottom) * (1 - (tick - low) / (high_ - low));
    picture.append(svg('line', {class: 'rule', x1: left, x2: wide - right, y1: at, y2: at}),
      svg('text', {x: left - 7, y: at + 4, 'text-anchor': 'end'}, short(logarithmic ? 10 ** tick : tick)));
  }
  for (const tick of ticksOf(lowX, highX, 6)) if (Number.isInteger(tick))
    picture.append(svg('text', {x: x(tick), y: high - 10, 'text-anchor': 'middle'}, String(tick)));
  for (const line of lines) {
    let path = '', pen = 'M';
    for (const [px, py] of line.points) {
      if (py === null || (logarithmic && py <= 0)) { pen = 'M'; continue; }
      path += `${pen}${x(px).toFixed(1)} ${y(py).toFixed(1)}`;
      pen = 'L';
    }
    if (path) picture.append(svg('path', {class: 'curve ' + line.kind, d: line.points.length === 1 ? path + 'h.1' : path}));
  }
  const cursor = svg('line', {class: 'cursor-line', y1: top, y2: high - bottom, x1: 0, x2: 0, visibility: 'hidden'});
  picture.append(cursor);
  const legend = el('p', {class: 'legend number', 'aria-live': 'polite'});
  const main = lines[lines.length - 1].points.length ? lines[lines.length - 1].points : points;
  let at = main.length - 1;
  const read = () => {
    const px = main[at][0];
    cursor.setAttribute('x1', x(px)); cursor.setAttribute('x2', x(px));
    legend.replaceChildren(el('span', {}, `epoch ${Number(px.toFixed(2))}`), ...lines.map(line => {
      const near = line.points.reduce((best, point) => Math.abs(point[0] - px) < Math.abs(best[0] - px) ? point : best, line.points[0] || [0, null]);
      return el('span', {}, el('span', {class: 'dot ' + line.kind}), `${line.name} ${short(near[1])}`);
    }));
  };
  read();
  const box = el('div', {class: 'plot', tabindex: 0, role: 'group', 'aria-label': `${title}, arrow keys read values`}, picture);
  box.addEventListener('pointermove', event => {
    const frame = picture.getBoundingClientRect(), value = ((event.clientX - frame.left) / frame.width * wide - left) / (wide - left - right) * (highX - lowX) + lowX;
    at = main.reduce((best, point, i) => Math.abs(point[0] - value) < Math.abs(main[best][0] - value) ? i : best, 0);
    cursor.setAttribute('visibility', 'visible');
    read();
  });
  box.addEventListener('pointerleave', () => { cursor.setAttribute('visibility', 'hidden'); at = main.length - 1; read(); });
  box.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    at = Math.min(Math.max(at + by, 0), main.length - 1);
    cursor.setAttribute('visibility', 'visible');
    read();
  });
  card.append(box, legend);
  return card;
}

const epochs = data.epochs, batches = data.batches;
const column = (list, key) => list.map(each => [each.epoch, each[key]]);
const charts = el('div', {class: 'charts'},
  chartOf('Loss', 'nats a token', [
    ...(batches.length ? [{name: 'batch', kind: 'faint', points: column(batches, 'loss')}] : []),
    {name: 'training', kind: 'first', points: column(epochs, 'loss')},
    ...(epochs.some(each => each.validation !== null) ? [{name: 'validation', kind: 'second', points: column(epochs, 'validation')}] : [])], true),
  chartOf('Gradient', 'norm before clipping', [{name: 'batch', kind: 'faint', points: column(batches, 'norm')},
    {name: 'mean of neighbours', kind: 'first', points: smoothed(column(batches, 'norm'))}], true),
  chartOf('Learning rate', '', [{name: 'rate', kind: 'first', points: column(batches, 'rate')}], false),
  chartOf('Speed', 'target tokens per second', [{name: 'tokens/s', kind: 'first', points: column(epochs, 'speed')}], false));

// Sample translations, of the epoch that the slider says.
let repaints = [];
const samples = data.samples, shown = el('div', {class: 'samples'}), label = el('output', {class: 'number', for: 'epoch'});
const slider = el('input', {type: 'range', id: 'epoch', min: 0, max: Math.max(samples.length - 1, 0), step: 1, 'aria-label': 'epoch of the samples'});
function showSamples() {
  if (samples.length === 0) return;
  const {epoch, translations} = samples[Number(slider.value)];
  label.textContent = `after epoch ${epoch}`;
  repaints = [];
  shown.replaceChildren(...translations.map(translation => {
    const view = new AttentionView(translation.source, translation), words = wordsOf(view), parts = [words.pair, readoutOf(view)];
    repaints.push(words.draw);
    if (view.keys > 0) {
      const matrix = matrixViewOf(view, null);
      repaints.push(matrix.repaint);
      parts.push(matrix.box);
    }
    const card = el('section', {class: 'card keep sample'}, ...parts);
    view.activate(null, null);
    return card;
  }));
}
const chosen = remembered.get('epoch');
slider.value = chosen ? Math.min(Number(chosen), samples.length - 1) : samples.length - 1;
slider.addEventListener('input', () => {
  const last = Number(slider.value) === samples.length - 1;
  remembered.set('epoch', last ? '' : slider.value);
  showSamples();
});

// While the training runs the page loads itself anew, unless somebody looks closely.
const state = el('span', {class: 'small soft', id: 'state', role: 'status'});
let paused = remembered.get('paused') === 'yes';
const pause = el('button', {class: 'control', type: 'button', id: 'pause'});
function tell() {
  const last = epochs.length ? epochs[epochs.length - 1].epoch : 0;
  const progress = data.total ? `epoch ${last} of ${data.total}` : `epoch ${last}`;
  state.textContent = data.refresh > 0 ? progress + (paused ? ', paused' : `, read anew every ${data.refresh} s`) : progress + (data.total > last ? ', ended' : ', finished');
  pause.textContent = paused ? 'Go on' : 'Pause';
  pause.setAttribute('aria-pressed', paused ? 'true' : 'false');
}
pause.addEventListener('click', () => { paused = !paused; remembered.set('paused', paused ? 'yes' : 'no'); tell(); });
if (data.refresh > 0) setInterval(() => {
  if (paused || document.hidden || document.querySelector('.word:is(:hover, :focus), .matrix:is(:hover, :focus), .plot:is(:hover, :focus), input:active')) return;
  location.reload();
}, 1000 * data.refresh);
tell();
document.body.append(el('header', {class: 'bar'}, el('h1', {dir: 'auto'}, data.title), state, data.refresh > 0 && pause, themeButton(() => repaints.forEach(repaint => repaint()))),
  el('main', {class: 'main report', id: 'report'}, charts,
    samples.length > 0 && el('section', {class: 'card slider'}, el('header', {}, el('h2', {}, 'Samples'), label), slider), shown));
showSamples();
)js";

/// What a report has beside the pages' style.
inline constexpr std::string_view page_report_style = R"css(
.report { max-width: 1240px; margin: 0 auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 0 16px; }
.chart svg { display: block; width: 100%; height: auto; font: 11px var(--sans); }
.chart text { fill: var(--soft); } .chart .rule { stroke: var(--line); } .chart .cursor-line { stroke: var(--soft); }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.curve.first { stroke: var(--accent); } .curve.second { stroke: var(--gold); } .curve.faint { stroke: var(--accent); opacity: .28; stroke-width: 1; }
.dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 5px; background: var(--accent); }
.dot.second { background: var(--gold); } .dot.faint { opacity: .35; }
.samples { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 0 16px; align-items: start; }
.sample .matrix { margin-top: 14px; }
.sample .readout { font-size: .84rem; }
.slider input { width: 100%; accent-color: var(--accent); }
.slider header { justify-content: space-between; }
)css";

}  // namespace bahdanau::detail
