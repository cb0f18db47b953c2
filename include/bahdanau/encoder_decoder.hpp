// EncoderDecoder: a cell, a score, a backend, an encoder, a decoder and a readout composed into one model,
// with translation and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/frozen.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/model/architecture.hpp>
#include <bahdanau/model/attention_decoder.hpp>
#include <bahdanau/model/compose.hpp>
#include <bahdanau/model/sequence_model.hpp>
#include <bahdanau/model/translation.hpp>

namespace bahdanau {

namespace detail {

template <class Cell, class Score, class Backend, class... Others>
using ArchitectureOf =
    Architecture<Cell, Score, Backend, EncoderOf<Others...>, DecoderOf<Others...>, ReadoutOf<Others...>>;

}  // namespace detail

/// A recurrent encoder-decoder with attention. `Cell`: `Gru`, `GruResetBefore`, `Lstm`, `Rnn`,
/// `LayerNorm<Cell>`; `Score`: `Additive`, `ScaledDot`, `Dot`, `General`, `Local<Score, D>`,
/// `Coverage<Additive>`, `MultiHead<ScaledDot, heads>`, or `NoScore`, with the decoders `Plain` and
/// `FixedContext`, for models without attention; `Backend`: `Xtensor<T>`, `Thrust<T>`. What follows, in any
/// order: an encoder (`Unidirectional`, `Bidirectional`, `Convolutional<layers, width>`), a decoder
/// (`AttendThenStep`, `StepThenAttend`, `InputFeeding`, `Conditional`) and a readout (`LinearReadout`,
/// `ConcatReadout`, `TanhReadout`, `DeepOutput<width>`), of which the first ones are d2l's and the defaults.
/// Or types of one's own that model the concepts of the same names.
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
    : public TextInference<EncoderDecoder<Cell, Score, Backend, Others...>,
                           SequenceModel<detail::ArchitectureOf<Cell, Score, Backend, Others...>>> {
 public:
  using EncoderDecoder::TextInference::TextInference;

  /// The weights as they are now for inference alone: what does not change can be shared.
  Frozen<EncoderDecoder> freeze() const { return Frozen<EncoderDecoder>(sessions()); }

  /// Writes the model file: weights, sizes, vocabularies; atomically.
  void save(const std::filesystem::path& path) const { detail::save_model(*this, path); }
  /// Reads a model file that was made for these policies.
  static EncoderDecoder load(const std::filesystem::path& path) {
    return detail::load_model<EncoderDecoder>(path);
  }
  /// Fills the weights from a file that has just these tensors, by name.
  void load_weights(const std::filesystem::path& path) { detail::load_weights(*this, path); }

  /// What `translate` uses: a frozen copy of the weights, made when they have changed.
  auto sessions() const {
    return sessions_.get(this->weights().version(),
                         [&] { return std::make_shared<const Sessions>(this->frozen_model()); });
  }

 private:
  using Sessions = detail::SessionPool<detail::ArchitectureOf<Cell, Score, Backend, Others...>>;
  mutable detail::CachedOf<Sessions> sessions_;
};

}  // namespace bahdanau
