// bahdanau score: forced decoding of sentence pairs, a batch at a time, written as it goes.
// What was scored before a bad line is written before the error.
#include <exception>
#include <string>
#include <vector>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "json.hpp"
#include "output.hpp"

namespace cli {
namespace {

using Scored = bd::Translation;

/// Some sentence pairs, the `path:line` of each, and what was wrong with the line after them, if anything.
struct PairLines {
  std::vector<bd::SentencePair> pairs;
  std::vector<std::string> places;
  std::exception_ptr error;
};

/// The next pairs, at most `count`.
PairLines read(bd::PairReader& reader, const AnyModel& model, std::size_t count) {
  PairLines lines;
  try {
    Room room(count);
    for (bd::SentencePair pair; room.left() && reader.next(pair);) {
      check_length(model, pair.source, reader.where());
      room.take(pair.source + pair.target);
      lines.pairs.push_back(pair);
      lines.places.push_back(reader.where());
    }
  } catch (const bd::Error&) {
    lines.error = std::current_exception();
  }
  return lines;
}

/// score TAB source TAB target, without the `<eos>` that ends both.
void append_text(std::string& out, const Scored& scored, bd::Tokens kind) {
  out += fixed(scored.score, 4);
  for (std::vector<std::string> tokens : {scored.source, scored.target}) {
    tokens.pop_back();
    out += '\t' + bd::detokenize(tokens, kind);
  }
  out += '\n';
}

void score_all(bd::PairReader& reader, const AnyModel& model, const ScoreOptions& options) {
  for (bool more = true; more;) {
    PairLines lines = read(reader, model, options.batch);
    const std::vector<Scored> scored = model.score(lines.pairs, options.batch);
    std::string out;
    for (std::size_t i = 0; i < scored.size(); ++i) {
      try {
        check_finite(scored[i], lines.places[i], options.model.string());
      } catch (const bd::Error&) {
        write(out);
        throw;
      }
      if (options.json) {
        json::append(out, scored[i]);
        out += '\n';
      } else {
        append_text(out, scored[i], model.vocabularies().text.tokens);
      }
    }
    write(out);
    if (lines.error) std::rethrow_exception(lines.error);
    more = !scored.empty();
  }
}

}  // namespace

void score(const ScoreOptions& options) {
  bd::PairReader reader = open_pairs(options.data);
  score_all(reader, *load_any_model(options.model), options);
}

}  // namespace cli
