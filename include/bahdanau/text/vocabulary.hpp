// The tokens that a model knows, each with its number, and the way from one to the other.
// The order is part of the model: row i of an embedding belongs to token i.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau {
namespace detail {

/// Hashes a string and a view of it alike, so that a lookup copies nothing.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace detail

/// Counts tokens while a text is read: a number for each distinct one, in the order of first appearance.
class TokenCounter {
 public:
  TokenCounter() = default;
  /// A copy stands alone: its tokens are those of its own map.
  TokenCounter(const TokenCounter& other)
      : numbers_(other.numbers_), tokens_(other.tokens_.size()), counts_(other.counts_) {
    for (const auto& [token, number] : numbers_) tokens_[number] = &token;
  }
  /// What was moved from counts nothing, and may go on.
  TokenCounter(TokenCounter&& other) noexcept { swap(other); }
  TokenCounter& operator=(TokenCounter other) noexcept {
    swap(other);
    return *this;
  }
  ~TokenCounter() = default;

  /// The token's number; counts it, so many times.
  std::uint32_t number(const std::string& token, std::size_t times = 1) {
    const auto [place, inserted] = numbers_.try_emplace(token, static_cast<std::uint32_t>(tokens_.size()));
    if (inserted) {
      tokens_.push_back(&place->first);  // a map's keys stay where they are
      counts_.push_back(0);
    }
    counts_[place->second] += times;
    return place->second;
  }

  std::size_t size() const { return tokens_.size(); }
  const std::string& token(std::size_t number) const { return *tokens_[number]; }
  std::size_t count(std::size_t number) const { return counts_[number]; }
  /// How often a token was counted; 0 for one that was not.
  std::size_t count_of(const std::string& token) const {
    const auto found = numbers_.find(token);
    return found == numbers_.end() ? 0 : counts_[found->second];
  }

 private:
  void swap(TokenCounter& other) noexcept {
    numbers_.swap(other.numbers_);  // whose keys stay where they are
    tokens_.swap(other.tokens_);
    counts_.swap(other.counts_);
  }

  detail::StringMap<std::uint32_t> numbers_;
  std::vector<const std::string*> tokens_;
  std::vector<std::size_t> counts_;
};

/// Distinct tokens, the four reserved ones first; a token's index is its id.
class Vocabulary {
 public:
  /// Takes the tokens in the order of their ids; throws if the reserved ones are not the first four, in
  /// order, if a token stands twice, and for one that is not UTF-8 or holds control characters: it would end
  /// lines and steer terminals where translations are written.
  explicit Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
    require_size(tokens_.size());
    ids_.reserve(tokens_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& token = tokens_[i];
      if (i < reserved::names.size() && token != reserved::names[i]) {
        fail("Vocabulary", "token " + detail::text(i) + " to be \"" + std::string(reserved::names[i]) + "\"",
             detail::quote(token), reserved_hint);
      }
      const std::string where = "Vocabulary: token " + detail::text(i);
      for (std::size_t at = 0; at < token.size();) {
        const auto [value, bytes] = detail::code_point(where, token, at);
        if (detail::is_control(value)) fail(where, "no control characters", detail::quote(token));
        at += bytes;
      }
      auto [place, inserted] = ids_.emplace(token, static_cast<Token>(i));
      if (!inserted) {
        fail("Vocabulary", "distinct tokens",
             detail::quote(token) + " as " + detail::text(place->second) + " and " + detail::text(i));
      }
    }
  }

  /// The tokens seen at least `min_frequency` times: the most frequent first, equals by their first
  /// appearance. Throws for a token that is not UTF-8.
  static Vocabulary build(std::span<const std::vector<std::string>> sentences, std::size_t min_frequency) {
    TokenCounter counter;
    for (const std::vector<std::string>& sentence : sentences)
      for (const std::string& token : sentence) counter.number(token);
    return of_counts(counter, min_frequency);
  }
  static Vocabulary of_counts(const TokenCounter& counter, std::size_t min_frequency) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < counter.size(); ++i) {
      // The reserved ones have their places, even if the text has some.
      const bool is_reserved = std::find(reserved::names.begin(), reserved::names.end(), counter.token(i)) !=
                               reserved::names.end();
      if (counter.count(i) >= std::max<std::size_t>(min_frequency, 1) && !is_reserved) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return counter.count(a) != counter.count(b) ? counter.count(a) > counter.count(b) : a < b;
    });
    std::vector<std::string> tokens(reserved::names.begin(), reserved::names.end());
    for (const std::size_t i : order) tokens.push_back(counter.token(i));
    return Vocabulary(std::move(tokens));
  }

  /// The reserved tokens, then all pieces of a model of subwords that are none of them.
  static Vocabulary of_pieces(const std::vector<std::string>& pieces) {
    std::vector<std::string> tokens(reserved::names.begin(), reserved::names.end());
    for (const std::string& piece : pieces)
      if (std::find(reserved::names.begin(), reserved::names.end(), piece) == reserved::names.end())
        tokens.push_back(piece);
    return Vocabulary(std::move(tokens));
  }

  /// These tokens, and behind them those of another vocabulary that are not among them.
  Vocabulary extended(const Vocabulary& other) const {
    std::vector<std::string> tokens = tokens_;
    for (const std::string& token : other.tokens())
      if (!contains(token)) tokens.push_back(token);
    return Vocabulary(std::move(tokens));
  }

  /// A vocabulary for plain ids: the reserved tokens, then "4", "5" and so on; throws for a size below 4.
  static Vocabulary numbered(std::size_t size) {
    require_size(size);
    std::vector<std::string> tokens(reserved::names.begin(), reserved::names.end());
    while (tokens.size() < size) tokens.push_back(detail::text(tokens.size()));
    return Vocabulary(std::move(tokens));
  }

  std::size_t size() const { return tokens_.size(); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  bool contains(std::string_view token) const { return ids_.contains(token); }

  /// The token's id, or `reserved::unk` if it is not known.
  Token id(std::string_view token) const {
    auto found = ids_.find(token);
    return found == ids_.end() ? reserved::unk : found->second;
  }

  /// The token with that id; throws if there is none.
  const std::string& token(Token id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens_.size()) {
      fail("Vocabulary", "an id from 0 to " + detail::text(tokens_.size() - 1), detail::text(id));
    }
    return tokens_[static_cast<std::size_t>(id)];
  }

  /// The ids of a sentence's tokens, `reserved::unk` for those not known.
  std::vector<Token> encode(const std::vector<std::string>& sentence) const {
    std::vector<Token> result;
    result.reserve(sentence.size());
    for (const std::string& token : sentence) result.push_back(id(token));
    return result;
  }

  bool operator==(const Vocabulary& other) const { return tokens_ == other.tokens_; }

 private:
  static void require_size(std::size_t size) {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Token>::max());
    if (size > most) fail("Vocabulary", "at most " + detail::text(most) + " tokens", detail::text(size));
    if (size >= reserved::names.size()) return;
    fail("Vocabulary", "at least 4 tokens", detail::text(size), reserved_hint);
  }

  static constexpr std::string_view reserved_hint = "the first four are <unk> <pad> <bos> <eos>";

  std::vector<std::string> tokens_;
  detail::StringMap<Token> ids_;
};

}  // namespace bahdanau
