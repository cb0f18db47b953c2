// How many sentences are decoded together: enough for fast products, and never more than memory bears.
// Where the company of a sentence changes its last bits, the number of threads does not choose the company.
#pragma once

#include <algorithm>
#include <cstddef>

#include <bahdanau/backend/packed_products.hpp>

namespace bahdanau::detail {

/// Cuts sentences into groups, each decoded as one batch. Their sizes are bounded, so that any number of
/// sentences takes little more memory than their translations.
///
/// Where a backend's products give a row the same bits in any company, groups follow the threads; else they
/// are cut by the sentences alone, so that the threads change nothing.
template <Backend B>
class Grouper {
 public:
  Grouper(std::size_t sentences, std::size_t threads) {
    if (PackedProducts<B>::packs()) {
      constexpr std::size_t fewest = 8, most = 256;  // sentences: enough rows for fast products
      std::size_t groups = std::clamp<std::size_t>(sentences / fewest, 1, threads);
      if (sentences > groups * most) groups = ((sentences + most - 1) / most + groups - 1) / groups * groups;
      rows_ = (sentences + groups - 1) / groups;
    } else {
      rows_ = SpreadingBackend<B> ? 256 : 32;
    }
  }

  /// Whether a group of so many sentences and tokens is full for one with so many more.
  bool full(std::size_t sentences, std::size_t tokens, std::size_t more_tokens) const {
    constexpr std::size_t most_tokens = 8192;
    return sentences > 0 && (sentences >= rows_ || tokens + more_tokens > most_tokens);
  }

 private:
  std::size_t rows_ = 1;
};

}  // namespace bahdanau::detail
