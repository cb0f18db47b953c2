// Alignments of given sentence pairs, by one model or by one of each direction.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/align/alignment.hpp>
#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/align/symmetrize.hpp>

#include "any_model.hpp"
#include "commands.hpp"

namespace cli {

/// Reads attention of forced decoding as links; with a model of the other direction, of both, symmetrised.
class Aligner {
 public:
  /// Loads the model of the other direction, if there is one. Throws if a model does not attend.
  Aligner(const AlignmentOptions& options, const AnyModel& model, const std::filesystem::path& path)
      : options_(options) {
    require_attention("--model", model, path);
    if (options.reverse_model.empty()) return;
    reverse_ = load_models(options.reverse_model);
    require_attention("--reverse-model", *reverse_, options.reverse_model);
  }

  /// The alignments of pairs that the model has scored; `places` are for messages. Throws where the other
  /// model splits a sentence into another number of tokens.
  std::vector<bd::Alignment> align(std::span<const bd::SentencePair> pairs,
                                   std::span<const bd::Translation> scored,
                                   std::span<const std::string> places, std::size_t batch) const {
    std::vector<bd::Alignment> out;
    for (const bd::Translation& translation : scored) out.push_back(links_of(translation));
    if (!reverse_) return out;
    std::vector<bd::SentencePair> turned;
    for (const bd::SentencePair& pair : pairs) turned.push_back({pair.target, pair.source});
    const std::vector<bd::Translation> back = reverse_->score(turned, batch);
    for (std::size_t i = 0; i < out.size(); ++i) {
      require_same(places[i], "source", scored[i].source, back[i].target);
      require_same(places[i], "target", scored[i].target, back[i].source);
      out[i] = bd::symmetrize(out[i], links_of(back[i]).transposed(), options_.symmetrization);
    }
    return out;
  }

 private:
  bd::Alignment links_of(const bd::Translation& translation) const {
    return options_.threshold > 0 ? bd::threshold_alignment(translation, options_.threshold)
                                  : bd::argmax_alignment(translation);
  }
  static void require_attention(const std::string& option, const AnyModel& model,
                                const std::filesystem::path& path) {
    if (!model.policies().attends() && files_in(path).size() == 1)  // of several, others may attend
      bd::fail(option, "a model that attends",
               "one with the score " + bd::detail::quote(model.policies().score));
  }
  static void require_same(const std::string& place, const std::string& side,
                           const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
    if (ours.size() != theirs.size())
      bd::fail(place,
               "a " + side + " of " + bd::detail::text(ours.size()) + " tokens with its <eos> to both models",
               bd::detail::text(theirs.size()) + " to that of --reverse-model",
               "train both with the same settings of text");
  }

  AlignmentOptions options_;
  std::unique_ptr<AnyModel> reverse_;
};

}  // namespace cli
