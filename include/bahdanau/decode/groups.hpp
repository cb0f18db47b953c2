// How many sentences are decoded together: enough for fast products, and never more than memory bears.
// Where the company of a sentence changes its last bits, the number of threads does not choose the company.
#pragma once

#include <algorithm>
#include <cstddef>

#include <bahdanau/backend/packed_products.hpp>

namespace bahdanau::detail {

/// What the products of a backend allow.
struct GroupRule {
  bool any_size;     // a row has the same bits in any company
  std::size_t rows;  // sentences of a group where it has not
  bool one_thread;   // the device is busy with one group

  template <Backend B>
  static GroupRule of() {
    return {PackedProducts<B>::packs(), SpreadingBackend<B> ? std::size_t{256} : std::size_t{32},
            SpreadingBackend<B>};
  }
  /// That of backends which work on the same groups.
  GroupRule with(const GroupRule& other) const {
    return {any_size && other.any_size, std::min(rows, other.rows), one_thread || other.one_thread};
  }
  /// How many threads are of use, where so many were asked for.
  std::size_t threads(std::size_t asked) const { return one_thread ? 1 : asked; }
};

/// Cuts sentences into groups, each decoded as one batch. Their sizes are bounded, so that any number of
/// sentences takes little more memory than their translations.
///
/// Where a backend's products give a row the same bits in any company, groups follow the threads; else they
/// are cut by the sentences alone, so that the threads change nothing.
class Grouper {
 public:
  Grouper(const GroupRule& rule, std::size_t sentences, std::size_t threads) : rows_(rule.rows) {
    if (rule.any_size) {
      constexpr std::size_t fewest = 8, most = 256;  // sentences: enough rows for fast products
      std::size_t groups = std::clamp<std::size_t>(sentences / fewest, 1, threads);
      if (sentences > groups * most) groups = ((sentences + most - 1) / most + groups - 1) / groups * groups;
      rows_ = (sentences + groups - 1) / groups;
    }
  }

  /// Whether a group of so many sentences and tokens is full for one with so many more.
  bool full(std::size_t sentences, std::size_t tokens, std::size_t more_tokens) const {
    constexpr std::size_t most_tokens = 8192;
    return sentences > 0 && (sentences >= rows_ || tokens + more_tokens > most_tokens);
  }

 private:
  std::size_t rows_;
};

}  // namespace bahdanau::detail
