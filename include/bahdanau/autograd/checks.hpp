// The rules that operations must keep, checked while a tape is recorded and played: Tape::Mode::checked.
// Whoever breaks one gets an error that names the operation, not a wrong gradient.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/autograd/operation.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

/// What each operation has said, and whether its adjoint keeps to it.
template <Backend B>
class TapeChecks {
 public:
  using Scalar = typename B::Scalar;

  void note(const Operation<B>& operation, std::size_t number, const Arrays<B>& arrays) {
    if (entries_.size() <= number) entries_.resize(number + 1);
    Entry& entry = entries_[number];
    entry.begin(operation.name);
    for (const auto& named : operation.arguments) {
      const Variable<B>& v = *named;
      if (!v.has_gradient()) continue;
      entry.arguments.push_back(v.array);
      if (arrays.was_taken(v))  // what it has put there
        entry.values.push_back(checksum(v));
    }
    for (const auto& v : operation.results)
      if ((*v).has_gradient()) {
        entry.results.push_back((*v).array);
        results_.add((*v).array);
      }
    for (const auto& v : operation.values)
      if ((*v).has_gradient() && arrays[(*v).array].parameter)
        note_parameter(operation.name, *v);
      else if ((*v).value != nullptr)
        entry.values.push_back(checksum(*v));
  }

  /// An operation writes over a constant; arrays with gradients know that themselves.
  void takes(const Variable<B>& v, std::size_t operation) {
    constants_.push_back({v.value, v.value + v.size(), operation});
  }
  /// Whether another operation has.
  bool was_taken(const Variable<B>& v, std::size_t operation) const {
    return std::any_of(constants_.begin(), constants_.end(), [&](const TakenConstant& taken) {
      return taken.taker != operation && v.value < taken.end && v.value + v.size() > taken.begin;
    });
  }

  /// A result whose gradient is read without an adjoint, or not needed.
  void note_result(ArrayId id) { results_.add(id); }

  /// An adjoint, or a product with a weight, adds to a gradient.
  void fills(ArrayId id) {
    if (!playing_) return weights_.add(id);
    const Entry& entry = entries_[current_];
    if (!contains(entry.arguments, id))
      fail(entry.name, "an adjoint that adds to the gradients of its arguments", "one of another array",
           "name all arguments in record()");
    filled_.push_back(id);
  }
  /// An adjoint reads a gradient.
  void reads(ArrayId id) const {
    if (playing_ && !contains(entries_[current_].results, id))
      fail(entries_[current_].name, "an adjoint that reads the gradients of its results",
           "one of another array", "name all results in record()");
  }

  void before(std::size_t number) {
    if (!playing_) require_parameters();
    playing_ = true;
    current_ = number;
    filled_.clear();
    for (const Checksum& recorded : entries_[number].values) require_same(entries_[number].name, recorded);
  }
  void after(std::size_t number) {
    const Entry& entry = entries_[number];
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      const ArrayId id = entry.arguments[i];
      if (!contains(filled_, id) && !weights_.has(id))
        fail(entry.name, "an adjoint that adds to the gradient of each argument",
             "none for argument " + text(i + 1) + " of those that have one",
             "ask for Gradients::to() of each, or do not name it in record()");
    }
  }
  /// All adjoints were played: gradients that nobody has read were lost on the way.
  void end(const Arrays<B>& arrays) {
    playing_ = false;
    require_parameters();
    for (ArrayId id = 0; id < arrays.size(); ++id) {
      const auto& array = arrays[id];
      if (!array.filled || array.leaf || array.constant || array.step == TapeArray<Scalar>::all_steps)
        continue;
      if (!results_.has(id))
        fail("Tape", "an operation that records an adjoint for each result",
             "an array of " + text(array.size) + " whose gradient nobody reads",
             "name it among the results in record()");
    }
  }

  void clear() {
    constants_.clear();
    parameters_.clear();
    weights_ = {};
    results_ = {};
    playing_ = false;
  }

 private:
  /// Some of the arrays.
  struct Set {
    std::vector<char> in;
    void add(ArrayId id) {
      if (in.size() <= id) in.resize(id + 1, 0);
      in[id] = 1;
    }
    bool has(ArrayId id) const { return id < in.size() && in[id] != 0; }
  };
  struct Checksum {
    const Scalar* data;
    std::size_t size;
    std::uint64_t hash;
  };
  struct Entry {
    std::string name;
    std::vector<ArrayId> arguments, results;
    std::vector<Checksum> values;
    /// Forgets the pass before, but keeps the memory.
    void begin(std::string_view who) {
      name = who;
      arguments.clear();
      results.clear();
      values.clear();
    }
  };
  struct TakenConstant {
    const Scalar *begin, *end;
    std::size_t taker;
  };
  struct ReadParameter {
    std::string name;  // of the first operation whose adjoint reads it
    Checksum value;
  };

  static bool contains(const std::vector<ArrayId>& list, ArrayId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  Checksum checksum(const Variable<B>& v) { return {v.value, v.size(), hash(v.value, v.size())}; }
  void require_same(const std::string& name, const Checksum& recorded) {
    if (recorded.hash != hash(recorded.data, recorded.size))
      fail(name, "the values that its adjoint needs", "others", "somebody has written over them since");
  }

  /// Parameters are read at every step, and nobody may write to them before all adjoints were played: they
  /// are compared before the first of these and after the last.
  void note_parameter(std::string_view name, const Variable<B>& v) {
    for (const ReadParameter& known : parameters_)
      if (known.value.data == v.value && known.value.size == v.size()) return;
    parameters_.push_back({std::string(name), checksum(v)});
  }
  void require_parameters() {
    for (const ReadParameter& p : parameters_) require_same(p.name, p.value);
  }

  /// Of the bits: by pieces that stay in a cache, and by numbers, in lanes that do not wait for one another.
  std::uint64_t hash(const Scalar* data, std::size_t n) {
    constexpr std::size_t piece = 4096;
    std::array<std::uint64_t, 8> lanes{};
    for (std::size_t begin = 0; begin < n; begin += piece) {
      const std::size_t count = std::min(piece, n - begin);
      if (host_.size() < count) host_.resize(count);
      B::download(data + begin, count, host_.data());
      std::size_t i = 0;
      for (; i + lanes.size() <= count; i += lanes.size())
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) stir(lanes[lane], bits(host_[i + lane]));
      for (std::size_t lane = 0; i + lane < count; ++lane) stir(lanes[lane], bits(host_[i + lane]));
    }
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes) stir(all, lane);
    return all;
  }
  static std::uint64_t bits(Scalar x) {
    return std::bit_cast<std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>>(x);
  }
  /// One to one, so that no single change is lost. High bits reach the low ones: a sign would else leave a
  /// trace that a second one wipes out.
  static void stir(std::uint64_t& sum, std::uint64_t word) {
    sum = (sum ^ word) * 0xbf58476d1ce4e5b9U;
    sum ^= sum >> 32;
  }

  std::vector<Entry> entries_;
  std::vector<TakenConstant> constants_;
  std::vector<ReadParameter> parameters_;
  Set weights_;                  // whose gradients come from products
  Set results_;                  // of operations, with an adjoint or without
  std::vector<ArrayId> filled_;  // by the adjoint that is played
  std::vector<Scalar> host_;
  std::size_t current_ = 0;
  bool playing_ = false;
};

}  // namespace bahdanau::detail
