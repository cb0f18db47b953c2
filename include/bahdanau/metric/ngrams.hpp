// N-grams of several rows of tokens, as numbers: equal n-grams have equal ones, whatever the tokens are.
// An n-gram of one token more is a pair of numbers, so that no long ones are ever compared.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <bahdanau/core/random.hpp>

namespace bahdanau::detail {

/// How many n-grams a row of tokens has: max(0, tokens - n + 1).
constexpr std::size_t ngram_count(std::size_t tokens, std::size_t n) {
  return tokens < n ? 0 : tokens - n + 1;
}

/// Numbers keys from 0 on, in the order in which they come: a hash table with open addressing.
template <class Key>
class Numbering {
 public:
  /// For at most so many keys.
  explicit Numbering(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  /// The number of a key, a new one if it has none yet.
  std::uint32_t of(const Key& key) {
    const std::size_t last = slots_.size() - 1;
    for (std::size_t i = random::mix(std::hash<Key>{}(key)) & last;; i = (i + 1) & last) {
      Slot& slot = slots_[i];
      if (slot.number == none) slot = {key, count_++};
      if (slot.key == key) return slot.number;
    }
  }
  /// How many keys have one.
  std::size_t count() const { return count_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    Key key = {};
    std::uint32_t number = none;
  };
  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

/// The n-grams of some rows, at first those of single tokens.
class Ngrams {
 public:
  /// Numbers the tokens of all rows, of a type that can be hashed.
  template <class Token>
  explicit Ngrams(const std::vector<std::vector<Token>>& rows) {
    std::size_t size = 0;
    for (const std::vector<Token>& row : rows) {
      begins_.push_back(size);
      lengths_.push_back(row.size());
      size += row.size();
    }
    tokens_.reserve(size);
    Numbering<Token> numbering(size);
    for (const std::vector<Token>& row : rows)
      for (const Token& token : row) tokens_.push_back(numbering.of(token));
    distinct_ = numbering.count();
    ngrams_ = tokens_;
  }

  /// Makes the n-grams longer by a token.
  void lengthen() {
    Numbering<std::uint64_t> numbering(tokens_.size());
    for (std::size_t row = 0; row < begins_.size(); ++row) {
      const std::size_t end = begins_[row] + ngram_count(lengths_[row], n_ + 1);
      for (std::size_t i = begins_[row]; i < end; ++i)
        ngrams_[i] = numbering.of(std::uint64_t{ngrams_[i]} << 32U | tokens_[i + n_]);
    }
    distinct_ = numbering.count();
    ++n_;
  }

  /// How many n-grams a row has.
  std::size_t size(std::size_t row) const { return ngram_count(lengths_[row], n_); }

  /// The numbers of a row's n-grams.
  std::span<const std::uint32_t> numbers(std::size_t row) const {
    return std::span(ngrams_).subspan(begins_[row], size(row));
  }

  /// How often each n-gram is in a row.
  std::vector<std::uint32_t> counts(std::size_t row) const {
    std::vector<std::uint32_t> result(distinct_);
    for (const std::uint32_t ngram : numbers(row)) ++result[ngram];
    return result;
  }

  /// Σ over the n-grams of min(count in a, count in b): the size of the multisets' intersection.
  static std::size_t matches(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::min(a[i], b[i]);
    return sum;
  }

 private:
  std::size_t n_ = 1;
  std::size_t distinct_ = 0;           // n-grams
  std::vector<std::size_t> begins_;    // [row], the place of its first token among all
  std::vector<std::size_t> lengths_;   // [row], in tokens
  std::vector<std::uint32_t> tokens_;  // [place]
  std::vector<std::uint32_t> ngrams_;  // [place], the n-gram that begins there
};

}  // namespace bahdanau::detail
