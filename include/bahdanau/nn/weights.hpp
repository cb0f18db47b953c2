// The values of a model's parameters: one flat block on the device, with access by name.
// Gradients and optimizer moments are blocks of the same layout, so updating all of them is one launch.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/nn/orthogonal.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

template <Backend B>
class ParameterBlock;

namespace detail {

// The memory of a block, for what runs while nobody moves it or assigns to it. Asking to change it says that
// the numbers do.
template <Backend B>
const typename B::Scalar* numbers(const ParameterBlock<B>& block);
template <Backend B>
typename B::Scalar* numbers_to_change(ParameterBlock<B>& block);

}  // namespace detail

/// A block of numbers laid out by a `ParameterList`: weights, or gradients, or moments.
template <Backend B>
class ParameterBlock {
 public:
  using Scalar = typename B::Scalar;

  /// All zeros.
  explicit ParameterBlock(const ParameterList& list) : ParameterBlock(list.size()) {}
  explicit ParameterBlock(std::size_t count) : storage_(count) { clear(); }

  std::size_t size() const { return storage_.size(); }
  /// Calls f(std::span<Scalar>) with all numbers, on the device, to write. They are f's until it returns: a
  /// pointer that was kept would dangle once the block moves, and what was derived from the numbers go stale.
  template <std::invocable<std::span<typename B::Scalar>> F>
  void change(F f) {
    changing([&](Scalar* numbers) { f(std::span<Scalar>(numbers, size())); });
  }
  /// The same with the numbers of one parameter, row-major.
  template <std::invocable<std::span<typename B::Scalar>> F>
  void change(const Parameter& p, F f) {
    require_inside(p);
    changing([&](Scalar* numbers) { f(std::span<Scalar>(numbers + p.offset, p.shape.size())); });
  }
  /// Another one after every change, and in no other block unless it was copied.
  std::uint64_t version() const { return version_; }
  void clear() { B::fill(detail::numbers_to_change(*this), size(), Scalar(0)); }

  /// Draws first values: each parameter from a stream of its own, so one more layer changes no other.
  void initialize(const ParameterList& list, std::uint64_t seed) {
    initialize(list, seed, [](const ParameterList::Entry& entry) { return entry.initializer; });
  }
  /// The same by a rule of the caller's, which is called with each `ParameterList::Entry`.
  template <std::invocable<const ParameterList::Entry&> Rule>
  void initialize(const ParameterList& list, std::uint64_t seed, Rule rule) {
    std::vector<double> drawn;
    std::vector<Scalar> host;
    for (const ParameterList::Entry& entry : list.entries()) {
      const Initializer initializer = rule(entry);
      random::Key key = random::key_of(seed, random::Stream::weights);
      for (const char c : entry.name) key = key.derive(static_cast<unsigned char>(c));
      drawn.resize(entry.parameter.shape.size());
      for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = initializer.draw(key, i);
      if (initializer.kind == Initializer::Kind::orthogonal)
        detail::make_orthogonal(drawn, entry.parameter.shape.cols());
      host.assign(drawn.begin(), drawn.end());
      write(entry.parameter, host);
    }
  }

  /// A host copy of one parameter's numbers.
  std::vector<Scalar> read(const Parameter& p) const {
    require_inside(p);
    std::vector<Scalar> host(p.shape.size());
    B::download(storage_.data() + p.offset, host.size(), host.data());
    return host;
  }
  /// The same of the whole block, with the gaps between parameters.
  std::vector<Scalar> read() const {
    std::vector<Scalar> host(size());
    B::download(storage_.data(), host.size(), host.data());
    return host;
  }
  void write(const Parameter& p, std::span<const Scalar> host) {
    detail::require_equal("ParameterBlock", "numbers for " + p.shape.text() + ":", p.shape.size(),
                          host.size());
    require_inside(p);
    B::upload(host.data(), host.size(), detail::numbers_to_change(*this) + p.offset);
  }

 private:
  static std::uint64_t next_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  /// Throws for a parameter of another model that lies beyond this one's.
  void require_inside(const Parameter& p) const {
    if (p.offset > size() || p.shape.size() > size() - p.offset)
      fail("ParameterBlock", "a parameter of this block, which has " + detail::text(size()) + " numbers",
           p.shape.text() + " from number " + detail::text(p.offset) + " on",
           "take parameters from the same model's parameters()");
  }

  /// Calls f with the numbers. They count as changed before and after it, also if it throws: whatever was
  /// derived from them in between is of neither state.
  template <class F>
  void changing(F f) {
    Scalar* numbers = detail::numbers_to_change(*this);
    struct After {
      ParameterBlock& block;
      ~After() { block.version_ = next_version(); }
    } after{*this};
    f(numbers);
  }

  friend const Scalar* detail::numbers<B>(const ParameterBlock& block);
  friend Scalar* detail::numbers_to_change<B>(ParameterBlock& block);

  typename B::template Storage<Scalar> storage_;
  std::uint64_t version_ = 0;
};

namespace detail {

template <Backend B>
const typename B::Scalar* numbers(const ParameterBlock<B>& block) {
  return block.storage_.data();
}
template <Backend B>
typename B::Scalar* numbers_to_change(ParameterBlock<B>& block) {
  block.version_ = ParameterBlock<B>::next_version();
  return block.storage_.data();
}

}  // namespace detail

/// Lets `tape[p]` read weights and, if `gradients` is not null, add to their gradients. The blocks must
/// neither move nor be assigned to while the tape uses them.
template <Backend B>
void bind(Tape<B>& tape, const ParameterBlock<B>& weights, ParameterBlock<B>* gradients = nullptr) {
  tape.bind(detail::numbers(weights), gradients ? detail::numbers_to_change(*gradients) : nullptr);
}

/// A base for models: their parameters, and the numbers of these. A constructor declares all parameters in
/// `scope()`, then calls `initialize`.
template <Backend B>
class Parameterized {
 public:
  using Backend = B;
  const ParameterList& parameters() const { return parameters_; }
  const ParameterBlock<B>& weights() const { return weights_; }
  ParameterBlock<B>& weights() { return weights_; }

 protected:
  Scope scope() { return Scope(parameters_); }
  void initialize(std::uint64_t seed) {
    weights_ = ParameterBlock<B>(parameters_);
    weights_.initialize(parameters_, seed);
  }

 private:
  ParameterList parameters_;
  ParameterBlock<B> weights_{parameters_};
};

}  // namespace bahdanau
