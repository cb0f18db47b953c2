// The rules that operations must keep, checked while a tape is recorded and played: Tape::Mode::checked.
// Whoever breaks one gets an error that names the operation, not a wrong gradient.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
    Entry entry{std::string(operation.name), {}, {}, {}};
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
      if ((*v).value != nullptr) entry.values.push_back(checksum(*v));
    entries_.resize(number);
    entries_.push_back(std::move(entry));
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
    playing_ = true;
    current_ = number;
    filled_.clear();
    for (const Checksum& recorded : entries_[number].values)
      if (recorded.hash != hash(recorded.data, recorded.size))
        fail(entries_[number].name, "the values that its adjoint needs", "others",
             "somebody has written over them since");
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
    entries_.clear();
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
  };

  static bool contains(const std::vector<ArrayId>& list, ArrayId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  Checksum checksum(const Variable<B>& v) { return {v.value, v.size(), hash(v.value, v.size())}; }
  std::uint64_t hash(const Scalar* data, std::size_t n) {
    host_.resize(n);
    B::download(data, n, host_.data());
    std::uint64_t h = 14695981039346656037U;  // FNV-1a
    const auto* bytes = reinterpret_cast<const unsigned char*>(host_.data());
    for (std::size_t i = 0; i < n * sizeof(Scalar); ++i) h = (h ^ bytes[i]) * 1099511628211U;
    return h;
  }

  std::vector<Entry> entries_;
  Set weights_;                  // whose gradients come from products
  Set results_;                  // of operations, with an adjoint or without
  std::vector<ArrayId> filled_;  // by the adjoint that is played
  std::vector<Scalar> host_;
  std::size_t current_ = 0;
  bool playing_ = false;
};

}  // namespace bahdanau::detail
