// How pages look: one sheet for the page of translations and for the report of a training, light and dark,
// from a phone's width to a printed sheet.
#pragma once

#include <string_view>

namespace bahdanau::detail {

inline constexpr std::string_view page_style = R"css(
:root {
  --paper: #fbfaf7; --card: #ffffff; --ink: #23272f; --soft: #636b78; --line: #e7e3db; --faint: #f3f0ea;
  --accent: #2a5ea8; --accent-soft: #dfe9f6; --gold: #b8631a; --good: #2b7a58; --bad: #a8473f; --mark: #fbeed9;
  --shadow: 0 1px 2px rgba(30, 25, 15, .05), 0 6px 20px rgba(30, 25, 15, .04);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Noto Sans Arabic",
    "Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "DejaVu Sans", "Noto Color Emoji", sans-serif;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {
  --paper: #14171c; --card: #1b1f26; --ink: #e6e8ec; --soft: #9ba4b2; --line: #2c323c; --faint: #22272f;
  --accent: #84b4ee; --accent-soft: #243750; --gold: #e8a25d; --good: #74c8a0; --bad: #e08b83; --mark: #46391f;
  --shadow: none; color-scheme: dark;
} }
:root[data-theme=dark] {
  --paper: #14171c; --card: #1b1f26; --ink: #e6e8ec; --soft: #9ba4b2; --line: #2c323c; --faint: #22272f;
  --accent: #84b4ee; --accent-soft: #243750; --gold: #e8a25d; --good: #74c8a0; --bad: #e08b83; --mark: #46391f;
  --shadow: none; color-scheme: dark;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); }
h1, h2 { font-weight: 600; line-height: 1.3; margin: 0; }
h1 { font-size: 1.05rem; } h2 { font-size: .95rem; }
p { margin: 0; }
button, input, select { font: inherit; color: inherit; }
button { cursor: pointer; background: none; border: 0; padding: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.soft { color: var(--soft); } .small { font-size: .82rem; } .number { font-variant-numeric: tabular-nums; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow);
  padding: 18px 20px; margin: 0 0 16px; min-width: 0; }
