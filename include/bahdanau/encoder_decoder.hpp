// EncoderDecoder: a cell, a score, a backend, an encoder, a decoder and a readout composed into one model,
// with translation and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/sentences.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/model/attention_decoder.hpp>
#include <bahdanau/model/compose.hpp>
#include <bahdanau/model/sequence_model.hpp>
#include <bahdanau/model/translation.hpp>

namespace bahdanau {

/// A recurrent encoder-decoder with attention. `Cell`: `Gru`, `GruResetBefore`, `Lstm`; `Score`:
/// `Additive`, `ScaledDot`, `Dot`, `General`; `Backend`: `Xtensor<T>`, `Thrust<T>`. What follows, in any
/// order: an encoder (`Unidirectional`, `Bidirectional`), a decoder (`AttendThenStep`, `StepThenAttend`,
/// `InputFeeding`) and a readout (`LinearReadout`, `ConcatReadout`, `TanhReadout`, `DeepOutput<width>`), of
/// which the first ones are d2l's and the defaults. Or types of one's own that model the concepts of the same
/// names.
///
/// A const model may be used from many threads at once.
template <class Cell, class Score, class Backend, class... Others>
class EncoderDecoder : detail::CheckedComposition<Cell, Score, Backend, Others...> {
 public:
  // Only so that a wrong combination prints its one sentence and no more.
  EncoderDecoder(const Config&, const Vocabularies&, std::uint64_t = 0) {}
};

template <class Cell, class Score, class Backend, class... Others>
requires detail::Composes<Cell, Score, Backend, Others...>
class EncoderDecoder<Cell, Score, Backend, Others...>
    : public SequenceModel<Cell, Score, Backend, detail::EncoderOf<Others...>, detail::DecoderOf<Others...>,
                           detail::ReadoutOf<Others...>> {
 public:
  using EncoderDecoder::SequenceModel::SequenceModel;

  /// Translates text. Nothing translates to nothing. Throws for text that is
  /// not UTF-8, for options out of range, and beyond `options.limits`.
  Translation translate(std::string_view sentence, const Greedy& options = {}) const {
    return detail::translate_one(*this, sentence, options);
  }
  Translation translate(std::string_view sentence, const Beam& options) const {
    return detail::translate_one(*this, sentence, options);
  }
  /// Several sentences, in their order: `{"go .", "i lost ."}`, or a range of strings, views or literals.
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Greedy& options = {}) const {
    return detail::translate_best(*this, {sentences.begin(), sentences.size()}, options);
  }
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Beam& options) const {
    return detail::translate_best(*this, {sentences.begin(), sentences.size()}, options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Greedy& options = {}) const {
    return detail::translate_best(*this, detail::views_of(sentences), options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Beam& options) const {
    return detail::translate_best(*this, detail::views_of(sentences), options);
  }

  /// Writes the model file: weights, sizes, vocabularies; atomically.
  void save(const std::filesystem::path& path) const { detail::save_model(*this, path); }
  /// Reads a model file that was made for these policies.
  static EncoderDecoder load(const std::filesystem::path& path) {
    return detail::load_model<EncoderDecoder>(path);
  }
  /// Fills the weights from a file that has just these tensors, by name.
  void load_weights(const std::filesystem::path& path) { detail::load_weights(*this, path); }
};

}  // namespace bahdanau
