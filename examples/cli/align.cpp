// bahdanau align: which words of sentence pairs translate one another, a batch at a time, in Pharaoh's
// format.
#include <string>
#include <vector>

#include <bahdanau/align/pharaoh.hpp>

#include "aligner.hpp"
#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace cli {
namespace {

/// A line: a pair, or what is wrong with it.
struct AlignLine {
  std::string place, problem;
  bd::SentencePair pair;
};

}  // namespace

void align(const AlignOptions& options) {
  bd::PairReader reader = open_pairs(options.data);
  const auto model = load_models(options.model);
  const Aligner aligner(options.alignment, *model, options.model);
  for (bool more = true; more;) {
    const auto lines =
        read_lines<AlignLine>(reader, options.batch, false, [&](AlignLine& line, BatchBudget& budget) {
          if (!reader.next(line.pair)) return false;
          line.place = reader.where();
          check_lengths(*model, line.pair, line.place, options.max_source);
          budget.take(line.pair.source + line.pair.target);
          return true;
        });
    std::vector<bd::SentencePair> pairs;
    std::vector<std::string> places;
    for (const AlignLine& line : lines) {
      if (!line.problem.empty()) break;
      pairs.push_back(line.pair);
      places.push_back(line.place);
    }
    const std::vector<bd::Translation> scored = model->score(pairs, options.batch);
    for (std::size_t i = 0; i < scored.size(); ++i)
      check_finite(scored[i], places[i], options.model.string());
    std::string out;
    for (const bd::Alignment& links : aligner.align(pairs, scored, places, options.batch))
      out += bd::pharaoh_text(links) + '\n';
    write(out);
    if (!lines.empty() && !lines.back().problem.empty()) throw bd::Error(lines.back().problem);
    more = !lines.empty();
  }
}

}  // namespace cli