.card > header { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; margin-bottom: 12px; }
.card > header .soft { font-size: .82rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.control { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 6px 10px; min-width: 0; }
.control:hover { border-color: var(--soft); }

/* The bar on top, the list beside, and the sentence. */
.bar { position: sticky; top: 0; z-index: 20; display: flex; gap: 10px; align-items: center; padding: 10px 20px;
  background: var(--paper); border-bottom: 1px solid var(--line); }
.bar h1 { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.app { display: grid; grid-template-columns: minmax(230px, 300px) minmax(0, 1fr); max-width: 1500px; margin: 0 auto; }
.side { position: sticky; top: 57px; align-self: start; height: calc(100vh - 57px); display: flex; flex-direction: column;
  gap: 8px; padding: 16px 0 16px 20px; }
.side label { display: block; }
.side .control { width: 100%; }
.list { flex: 1; overflow-y: auto; list-style: none; margin: 0; padding: 2px; overscroll-behavior: contain; }
.list a { display: block; padding: 8px 10px; border-radius: 8px; color: inherit; text-decoration: none;
  content-visibility: auto; contain-intrinsic-size: auto 70px; }
.list a:hover { background: var(--faint); }
.list a[aria-current=true] { background: var(--accent-soft); }
.list .from, .list .to { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.list .to { color: var(--soft); }
.list .facts { display: flex; gap: 12px; font-size: .75rem; color: var(--soft); }
.main { padding: 16px 20px 60px; min-width: 0; }
.twins { display: grid; grid-template-columns: fit-content(52%) minmax(0, 1fr); gap: 0 16px; align-items: stretch; }
.facts-line { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 0 2px 12px; font-size: .88rem; color: var(--soft); }
.facts-line b { color: var(--ink); font-weight: 600; }
.toggle-list { display: none; }

/* Words, and the links between them. */
.pair { position: relative; }
.line { position: relative; z-index: 1; display: flex; flex-wrap: wrap; gap: 8px 6px; align-items: flex-start; }
.line.source { margin-bottom: 64px; }
.pair.long .line.source { margin-bottom: 40px; }
.pair.long .line { max-height: 202px; overflow-y: auto; overscroll-behavior: contain; gap: 4px 3px; border-radius: 8px; }
.pair.bare .line.source { margin-bottom: 18px; }
.word { position: relative; padding: 3px 8px 5px; border-radius: 7px; border: 1px solid transparent; background: var(--card);
  font-size: 1.06rem; line-height: 1.45; max-width: 100%; overflow-wrap: anywhere; text-align: start; }
.pair.long .word { font-size: .92rem; padding: 1px 5px 4px; }
.word::before { content: ""; position: absolute; inset: 0; border-radius: inherit; background: var(--accent);
  opacity: calc(var(--weight, 0) * .5); pointer-events: none; }
.word > bdi { position: relative; }
.word:hover, .word.active { border-color: var(--accent); }
.word.reserved > bdi { color: var(--soft); font-size: .85em; }
.word .chance { position: absolute; left: 6px; right: 6px; bottom: 2px; height: 2px; border-radius: 2px; background: var(--line); }
.word .chance i { display: block; height: 100%; border-radius: 2px; background: var(--good); }
.links { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; pointer-events: none; }
.links path { fill: none; stroke: var(--accent); stroke-linecap: round; }
.side-name { font-size: .75rem; color: var(--soft); margin: 0 0 4px; padding: 0 4px 0 2px; position: relative; z-index: 1;
  width: max-content; background: var(--card); }
.side-name.after { margin: 6px 0 0; }
.reference { margin-top: 14px; padding-top: 12px; border-top: 1px solid var(--line); }
.reference .same { color: var(--good); }
.readout { margin-top: 16px; padding: 12px 14px; background: var(--faint); border-radius: 9px;
  min-height: calc(var(--rows, 2) * 1.62em + 48px);
  display: flex; flex-wrap: wrap; gap: 6px 34px; font-size: .9rem; }
.readout > div { min-width: 0; }
.readout dt, .readout .name { color: var(--soft); font-size: .78rem; }
.bars { display: grid; grid-template-columns: auto 84px auto; gap: 1px 9px; align-items: center; }
.bars .track { height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; }
.bars .track i { display: block; height: 100%; background: var(--accent); }
.bars .track.good i { background: var(--good); }
.bars bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 190px; }

/* The matrix. Its labels stay while it scrolls. */
.matrix { overflow: auto; max-height: min(76vh, 820px); overscroll-behavior: contain; border-radius: 6px; }
.matrix .grid { display: grid; grid-template-columns: auto auto; width: max-content; direction: ltr; }
.matrix .corner { position: sticky; top: 0; left: 0; z-index: 4; background: var(--card); }
.matrix .columns { position: sticky; top: 0; z-index: 3; background: var(--card); overflow: hidden; }
.matrix .columns span { position: absolute; bottom: 4px; transform-origin: 0 100%; transform: rotate(-45deg) translateY(50%);
  white-space: nowrap; max-width: 170px; overflow: hidden; text-overflow: ellipsis; line-height: 1.2; }
.matrix .rows { position: sticky; left: 0; z-index: 2; background: var(--card); padding-right: 8px; }
.matrix .rows span { display: block; text-align: right; white-space: nowrap; max-width: 150px; overflow: hidden;
  text-overflow: ellipsis; margin-left: auto; }
.matrix .on { color: var(--accent); text-shadow: 0 0 .7px currentColor; }
.matrix .cells { position: relative; }
.matrix canvas { display: block; image-rendering: pixelated; border: 0; }
.matrix .lines { position: absolute; left: 0; top: 0; pointer-events: none; opacity: .55; }
.matrix .cursor { position: absolute; pointer-events: none; border: 2px solid var(--ink); border-radius: 3px; display: none; }
.gold { position: absolute; pointer-events: none; border: 2px solid var(--gold); border-radius: 5px; }
.gold.possible { border-style: dashed; border-width: 1.5px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; margin-top: 10px; font-size: .8rem; color: var(--soft); }
.legend .scale { display: inline-block; width: 110px; height: 9px; border-radius: 5px; vertical-align: middle; margin: 0 6px; border: 1px solid var(--line); }
.legend .gold { position: static; display: inline-block; width: 14px; height: 14px; vertical-align: -2px; margin-right: 5px; }
.heads { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 12px; }
.heads button { padding: 6px; border: 1px solid var(--line); border-radius: 8px; text-align: center; font-size: .76rem; color: var(--soft); }
.heads button[aria-pressed=true] { border-color: var(--accent); background: var(--accent-soft); color: var(--ink); }
.heads canvas { display: block; width: 72px; height: 72px; image-rendering: pixelated; border-radius: 4px; margin-bottom: 3px; }

/* Word by word, n best, and the tree. */
.scroll { overflow: auto; max-height: 440px; overscroll-behavior: contain; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: start; font-weight: 500; color: var(--soft); font-size: .78rem; position: sticky; top: 0; background: var(--card); }
th, td { padding: 4px 14px 4px 0; vertical-align: baseline; }
tbody tr { border-top: 1px solid var(--line); }
tbody tr.on { background: var(--faint); }
td .meter { display: inline-block; width: 90px; height: 7px; border-radius: 4px; background: var(--line); margin-inline-end: 8px; overflow: hidden; }
td .meter i { display: block; height: 100%; background: var(--good); }
.twins .scroll { max-height: 560px; } .twins td .meter { width: 36px; }
.others { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.others span { white-space: nowrap; } .others .number { color: var(--soft); font-size: .8rem; margin-inline-start: 4px; }
.best { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(270px, 100%), 1fr)); gap: 10px; }
.best button { text-align: start; padding: 10px 12px; border: 1px solid var(--line); border-radius: 9px; }
.best button:hover { border-color: var(--soft); }
.best button[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.best .text { display: block; overflow-wrap: anywhere; }
.best mark, .reference mark { background: var(--mark); color: inherit; border-radius: 3px; padding: 0 2px; }
.best .facts { display: flex; flex-wrap: wrap; gap: 0 12px; font-size: .78rem; color: var(--soft); margin-top: 4px; }
.tree { overflow: auto; max-height: 620px; overscroll-behavior: contain; padding-bottom: 6px; }
.tree svg { display: block; font: 12px var(--sans); }
.tree .edge { fill: none; stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.3; }
.tree .edge.gone { stroke-dasharray: 3 3; stroke-opacity: .4; }
.tree .edge.won { stroke: var(--accent); stroke-width: 2.6; stroke-opacity: 1; }
.tree .edge.path { stroke: var(--ink); stroke-width: 2; stroke-opacity: 1; }
.tree .node rect { fill: var(--card); stroke: var(--line); }
.tree .node { cursor: default; outline: none; }
.tree .node text { fill: var(--ink); } .tree .node .score { fill: var(--soft); font-size: 10px; }
.tree .node.gone rect { fill: var(--faint); stroke-dasharray: 3 3; } .tree .node.gone text { fill: var(--soft); }
.tree .node.ended rect { stroke: var(--good); } .tree .node.ended .flag { fill: var(--good); }
.tree .node.won rect { fill: var(--accent-soft); stroke: var(--accent); }
.tree .node.path rect { stroke: var(--ink); }
.tree .node:focus-visible rect { stroke: var(--accent); stroke-width: 2.5; }
.tree .step { fill: var(--soft); font-size: 11px; }
.tree-note { min-height: 3.1em; font-size: .88rem; margin-top: 8px; overflow-wrap: anywhere; }
.key { display: inline-block; width: 14px; height: 10px; border-radius: 3px; border: 1px solid var(--line); margin-right: 5px; }
.key.ended { border-color: var(--good); } .key.gone { background: var(--faint); border-style: dashed; border-color: var(--soft); }
.key.won { background: var(--accent-soft); border-color: var(--accent); }
.keys { margin: 22px 2px 0; font-size: .8rem; color: var(--soft); }
kbd { font: inherit; font-size: .76rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; background: var(--card); }
.empty { padding: 30px; text-align: center; color: var(--soft); }

@media (max-width: 1080px) { .twins { display: block; } }
@media (max-width: 820px) {
  .app { display: block; }
  .bar { padding: 8px 12px; gap: 8px; }
  .toggle-list { display: inline-block; }
  .side { display: none; position: fixed; inset: 53px 0 0 0; z-index: 15; height: auto; background: var(--paper); padding: 12px; }
  body.listing .side { display: flex; }
  body.listing { overflow: hidden; }
  .main { padding: 12px 10px 50px; }
  .card { padding: 14px 12px; border-radius: 10px; }
  .line.source { margin-bottom: 48px; }
  .line { gap: 8px 1px; } .word { padding: 3px 5px 5px; font-size: 1rem; }
  .pair.long .line { max-height: 170px; }
  .bars { grid-template-columns: auto 60px auto; }
  td .meter { width: 40px; margin-inline-end: 6px; }
  th, td { padding-inline-end: 10px; }
  #theme .name, .keys { display: none; }
  .readout { gap: 6px 22px; }
}
@media (prefers-reduced-motion: no-preference) { .word::before { transition: opacity .12s; } }
@media print {
  :root, :root[data-theme], :root:not([data-theme]) { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --faint: #f4f4f4; --shadow: none; color-scheme: light; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { font-size: 12px; }
  .side, .bar .control, .keys, .toggle-list, .tree-note, .readout { display: none !important; }
  .bar { position: static; padding: 0 0 6px; } .app { display: block; } .main { padding: 0; }
  .card { border: 0; padding: 0; margin: 0 0 14px; box-shadow: none; }
  .card.keep, .best button, tr { break-inside: avoid; }
  .matrix, .tree, .scroll, .pair.long .line { overflow: visible; max-height: none; }
  .twins { display: block; }
  .tree svg { max-width: 100%; height: auto; }
  .matrix .corner, .matrix .columns, .matrix .rows, th { position: static; }
  .matrix .columns { position: relative; }
}
)css";

}  // namespace bahdanau::detail
