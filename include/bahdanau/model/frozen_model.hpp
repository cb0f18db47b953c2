// An architecture with weights that never change: what all inference runs on.
// Which forms of the weights it keeps follows from a pass that is traced, so that anybody's policies fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <bahdanau/autograd/frozen_weights.hpp>
#include <bahdanau/core/fork.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/model/architecture.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau::detail {

/// Notes the products of a sentence of so many tokens, encoded, and of one step.
template <class Architecture>
void trace_sentence(const Architecture& architecture, const typename Architecture::Scalar* weights,
                    std::size_t tokens, WeightTrace<typename Architecture::Backend>& trace) {
  using B = typename Architecture::Backend;
  using C = typename Architecture::Cell;
  Tape<B> tape(WeightBinding<B>{.weights = weights, .trace = &trace});
  Encoding<C, B> encoding;
  const std::vector<std::vector<Token>> rows{std::vector<Token>(tokens, reserved::eos)};
  const Sequences source = Sequences::from_rows(rows);
  architecture.run_encoder("freeze", tape, SequenceRows::of(source), {}, encoding);
  const auto& decoder = architecture.decoder_network();
  const Memory<B> memory = decoder.remember(encoding.outputs, encoding.summed());
  Spans<B> spans;
  if constexpr (Architecture::attends) {
    spans.assign(tape, encoding.begin, encoding.length);
    tape.send();
  }
  typename Architecture::DecoderNetwork::template State<B> state;
  decoder.template start<B>(tape, encoding.last, spans.view(), state);
  const std::vector<Token> first{reserved::bos};
  const auto stepped = decoder.step(memory, spans.view(), decoder.tokens(tape, tape.keep(first), 1), state);
  decoder.logits(stepped.features);
}

/// What the products of a model are. `weights` are laid out by its parameters, on the device, whatever they
/// are. An encoder may refuse sentences that are too short or too long for it; what it says then is said
/// where somebody translates one, and without a trace all weights stay as they lie.
template <class Architecture>
WeightTrace<typename Architecture::Backend> trace_weights(const Architecture& architecture,
                                                          const typename Architecture::Scalar* weights) {
  using Trace = WeightTrace<typename Architecture::Backend>;
  for (const std::size_t tokens : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) try {
      Trace trace(weights);
      trace_sentence(architecture, weights, tokens, trace);
      return trace;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
    }
  return Trace(weights);
}

template <class Architecture>
class FrozenModel {
 public:
  using B = typename Architecture::Backend;
  using Scalar = typename B::Scalar;

  /// `numbers(offset, size, buffer)` gives some of the numbers, on the device; they may be in the buffer. It
  /// is called on several threads. `weights` are traced with: their numbers do not matter.
  template <class Numbers>
  FrozenModel(Architecture architecture, const Scalar* weights, Numbers numbers)
      : architecture_(std::move(architecture)),
        weights_(parameters_of(architecture_), trace_weights(architecture_, weights)) {
    const auto pieces = weights_.pieces();
    Workers workers(threads_for<B>(0));
    const std::size_t parts = std::min(workers.threads(), pieces.size());
    workers.run(parts, [&](std::size_t part) {
      typename B::template Storage<Scalar> buffer(0);
      for (std::size_t i = part; i < pieces.size(); i += parts)
        weights_.fill(pieces[i], numbers(weights_.offset(pieces[i]), weights_.size(pieces[i]), buffer));
    });
  }

  const Architecture& architecture() const { return architecture_; }
  const FrozenWeights<B>& weights() const { return weights_; }
  /// What tapes for inference are bound to; `helpers` may share their work.
  WeightBinding<B> binding(Workers* helpers = nullptr, RowProducts<B>* products = nullptr) const {
    return {.helpers = helpers, .frozen = &weights_, .products = products};
  }

 private:
  static std::vector<Parameter> parameters_of(const Architecture& architecture) {
    std::vector<Parameter> out;
    for (const auto& entry : architecture.parameters().entries()) out.push_back(entry.parameter);
    return out;
  }

  Architecture architecture_;
  FrozenWeights<B> weights_;
};

/// Zeros that take no memory until somebody writes to them: weights to trace with before there are any.
template <Backend B>
class ZeroWeights {
 public:
  using Scalar = typename B::Scalar;
  explicit ZeroWeights(std::size_t size) {
    if constexpr (PackingBackend<B>) {  // whose memory is the host's
      host_.reset(static_cast<Scalar*>(std::calloc(size, sizeof(Scalar))));
      if (host_ == nullptr) throw std::bad_alloc();
    } else {
      device_ = Numbers(size);
      B::fill(device_.data(), size, Scalar(0));
    }
  }
  const Scalar* data() const { return host_ != nullptr ? host_.get() : device_.data(); }

 private:
  using Numbers = typename B::template Storage<Scalar>;
  struct Free {
    void operator()(Scalar* place) const { std::free(place); }
  };
  std::unique_ptr<Scalar, Free> host_;
  Numbers device_{0};
};

/// What was made of some weights, until they change. Copies share it.
template <class T>
class CachedOf {
 public:
  CachedOf() = default;
  CachedOf(const CachedOf& other) { *this = other; }
  CachedOf& operator=(const CachedOf& other) {
    if (this == &other) return *this;
    const Forks::Postponed postponed;
    const std::scoped_lock lock(mutex_, other.mutex_);
    made_ = other.made_;
    version_ = other.version_;
    return *this;
  }

  /// The one of this version of the weights; `make()` makes it.
  template <class Make>
  std::shared_ptr<const T> get(std::uint64_t version, Make make) {
    const Forks::Postponed postponed;  // nobody holds the lock in a child
    const std::lock_guard lock(mutex_);
    if (made_ == nullptr || version_ != version) {
      made_ = nullptr;  // before there is another
      made_ = make();
      version_ = version;
    }
    return made_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> made_;
  std::uint64_t version_ = 0;
};

}  // namespace bahdanau::detail
