// Named parameters: what a model is made of, in one flat block of memory.
// Layers hold `Parameter`s (a place and a shape); values, gradients and moments are parallel blocks.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau {

/// How a parameter's first values are drawn.
struct Initializer {
  enum class Kind { zero, uniform, normal, orthogonal, constant } kind = Kind::zero;
  double scale = 0;  // the bound of the uniform, the deviation of the normal distribution, a factor, a value

  /// U(±√(6 / (fan_in + fan_out))) for a matrix [fan_out, fan_in], however many gates are stacked in it.
  static Initializer xavier_uniform(std::size_t fan_out, std::size_t fan_in) {
    return {Kind::uniform, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out))};
  }
  /// U(±1/√fan).
  static Initializer uniform_fan(std::size_t fan) {
    return {Kind::uniform, 1.0 / std::sqrt(static_cast<double>(fan))};
  }
  static Initializer standard_normal() { return {Kind::normal, 1.0}; }
  static Initializer zeros() { return {}; }
  static Initializer constant(double value) { return {Kind::constant, value}; }
  static Initializer normal(double deviation) { return {Kind::normal, deviation}; }
  static Initializer uniform(double bound) { return {Kind::uniform, bound}; }
  /// Each square block of a matrix, one per gate, is a rotation or reflection drawn without preference.
  static Initializer orthogonal() { return {Kind::orthogonal, 1.0}; }

  /// Element i. An orthogonal matrix begins as a normal one: see nn/orthogonal.hpp.
  double draw(random::Key key, std::size_t i) const {
    if (kind == Kind::zero) return 0;
    if (kind == Kind::constant) return scale;
    return scale * (kind == Kind::uniform ? 2.0 * key.uniform(i) - 1.0 : key.normal(i));
  }
};

/// The names, places and shapes of a model's parameters, in the order in which they were declared.
class ParameterList {
 public:
  struct Entry {
    std::string name;
    Parameter parameter;
    Initializer initializer;
  };

  [[gnu::noinline]] Parameter add(std::string name, Shape shape, Initializer initializer) {
    if (!names_.insert(name).second) fail("ParameterList", "distinct names", detail::quote(name) + " twice");
    const Parameter parameter{size_, shape};
    size_ += (shape.size() + alignment - 1) / alignment * alignment;
    entries_.push_back({std::move(name), parameter, initializer});
    return parameter;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  /// Elements of the flat block; gaps between parameters hold 0 and stay 0.
  std::size_t size() const { return size_; }
  /// Elements of the parameters themselves.
  std::size_t count() const {
    std::size_t total = 0;
    for (const Entry& entry : entries_) total += entry.parameter.shape.size();
    return total;
  }

 private:
  static constexpr std::size_t alignment = 16;  // elements: every parameter starts on a cache line
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::size_t size_ = 0;
};

/// Declares parameters under a common prefix and suffix: `encoder.rnn.` + `weight_ih` + `_l0_reverse`.
// Its calls are not inlined: models are made of many, and each is the same work on strings.
class Scope {
 public:
  explicit Scope(ParameterList& list, std::string prefix = {}, std::string suffix = {})
      : list_(&list), prefix_(std::move(prefix)), suffix_(std::move(suffix)) {}

  /// A scope below this one.
  [[gnu::noinline]] Scope in(std::string_view prefix, std::string_view suffix = {}) const {
    return Scope(*list_, prefix_ + std::string(prefix), suffix_ + std::string(suffix));
  }
  /// A weight matrix [outputs, inputs], Xavier-uniform.
  [[gnu::noinline]] Parameter matrix(std::string_view name, std::size_t outputs, std::size_t inputs) {
    return add(name, {outputs, inputs}, Initializer::xavier_uniform(outputs, inputs));
  }
  /// A vector [size], uniform within ±1/√fan.
  [[gnu::noinline]] Parameter bias(std::string_view name, std::size_t size, std::size_t fan) {
    return add(name, {size}, Initializer::uniform_fan(fan));
  }
  [[gnu::noinline]] Parameter add(std::string_view name, Shape shape, Initializer initializer) {
    return list_->add(prefix_ + std::string(name) + suffix_, shape, initializer);
  }

 private:
  ParameterList* list_;
  std::string prefix_, suffix_;
};

}  // namespace bahdanau
