// Parameters that a training leaves as they are, chosen by name.
// Whatever the optimizer is: they have no gradient, and what it may do to them all the same is undone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau::detail {

/// Whether a name fits a pattern in which `*` stands for any characters.
constexpr bool fits_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= name.size(); ++i)
    if (fits_pattern(name.substr(i), rest)) return true;
  return false;
}

template <Backend B>
class FixedParameters {
 public:
  /// Throws for a pattern that no parameter fits, and where none is left to train.
  FixedParameters(const ParameterList& list, std::span<const std::string> patterns) {
    std::vector<bool> used(patterns.size());
    for (const ParameterList::Entry& entry : list.entries()) {
      bool fixed = false;
      for (std::size_t i = 0; i < patterns.size(); ++i)
        if (fits_pattern(entry.name, patterns[i])) fixed = used[i] = true;
      if (fixed) parameters_.push_back(entry.parameter);
    }
    for (std::size_t i = 0; i < patterns.size(); ++i)
      if (!used[i])
        fail("fixed", "the name of a parameter, or a pattern with * that some have", quote(patterns[i]),
             "the model's are from " + list.entries().front().name + " to " + list.entries().back().name);
    if (!patterns.empty() && parameters_.size() == list.entries().size())
      fail("fixed", "parameters that are left to train", "patterns that all of them fit");
    std::size_t total = 0;
    for (const Parameter& p : parameters_) total += p.shape.size();
    kept_ = typename B::template Storage<Scalar>(total);
  }

  bool any() const { return !parameters_.empty(); }

  /// They have no part in the gradient, nor in its norm.
  void clear(ParameterBlock<B>& gradients) const {
    for (const Parameter& p : parameters_)
      B::fill(numbers_to_change(gradients) + p.offset, p.shape.size(), Scalar(0));
  }
  void keep(const ParameterBlock<B>& weights) {
    each([&](const Parameter& p, std::size_t at) {
      B::copy(numbers(weights) + p.offset, p.shape.size(), kept_.data() + at);
    });
  }
  /// A decay of weights, say, has moved them.
  void restore(ParameterBlock<B>& weights) const {
    each([&](const Parameter& p, std::size_t at) {
      B::copy(kept_.data() + at, p.shape.size(), numbers_to_change(weights) + p.offset);
    });
  }

 private:
  using Scalar = typename B::Scalar;

  template <class F>
  void each(F f) const {
    std::size_t at = 0;
    for (const Parameter& p : parameters_) {
      f(p, at);
      at += p.shape.size();
    }
  }

  std::vector<Parameter> parameters_;
  typename B::template Storage<Scalar> kept_{0};
};

}  // namespace bahdanau::detail
