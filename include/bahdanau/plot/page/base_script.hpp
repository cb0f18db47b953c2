// What all scripts of pages use: elements made of text, never of markup; weights, numbers, directions and
// colours.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_base_script = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const svgSpace = 'http://www.w3.org/2000/svg';

// An element; strings among the children become text, whatever they say.
function element(node, settings, children) {
  for (const key in settings || {}) {
    const value = settings[key];
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const name in value) node.style.setProperty(name, value[name]);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined && child !== false));
  return node;
}
const el = (tag, settings, ...children) => element(document.createElement(tag), settings, children);
const svg = (tag, settings, ...children) => element(document.createElementNS(svgSpace, tag), settings, children);

const reserved = new Set(['<unk>', '<pad>', '<bos>', '<eos>']);
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const letter = /\p{L}/u;

// Which way a sentence runs: as its first letter does.
function directionOf(words) {
  for (const word of words) {
    if (reserved.has(word)) continue;
    for (const character of word) if (letter.test(character)) return rightToLeft.test(character) ? 'rtl' : 'ltr';
  }
  return 'ltr';
}

const digits = (value, count) => value === null || value === undefined ? '–' : value.toFixed(count).replace('-', '−');
const chance = logProb => logProb === null ? 0 : Math.exp(logProb);
// A probability as people read it: two digits that say something, never a rounded 1 or 0.
function percent(p) {
  const value = 100 * p;
  if (value > 0 && value < .01) return '< 0.01 %';
  if (value >= 99.95) return value >= 100 ? '100 %' : '> 99.9 %';
  return value.toFixed(value >= 10 ? 1 : 2) + ' %';
}

// The geometric mean of a translation's probabilities.
const perWordOf = ({score, target}) => score === null ? '–' : percent(Math.exp(score / Math.max(target.length, 1)));

// Weights as they are in the data: of each, twelve bits in two digits of base64.
const sixBits = {};
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((digit, i) => { sixBits[digit] = i; });
function matrixOf(text, rows, columns) {
  const weights = new Float32Array(rows * columns);
  for (let i = 0; i < weights.length; ++i) weights[i] = (sixBits[text[2 * i]] * 64 + sixBits[text[2 * i + 1]]) / 4095;
  return {rows, columns, weights, at: (row, column) => weights[row * columns + column]};
}

// Colours of weights: from nearly that of the page to the strongest, as `plot::heatmap` has them.
const lightColours = [[247, 251, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107]];
const darkColours = [[27, 32, 40], [29, 58, 95], [38, 98, 160], [92, 164, 224], [222, 239, 255]];
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const printing = matchMedia('print');
function isDark() {
  const theme = document.documentElement.dataset.theme;
  return !printing.matches && (theme ? theme === 'dark' : prefersDark.matches);
}
function colourOf(weight) {
  const anchors = isDark() ? darkColours : lightColours;
  const place = Math.min(Math.max(weight, 0), 1) * 4, piece = Math.min(Math.floor(place), 3), part = place - piece;
  return anchors[piece].map((from, i) => Math.round(from + part * (anchors[piece + 1][i] - from)));
}
function paint(canvas, matrix) {
  canvas.width = Math.max(matrix.columns, 1);
  canvas.height = Math.max(matrix.rows, 1);
  const context = canvas.getContext('2d'), image = context.createImageData(canvas.width, canvas.height);
  matrix.weights.forEach((weight, i) => image.data.set([...colourOf(weight), 255], 4 * i));
  context.putImageData(image, 0, 0);
}
const scaleOfColours = () =>
  `linear-gradient(to right, ${[0, .25, .5, .75, 1].map(weight => `rgb(${colourOf(weight)})`).join(', ')})`;

// What is remembered from one load to the next, where the browser allows it.
const remembered = {
  get(key) { try { return sessionStorage.getItem('bahdanau.' + key); } catch { return null; } },
  set(key, value) { try { sessionStorage.setItem('bahdanau.' + key, value); } catch { /* then it is not */ } }};

// The button that chooses light, dark, or what the system has; `changed` repaints.
function themeButton(changed) {
  const names = {'': 'Auto', light: 'Light', dark: 'Dark'}, root = document.documentElement;
  const button = el('button', {class: 'control', type: 'button', id: 'theme', title: 'Light, dark, or as the system has it', 'aria-label': 'colours: light, dark, or as the system has them'});
  const take = theme => {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    button.replaceChildren('◐', el('span', {class: 'name'}, ' ' + names[theme]));
  };
  take({light: 'light', dark: 'dark'}[remembered.get('theme')] || '');
  button.addEventListener('click', () => {
    take({'': 'light', light: 'dark', dark: ''}[root.dataset.theme || '']);
    remembered.set('theme', root.dataset.theme || '');
    changed();
  });
  prefersDark.addEventListener('change', changed);
  printing.addEventListener('change', changed);
  return button;
}

// Of a list of which one item can be reached by Tab, moves to another one.
function rove(items, at) {
  for (const item of items) item.tabIndex = -1;
  if (!items[at]) return;
  items[at].tabIndex = 0;
}

// Which words of two sentences belong to their longest common subsequence.
function commonWords(first, second) {
  const lengths = Array.from({length: first.length + 1}, () => new Uint16Array(second.length + 1));
  for (let i = first.length; i-- > 0;)
    for (let j = second.length; j-- > 0;)
      lengths[i][j] = first[i] === second[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const common = new Set();
  for (let i = 0, j = 0; i < first.length && j < second.length;) {
    if (first[i] === second[j]) { common.add(j); ++i; ++j; }
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) ++i;
    else ++j;
  }
  return common;
}
const withoutEnd = tokens => tokens.length > 0 && tokens[tokens.length - 1] === '<eos>' ? tokens.slice(0, -1) : tokens;
)js";

}  // namespace bahdanau::detail
