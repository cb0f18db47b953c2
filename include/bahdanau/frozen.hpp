// Frozen: a model for inference alone, immutable, cheap to copy, shared by threads.
// It has the weights as products want them, and what calls leave for the next ones; training needs the model.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>

#include <bahdanau/decode/session_pool.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/model/token_inference.hpp>

namespace bahdanau {

namespace detail {

/// What a frozen model shows of its architecture.
template <class Architecture>
class FrozenParts {
 public:
  using Cell = typename Architecture::Cell;
  using Score = typename Architecture::Score;
  using Backend = typename Architecture::Backend;
  using Encoder = typename Architecture::Encoder;
  using Decoder = typename Architecture::Decoder;
  using Readout = typename Architecture::Readout;
  using Scalar = typename Architecture::Scalar;
  using Encoded = typename Architecture::Encoded;
  using State = typename Architecture::State;
  using DecoderNetwork = typename Architecture::DecoderNetwork;

  explicit FrozenParts(std::shared_ptr<const SessionPool<Architecture>> sessions)
      : sessions_(std::move(sessions)) {}

  const Architecture& architecture() const { return sessions_->architecture(); }
  const Config& config() const { return architecture().config(); }
  const Vocabularies& vocabularies() const { return architecture().vocabularies(); }
  std::size_t max_length() const { return architecture().max_length(); }
  const ParameterList& parameters() const { return architecture().parameters(); }

  /// What its weights take.
  std::size_t bytes() const { return sessions_->model()->weights().bytes(); }
  /// Gives back what calls have left for the next ones: at most 64 MiB per core.
  void trim() const { sessions_->trim(); }

  const std::shared_ptr<const FrozenModel<Architecture>>& frozen_model() const { return sessions_->model(); }
  const std::shared_ptr<const SessionPool<Architecture>>& sessions() const { return sessions_; }

 private:
  std::shared_ptr<const SessionPool<Architecture>> sessions_;
};

}  // namespace detail

/// What `model.freeze()` gives. All that a model can be asked can be asked of it, to the same bits:
/// `translate`, `encode`, `step`, `forward`. Copies share everything.
template <class Model>
class Frozen
    : public TextInference<Frozen<Model>,
                           TokenInference<Frozen<Model>, detail::FrozenParts<typename Model::Parts>>> {
 public:
  using Frozen::TextInference::TextInference;

  /// Reads a model file that was made for the policies of `Model`, without making a model of it.
  static Frozen load(const std::filesystem::path& path) {
    using Parts = typename Model::Parts;
    return Frozen(std::make_shared<const detail::SessionPool<Parts>>(detail::load_frozen<Model>(path)));
  }
};

}  // namespace bahdanau
