// bahdanau score: forced decoding of sentence pairs, a batch at a time, written as it goes.
// What was scored before a bad line is written before the error.
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "any_model.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "output.hpp"

namespace cli {
namespace {

using Scored = bd::Translation;

/// Some sentence pairs, the `path:line` of each, and what was wrong with the line after them, if anything.
struct Lines {
  std::vector<bd::SentencePair> pairs;
  std::vector<std::string> places;
  std::exception_ptr error;
};

/// Throws for a source that a model of d2l's final-state rule has no room for.
template <class Model>
void check_length(const Model& model, const bd::SentencePair& pair, const std::string& place) {
  if (model.config().final_state == bd::FinalState::valid) return;
  const std::size_t tokens = bd::tokenize(pair.source, model.vocabularies().text).size() + 1;
  if (tokens > model.max_length())
    bd::fail(place, "a source of at most " + std::to_string(model.max_length()) + " tokens with its <eos>",
             std::to_string(tokens), "the model was trained on rows of that length, padding included");
}

/// The next pairs, at most `count`.
template <class Model>
Lines read(bd::PairReader& reader, const Model& model, std::size_t count) {
  Lines lines;
  try {
    for (bd::SentencePair pair; lines.pairs.size() < count && reader.next(pair);) {
      check_length(model, pair, reader.where());
      lines.pairs.push_back(pair);
      lines.places.push_back(reader.where());
    }
  } catch (const bd::Error&) {
    lines.error = std::current_exception();
  }
  return lines;
}

/// {"source":[…],"target":[…],"score":…,"log_probs":[…],"attention":[[…],…]}
void append_json(std::string& out, const Scored& scored) {
  json::append(out += R"({"source":)", scored.source);
  json::append(out += R"(,"target":)", scored.target);
  json::append(out += R"(,"score":)", scored.score);
  json::append(out += R"(,"log_probs":)", scored.log_probs);
  json::append(out += R"(,"attention":)", scored.attention);
  out += "}\n";
}

/// score TAB source TAB target, without the `<eos>` that ends both.
void append_text(std::string& out, const Scored& scored, bd::Tokens kind) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.4f", scored.score);
  out += number.data();
  for (std::vector<std::string> tokens : {scored.source, scored.target}) {
    tokens.pop_back();
    out += '\t' + bd::detokenize(tokens, kind);
  }
  out += '\n';
}

template <class Model>
void score_all(bd::PairReader& reader, const Model& model, const ScoreOptions& options) {
  for (bool more = true; more;) {
    Lines lines = read(reader, model, options.batch);
    const std::vector<Scored> scored = bd::score_pairs(model, lines.pairs, options.batch);
    std::string out;
    for (std::size_t i = 0; i < scored.size(); ++i) {
      if (!std::isfinite(scored[i].score)) {
        write(out);
        bd::fail(lines.places[i], "a finite score", std::to_string(scored[i].score),
                 "the weights in " + options.model.string() + " are not finite, or too large");
      }
      options.json ? append_json(out, scored[i])
                   : append_text(out, scored[i], model.vocabularies().text.tokens);
    }
    write(out);
    if (lines.error) std::rethrow_exception(lines.error);
    more = !scored.empty();
  }
}

}  // namespace

void score(const ScoreOptions& options) {
  bd::PairReader reader =
      options.data == "-" ? bd::PairReader(std::cin, "<stdin>") : bd::PairReader(options.data);
  visit_model(options.model, [&](const auto& model) { score_all(reader, model, options); });
}

}  // namespace cli
