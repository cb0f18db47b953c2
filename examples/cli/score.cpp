// bahdanau score: forced decoding of sentence pairs, a batch at a time, written as it goes.
// What was scored before a bad line is written before the error; with --keep-going, what comes after it too.
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "json.hpp"
#include "output.hpp"

namespace cli {
namespace {

using Scored = bd::Translation;

/// A line: a pair and its score, or what is wrong with it.
struct ScoreLine {
  std::string place, problem;
  bd::SentencePair pair;
  Scored scored;
};

/// The next lines, at most a batch.
std::vector<ScoreLine> read(bd::PairReader& reader, const AnyModel& model, const ScoreOptions& options) {
  return read_lines<ScoreLine>(reader, options.batch, options.keep_going,
                               [&](ScoreLine& line, BatchBudget& budget) {
                                 if (!reader.next(line.pair)) return false;
                                 line.place = reader.where();
                                 check_lengths(model, line.pair, line.place, options.max_source);
                                 budget.take(line.pair.source + line.pair.target);
                                 return true;
                               });
}

/// score TAB source TAB target, without the `<eos>` that ends both.
void append_text(std::string& out, const Scored& scored, const bd::TextOptions& text) {
  const auto add = [&](const std::vector<std::string>& tokens, const bd::TextSide& side) {
    out += '\t' + bd::detokenize(std::span(tokens).first(tokens.size() - 1), side);
  };
  out += fixed(scored.score, 4);
  add(scored.source, text.source_side());
  add(scored.target, text.target_side());
  out += '\n';
}

/// Scores lines in one batch, or, where that takes too much memory, one by one.
void score_lines(const AnyModel& model, std::vector<ScoreLine>& lines, std::size_t batch) {
  std::vector<bd::SentencePair> pairs;
  std::vector<ScoreLine*> asked;
  for (ScoreLine& line : lines) {
    if (!line.problem.empty()) continue;
    pairs.push_back(line.pair);
    asked.push_back(&line);
  }
  try {
    std::vector<Scored> scored = model.score(pairs, batch);
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->scored = std::move(scored[i]);
    return;
  } catch (const std::bad_alloc&) {
  }
  for (ScoreLine* line : asked) try {
      line->scored = std::move(model.score(std::vector{line->pair}, 1).front());
    } catch (const std::bad_alloc&) {
      line->problem = line->place + ": expected a pair that fits into memory, got a longer one";
    }
}

void score_all(bd::PairReader& reader, const AnyModel& model, const ScoreOptions& options) {
  Unanswered unanswered;
  for (bool more = true; more;) {
    std::vector<ScoreLine> lines = read(reader, model, options);
    score_lines(model, lines, options.batch);
    std::string out;
    for (ScoreLine& line : lines) {
      try {
        if (line.problem.empty()) check_finite(line.scored, line.place, options.model.string());
      } catch (const bd::Error& e) {
        line.problem = e.what();
      }
      if (!line.problem.empty()) {
        if (!options.keep_going) {
          write(out);
          throw bd::Error(line.problem);
        }
        unanswered.add(line.problem);
        json::append_problem(out, line.problem, options.json);
      } else if (options.json) {
        json::append(out, line.scored);
        out += '\n';
      } else {
        append_text(out, line.scored, model.vocabularies().text);
      }
    }
    write(out);
    more = !lines.empty();
  }
  unanswered.check(options.data == "-" ? "<stdin>" : options.data.string(), reader.line());
}

}  // namespace

void score(const ScoreOptions& options) {
  bd::PairReader reader = open_pairs(options.data);
  score_all(reader, *load_models(options.model), options);
}

}  // namespace cli
