// What epochs of a training are compared by, if not by their loss: a metric of the translations of a
// validation file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/metric/any_evaluation.hpp>
#include <bahdanau/text/pairs.hpp>

#include "any_model.hpp"
#include "metrics.hpp"

namespace cli {

/// The error of a model's greedy translations, lower for better ones.
class ValidationError {
 public:
  /// Reads the file. The model must outlive this object. Throws where there are no pairs, or where the model
  /// cannot translate a source whole.
  ValidationError(std::string metric, const std::filesystem::path& path, bd::BadLines bad_lines,
                  std::size_t threads, const AnyModel& model)
      : metric_(std::move(metric)), threads_(threads), model_(&model) {
    bd::PairReader reader(path, bad_lines);
    std::map<std::string, std::size_t> known;
    for (bd::SentencePair pair; reader.next(pair);) {
      if (known.try_emplace(pair.source, sources_.size()).second) sources_.push_back(pair.source);
      pairs_.push_back({pair.source, reference_for(model.vocabularies(), pair.target)});
    }
    const std::string where = path.string();
    if (pairs_.empty()) bd::fail(where, "at least one sentence pair", "none");
    const std::size_t most = model.vocabularies().text.max_length;
    if (model.config().final_state == bd::FinalState::padded)
      for (const std::string& source : sources_)
        if (const auto tokens = model.vocabularies().source_tokens(source).size() + 1; tokens > most)
          bd::fail(
              where, "sources of at most " + bd::detail::text(most) + " tokens with <eos>",
              bd::detail::text(tokens) + " in " + bd::detail::quote(source),
              "a padded encoder translates no longer ones; leave them out of what epochs are compared by");
    for (const bd::SentencePair& pair : pairs_) source_of_.push_back(known.at(pair.source));
  }

  /// As a progress line calls it: an error rate by its own name, and what is missing to 100 of another.
  std::string name() const { return bd::counts_errors(metric_) ? metric_ : "100-" + metric_; }

  double measure() const {
    const std::vector<std::vector<bd::Translation>> found =
        model_->translate(sources_, bd::Greedy{.threads = threads_});
    Metrics metrics({{metric_}, /*join_sources=*/true});
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      metrics.add(pairs_[i].source, found[source_of_[i]].front().text, pairs_[i].target);
    return metrics.error(model_->vocabularies().text.target_side());
  }

 private:
  std::string metric_;
  std::size_t threads_;  // 0: one per core
  const AnyModel* model_;
  std::vector<bd::SentencePair> pairs_;  // with references as they are compared
  std::vector<std::string> sources_;     // each once
  std::vector<std::size_t> source_of_;   // of each pair
};

}  // namespace cli
