// The model on tokens: an architecture with weights that are trained. Inference runs on frozen copies of
// them, made when they have changed. Text and files are above it: encoder_decoder.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <bahdanau/model/architecture.hpp>
#include <bahdanau/model/frozen_model.hpp>
#include <bahdanau/model/token_inference.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau {

namespace detail {
struct NoFirstWeights {};
}  // namespace detail

/// An architecture with weights: `EncoderDecoder` is this with text and files.
template <class ArchitectureType>
class SequenceModel : public TokenInference<SequenceModel<ArchitectureType>, ArchitectureType> {
 public:
  using Parts = ArchitectureType;
  using Backend = typename Parts::Backend;
  using FrozenModel = detail::FrozenModel<Parts>;

  /// A new model with weights drawn from `seed`. Throws for sizes of 0, and for `FinalState::padded` without
  /// a `max_length`.
  SequenceModel(const Config& config, Vocabularies vocabularies, std::uint64_t seed = 0)
      : TokenInference<SequenceModel, Parts>(config, std::move(vocabularies)), weights_(this->parameters()) {
    weights_.initialize(this->parameters(), seed);
  }
  /// The same with weights of 0, for who fills them.
  SequenceModel(const Config& config, Vocabularies vocabularies, detail::NoFirstWeights)
      : TokenInference<SequenceModel, Parts>(config, std::move(vocabularies)), weights_(this->parameters()) {}

  const ParameterBlock<Backend>& weights() const { return weights_; }
  ParameterBlock<Backend>& weights() { return weights_; }

  /// The weights as they are now, for inference.
  std::shared_ptr<const FrozenModel> frozen_model() const {
    return frozen_.get(weights_.version(), [&] {
      const auto* numbers = detail::numbers(weights_);
      return std::make_shared<const FrozenModel>(
          this->architecture(), numbers,
          [=](std::size_t offset, std::size_t, auto&) { return numbers + offset; });
    });
  }

 private:
  ParameterBlock<Backend> weights_;
  mutable detail::CachedOf<FrozenModel> frozen_;
};

}  // namespace bahdanau
