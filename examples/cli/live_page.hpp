// The page of a server: a sentence that one types is translated and drawn as `plot::page` draws it.
// A word that might have come can be chosen, and the rest follows.
#pragma once

#include <string>
#include <string_view>

#include <bahdanau/plot/page.hpp>
#include <bahdanau/text/text_options.hpp>

#include "any_model.hpp"
#include "requests.hpp"

namespace cli {

inline constexpr std::string_view live_style = R"css(<style>
.ask { display: grid; grid-template-columns: minmax(0, 1fr) auto auto auto; gap: 8px 12px; align-items: end; padding: 14px 20px 0; }
.column { min-width: 0; }
.ask label { display: block; font-size: .75rem; color: var(--soft); }
.ask textarea, .ask input { display: block; width: 100%; font: inherit; font-size: 1rem; color: var(--ink); margin-top: 2px; }
.ask textarea { resize: vertical; min-height: 42px; }
.ask input[type=number] { width: 5.2em; }
.ask .go { background: var(--accent); color: var(--paper); border-color: var(--accent); padding: 8px 18px; font-weight: 600; }
.ask .go:disabled { opacity: .5; cursor: default; }
.ask .begin { grid-column: 1; } .ask .said { grid-column: 2 / -1; align-self: center; font-size: .85rem; color: var(--soft); }
.ask .said.bad { color: var(--bad); }
.force { border-bottom: 1px dotted var(--accent); } .force:hover { color: var(--accent); border-bottom-style: solid; }
@media (max-width: 760px) { .ask { grid-template-columns: auto auto minmax(0, 1fr); }
  .ask .what, .ask .begin, .ask .said { grid-column: 1 / -1; } .ask .go { justify-self: end; } }
@media print { .ask { display: none; } }
</style>
)css";

inline constexpr std::string_view live_script = R"js(
const live = data.live;
const field = (name, node, kind) => el('label', {class: kind}, name, node);
const typed = el('textarea', {class: 'control', id: 'typed', rows: 1, dir: 'auto', autocomplete: 'off', spellcheck: 'false', required: true});
const beamField = el('input', {class: 'control', id: 'width', type: 'number', min: 1, max: live.beam, value: Math.min(5, live.beam)});
const bestField = el('input', {class: 'control', id: 'nbest', type: 'number', min: 1, max: live.beam, value: Math.min(3, live.beam)});
const begin = el('input', {class: 'control', id: 'prefix', type: 'text', dir: 'auto', autocomplete: 'off', spellcheck: 'false', placeholder: 'words that the translation begins with'});
const go = el('button', {class: 'control go', type: 'submit'}, 'Translate');
const said = el('p', {class: 'said', role: 'status', id: 'said'});
const form = el('form', {class: 'ask', 'aria-label': 'translate a sentence'}, field('Sentence', typed, 'what'), field('Beam', beamField),
  field('Best', bestField), go, field('Begins with', begin, 'begin'), said);
const column = el('div', {class: 'column'});
main.replaceWith(column);
column.append(form, main);
const say = (text, bad) => { said.textContent = text; said.classList.toggle('bad', Boolean(bad)); };
// Tokens as the text that gives them back.
const textOfTokens = tokens => live.pieces ? tokens.join('').replaceAll('▁', ' ').trim() : tokens.join(' ');

// What was asked for each sentence that came; whether something else is being typed.
const asked = [];
let asking = null, drafting = false;
async function ask() {
  const source = typed.value.trim();
  if (!source) { say('Type a sentence first.', true); typed.focus(); return; }
  if (asking) asking.abort();
  const mine = asking = new AbortController(), since = performance.now();
  const beam = Math.max(Number(beamField.value) || 1, Number(bestField.value) || 1);
  const prefix = begin.value.trim();
  const body = {source, beam, nbest: Number(bestField.value) || 1, ...(prefix ? {prefix} : {})};
  drafting = false;
  say('…');
  go.disabled = true;
  try {
    const response = await fetch('explain', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal: mine.signal});
    const answer = await response.json();
    if (!response.ok) { say(answer.error || `status ${response.status}`, true); return; }
    const i = addSentence(answer.sentences[0]);
    asked[i] = {source, prefix};
    arrange();
    open(i);
    say(`${Math.max(1, Math.round(performance.now() - since))} ms`);
  } catch (problem) {
    if (problem.name !== 'AbortError') say('The server does not answer.', true);
  } finally {
    if (asking === mine) { asking = null; go.disabled = false; }
  }
}
form.addEventListener('submit', event => { event.preventDefault(); ask(); });
typed.addEventListener('keydown', event => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); ask(); }
});
typed.addEventListener('input', () => { drafting = true; begin.value = ''; });
begin.addEventListener('input', () => { drafting = true; });
// Asks for the sentence that is shown, as it was typed.
function again(prefix) {
  typed.value = asked[current].source;
  begin.value = prefix;
  ask();
}
for (const number of [beamField, bestField]) number.addEventListener('change', () => { if (current in asked && !drafting) again(asked[current].prefix); });
forced.choose = tokens => again(textOfTokens(withoutEnd(tokens)));
typed.focus();
)js";

/// The page as HTML.
inline std::string live_page(const AnyModel& model, const std::string& title, const RequestBounds& bounds) {
  const bd::Tokens tokens = model.vocabularies().text.target_side().tokens;
  const bool pieces = tokens == bd::Tokens::characters || tokens == bd::Tokens::subwords;
  std::string json;
  bd::detail::append_text(json += R"({"title":)", title);
  json += R"(,"sentences":[],"live":{"beam":)" + bd::detail::text(bounds.beam) +
          (pieces ? R"(,"pieces":true}})" : R"(,"pieces":false}})");
  return bd::detail::html_document(
      title, live_style, json,
      {bd::detail::page_base_script, bd::detail::page_words_script, bd::detail::page_matrix_script,
       bd::detail::page_beam_script, bd::detail::page_list_script, live_script},
      /*connects=*/true);
}

}  // namespace cli
