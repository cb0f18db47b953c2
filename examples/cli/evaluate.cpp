// bahdanau evaluate: corpus BLEU-4 of a model's translations, its perplexity on the given ones, and its
// speed.
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/align/error_rate.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/metric/perplexity.hpp>

#include "aligner.hpp"
#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "json.hpp"
#include "metrics.hpp"
#include "output.hpp"

namespace cli {
namespace {

/// Alignments made by hand, a line for each line of the data, and what the model has of them.
class Gold {
 public:
  Gold(const EvaluateOptions& options, const AnyModel& model)
      : path_(options.gold),
        lines_(bd::read_pharaoh(options.gold)),
        aligner_(options.alignment, model, options.model) {}

  /// Compares the alignments of pairs with these lines of the file, counted from 1.
  void add(std::span<const bd::SentencePair> pairs, std::span<const bd::Translation> scored,
           std::span<const std::string> places, std::span<const std::size_t> lines, std::size_t batch) {
    const std::vector<bd::Alignment> found = aligner_.align(pairs, scored, places, batch);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (lines[i] > lines_.size())
        bd::fail(path_.string(), "a line for each line of --data, at least " + bd::detail::text(lines[i]),
                 bd::detail::text(lines_.size()));
      const bd::Alignment& gold = lines_[lines[i] - 1];
      const std::size_t sources = scored[i].source.size() - 1, targets = scored[i].target.size() - 1;
      for (const bd::Link& link : gold.links())
        if (link.source >= sources || link.target >= targets)
          bd::fail(path_.string() + ":" + bd::detail::text(lines[i]),
                   "links of " + bd::detail::text(sources) + " source and " + bd::detail::text(targets) +
                       " target words, counted from 0",
                   bd::pharaoh_text({link}), "words are the model's tokens");
      counts_ += bd::count_links(found[i], gold);
    }
  }

  const bd::AlignmentCounts& counts() const { return counts_; }

 private:
  std::filesystem::path path_;
  std::vector<bd::Alignment> lines_;
  Aligner aligner_;
  bd::AlignmentCounts counts_;
};

/// What is summed over all pairs.
struct Totals {
  Totals(const EvaluateOptions& options, const AnyModel& model) : metrics(options.metrics) {
    if (!options.gold.empty()) gold.emplace(options, model);
  }

  std::size_t pairs = 0;
  bd::CorpusBleu bleu;
  Metrics metrics;             // those that were asked for
  std::optional<Gold> gold;    // if asked for
  double nats = 0;             // of the given translations
  std::size_t tokens = 0;      // of them, `<eos>` included
  std::size_t translated = 0;  // tokens of the model's own
  double seconds = 0;          // that those took
};

/// Translates the sources, and compares with the targets as they are written: a word that the model does not
/// know cannot be right.
void add(Totals& totals, const AnyModel& model, const std::vector<bd::SentencePair>& pairs,
         const std::vector<std::string>& places, const std::vector<std::size_t>& lines,
         const EvaluateOptions& options) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> sources;
  for (const bd::SentencePair& pair : pairs) sources.push_back(pair.source);
  const auto start = Clock::now();
  std::vector<std::vector<bd::Translation>> found;
  try {
    found = model.translate(sources, options.search.search());
  } catch (const bd::LimitError& e) {
    throw bd::Error(at_place(places[e.sentence()], e.what()));
  }
  totals.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  const std::vector<bd::Translation> given = model.score(pairs, options.batch);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    check_finite(given[i], places[i], options.model.string());
    std::vector<std::string> predicted = found[i].front().target;
    totals.translated += predicted.size();
    if (!predicted.empty() && predicted.back() == bd::reserved::names[bd::reserved::eos])
      predicted.pop_back();
    const bd::Vocabularies& v = model.vocabularies();
    const std::vector<std::string> reference = v.target_tokens(pairs[i].target);
    totals.bleu.add(predicted, reference);
    totals.metrics.add(pairs[i].source, found[i].front().text, reference_for(v, pairs[i].target));
    totals.nats -= given[i].score;
    totals.tokens += given[i].target.size();
  }
  if (totals.gold) totals.gold->add(pairs, given, places, lines, options.batch);
  totals.pairs += pairs.size();
}

}  // namespace

void evaluate(const EvaluateOptions& options) {
  const auto bad_lines = options.skip_bad_lines ? bd::BadLines::skip : bd::BadLines::fail;
  bd::PairReader reader = open_pairs(options.data, bad_lines);
  const auto model = load_models(options.model);
  check_words(*model, options.search.search());
  Totals totals(options, *model);
  std::size_t too_long = 0;
  for (bool more = true; more;) {
    std::vector<bd::SentencePair> pairs;
    std::vector<std::string> places;
    std::vector<std::size_t> lines;
    bd::SentencePair pair;
    BatchBudget budget(options.batch);
    const auto wanted = [&] {
      return budget.left() && (options.max_pairs == 0 || totals.pairs + pairs.size() < options.max_pairs);
    };
    while (wanted() && reader.next(pair)) {
      try {
        check_lengths(*model, pair, reader.where(), options.search.max_source);
      } catch (const bd::Error&) {
        if (!options.skip_bad_lines) throw;
        ++too_long;
        continue;
      }
      budget.take(pair.source + pair.target);
      pairs.push_back(pair);
      places.push_back(reader.where());
      lines.push_back(reader.line());
    }
    add(totals, *model, pairs, places, lines, options);
    more = !pairs.empty();
  }
  if (totals.pairs == 0) bd::fail(options.data.string(), "at least one sentence pair", "none");
  const double bleu = totals.bleu.score();
  const double perplexity = bd::perplexity(totals.nats / static_cast<double>(totals.tokens));
  const double speed = static_cast<double>(totals.translated) / totals.seconds;
  if (!std::isfinite(perplexity))
    bd::fail(options.data.string(), "a finite perplexity", bd::detail::number_text(perplexity));
  const bd::TextSide target = model->vocabularies().text.target_side();
  std::string out;
  if (options.json) {
    json::append(out += R"({"pairs":)", totals.pairs);
    json::append(out += R"(,"bleu":)", bleu);
    json::append(out += R"(,"perplexity":)", perplexity);
    json::append(out += R"(,"tokens_per_second":)", speed);
    if (totals.gold) {
      const bd::AlignmentCounts& links = totals.gold->counts();
      json::append(out += R"(,"alignment":{"error_rate":)", links.error_rate());
      json::append(out += R"(,"precision":)", links.precision());
      json::append(out += R"(,"recall":)", links.recall());
      out += '}';
    }
    out += totals.metrics.json_text(target) + "}\n";
  } else {
    out = "pairs\t" + bd::detail::text(totals.pairs) + "\nBLEU-4\t" + fixed(bleu, 2) + "\nperplexity\t" +
          fixed(perplexity, 3) + "\ntokens/s\t" + fixed(speed, 0) + "\n";
    if (totals.gold) {
      const bd::AlignmentCounts& links = totals.gold->counts();
      out += "alignment error rate\t" + fixed(links.error_rate(), 4) + "\nalignment precision\t" +
             fixed(links.precision(), 4) + "\nalignment recall\t" + fixed(links.recall(), 4) + "\n";
    }
    out += totals.metrics.lines(target);
  }
  write(out);
  if (const std::size_t skipped = reader.skipped() + too_long; skipped > 0)
    std::cerr << options.data.string() << ": " << skipped << " lines skipped\n";
}

}  // namespace cli
