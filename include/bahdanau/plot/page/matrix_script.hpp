// The script of the matrix: attention as a heatmap with labels that stay while it scrolls, gold alignments
// over it, and one picture a head to choose from.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_matrix_script = R"js(
const ruler = document.createElement('canvas').getContext('2d');
function widthOf(words, size) {
  ruler.font = `${size}px system-ui, sans-serif`;
  return Math.max(0, ...words.map(word => ruler.measureText(word).width));
}

// The heatmap of a view: a pixel a weight, made large by the browser, so that 200 × 200 cost nothing.
function matrixViewOf(view, gold) {
  const {rows, columns} = view.matrix;
  const size = Math.min(34, Math.max(15, Math.floor(620 / Math.max(rows, columns, 1))));
  const font = size >= 22 ? 13 : 11;
  const sources = Array.from({length: columns}, (_, j) => view.labelOf(j));
  const slope = Math.SQRT1_2, longest = Math.min(widthOf(sources, font) + 6, 176);
  const head = Math.ceil((longest + font) * slope) + 8, overhang = Math.ceil(longest * slope) + 4;
  const canvas = el('canvas', {style: {width: columns * size + 'px', height: rows * size + 'px'}});
  const cursor = el('div', {class: 'cursor'});
  const line = `var(--line) 0 1px, transparent 1px ${size}px`;
  const lines = el('div', {class: 'lines', style: {width: columns * size + 'px', height: rows * size + 'px',
    background: `repeating-linear-gradient(to right, ${line}), repeating-linear-gradient(to bottom, ${line})`}});
  const cells = el('div', {class: 'cells', style: {width: columns * size + overhang + 'px', height: rows * size + 'px'}}, canvas, lines, cursor);
  for (const [s, t, sure] of gold || []) {
    cells.insertBefore(el('div', {class: 'gold' + (sure ? '' : ' possible'), 'data-link': `${s}-${t}`,
      style: {left: s * size + 2 + 'px', top: t * size + 2 + 'px', width: size - 3 + 'px', height: size - 3 + 'px'}}), cursor);
  }
  const columnLabels = sources.map((word, j) => el('span', {dir: 'auto', title: word, style: {left: (j + .5) * size + 'px', 'font-size': font + 'px'}}, word));
  const rowLabels = view.target.map(word => el('span', {dir: 'auto', title: word, style: {height: size + 'px', 'line-height': size + 'px', 'font-size': font + 'px'}}, word));
  const grid = el('div', {class: 'grid'}, el('div', {class: 'corner'}),
    el('div', {class: 'columns', style: {height: head + 'px', width: columns * size + overhang + 'px'}}, ...columnLabels),
    el('div', {class: 'rows'}, ...rowLabels), cells);
  const box = el('div', {class: 'matrix', tabindex: 0, role: 'application', 'aria-roledescription': 'heatmap',
    'aria-label': `attention of ${rows} target words to ${columns} source ${view.linked ? 'words' : 'keys'}; arrow keys move a cursor`}, grid);
  const repaint = () => paint(canvas, view.matrix);
  repaint();

  const inside = (t, s) => t >= 0 && t < rows && s >= 0 && s < columns;
  const cellAt = event => {
    const frame = canvas.getBoundingClientRect(), zoom = frame.width / (columns * size) || 1;
    return [Math.floor((event.clientY - frame.top) / size / zoom), Math.floor((event.clientX - frame.left) / size / zoom)];
  };
  cells.addEventListener('pointermove', event => {
    const [t, s] = cellAt(event);
    if (inside(t, s)) view.activate(t, s); else view.release();
  });
  cells.addEventListener('pointerleave', () => view.release());
  box.addEventListener('keydown', event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (event.key === 'Escape') { view.focused = [null, null]; view.release(); return; }
    if (!step) return;
    event.preventDefault();
    const [t, s] = view.focused, next = t === null || s === null ? [0, 0] : [t + step[0], s + step[1]];
    if (!inside(...next)) return;
    view.focused = next;
    view.activate(...next);
    cursor.scrollIntoView({block: 'nearest', inline: 'nearest'});
  });
  box.addEventListener('blur', () => { view.focused = [null, null]; view.release(); });
  let lit = [];
  view.listeners.push((t, s) => {
    for (const label of lit) label.classList.remove('on');
    lit = [rowLabels[t], columnLabels[s]].filter(Boolean);
    for (const label of lit) label.classList.add('on');
    const both = t !== null && s !== null, style = cursor.style;
    style.display = t === null && (s === null || !view.linked) ? 'none' : 'block';
    style.left = (s === null ? 0 : s * size) + 'px';
    style.top = (t === null ? 0 : t * size) + 'px';
    style.width = (s === null ? columns : 1) * size + 1 + 'px';
    style.height = (t === null ? rows : 1) * size + 1 + 'px';
    style.opacity = both ? 1 : .45;
  });
  return {box, repaint};
}
// A sheet of paper does not scroll: the matrices that are shown get as narrow as it is.
const zoomMatrices = zoomOf => { for (const grid of document.querySelectorAll('.matrix .grid')) grid.style.zoom = zoomOf(grid); };
addEventListener('beforeprint', () => zoomMatrices(grid => Math.min(1, 660 / Math.max(grid.scrollWidth, 1))));
addEventListener('afterprint', () => zoomMatrices(() => 1));

function legendOf(gold) {
  const scale = el('span', {class: 'scale', style: {background: scaleOfColours()}});
  const mark = possible => el('span', {class: 'gold' + (possible ? ' possible' : '')});
  return {scale, legend: el('div', {class: 'legend'}, el('span', {}, '0', scale, '1'),
    gold && el('span', {}, mark(false), 'gold, sure'), gold && gold.some(link => !link[2]) && el('span', {}, mark(true), 'gold, possible'))};
}

// A small picture of the mean and of each head, each a button.
function headsOf(view, chosen) {
  const pictures = [];
  const buttons = view.matrices.map((matrix, i) => {
    const canvas = el('canvas', {});
    pictures.push(() => paint(canvas, matrix));
    return el('button', {type: 'button', 'aria-pressed': i === 0 ? 'true' : 'false', onclick: () => {
      buttons.forEach((button, j) => button.setAttribute('aria-pressed', i === j ? 'true' : 'false'));
      view.chooseHead(i);
      chosen();
    }}, canvas, i === 0 ? 'mean' : 'head ' + i);
  });
  const repaint = () => pictures.forEach(picture => picture());
  repaint();
  return {box: el('div', {class: 'heads', role: 'group', 'aria-label': 'heads'}, ...buttons), repaint};
}
)js";

}  // namespace bahdanau::detail
