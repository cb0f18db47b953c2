// Phrases that are looked for in a row of tokens while it grows: which of them has just ended, and how far
// another one has come. The automaton of Aho and Corasick, 1975: one step a token, however many phrases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/token.hpp>

namespace bahdanau::detail {

/// A node stands for the longest end of the row with which some phrase begins; 0 is the empty one.
class PhraseAutomaton {
 public:
  using Node = std::uint32_t;
  using Set = std::uint64_t;  // of required phrases, each a bit
  static constexpr std::size_t most_required = 64;

  /// A phrase that a row must not have.
  void forbid(std::span<const Token> phrase) { nodes_[path(phrase)].forbidden = true; }
  /// One that it must have; at most `most_required` of them.
  void require(std::span<const Token> phrase) {
    const Set bit = Set{1} << lengths_.size();
    lengths_.push_back(phrase.size());
    for (std::size_t depth = 1; depth <= phrase.size(); ++depth)
      nodes_[path(phrase.first(depth))].begins |= bit;
    nodes_[path(phrase)].ends |= bit;
  }
  /// Once all phrases are there, before the first step.
  void finish(std::size_t vocabulary) {
    if (nodes_.empty()) return;
    known_.assign(vocabulary, false);
    first_.assign(vocabulary, 0);
    for (const auto& [token, child] : nodes_[0].children) first_[static_cast<std::size_t>(token)] = child;
    std::vector<Node> order{0};  // shorter ones first
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const auto& [token, child] : nodes_[order[i]].children) {
        known_[static_cast<std::size_t>(token)] = true;
        Entry& entry = nodes_[child];
        entry.shorter = order[i] == 0 ? 0 : next(nodes_[order[i]].shorter, token);
        // What a shorter end is, the row's end is too.
        entry.forbidden = entry.forbidden || nodes_[entry.shorter].forbidden;
        entry.ends |= nodes_[entry.shorter].ends;
        order.push_back(child);
      }
  }

  /// Whether a token is in some phrase; any other leads to the empty end.
  bool knows(Token token) const { return !known_.empty() && known_[static_cast<std::size_t>(token)]; }
  /// Where a token leads.
  Node next(Node node, Token token) const {
    if (known_.empty()) return 0;
    for (; node != 0; node = nodes_[node].shorter)
      for (const auto& [following, child] : nodes_[node].children)
        if (following == token) return child;
    return first_[static_cast<std::size_t>(token)];
  }
  /// Whether a forbidden phrase has just ended.
  bool forbidden(Node node) const { return !nodes_.empty() && nodes_[node].forbidden; }
  /// The required phrases that have.
  Set ended(Node node) const { return nodes_.empty() ? 0 : nodes_[node].ends; }

  /// All required phrases, and the tokens that they have together.
  Set all() const { return lengths_.size() == most_required ? ~Set{0} : (Set{1} << lengths_.size()) - 1; }
  std::size_t tokens() const {
    std::size_t total = 0;
    for (const std::size_t length : lengths_) total += length;
    return total;
  }
  /// How many tokens of those are there: of the phrases that are met, and of the one among the others that
  /// has come farthest.
  std::size_t progress(Node node, Set met) const {
    if (nodes_.empty()) return 0;
    std::size_t total = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i)
      if ((met >> i & 1U) != 0) total += lengths_[i];
    while ((nodes_[node].begins & ~met) == 0 && node != 0) node = nodes_[node].shorter;
    return total + nodes_[node].depth;
  }

 private:
  struct Entry {
    std::vector<std::pair<Token, Node>> children;
    Node shorter = 0;          // the longest end of it that is a node too
    std::size_t depth = 0;     // tokens
    Set ends = 0, begins = 0;  // required phrases that end here, and those that begin so
    bool forbidden = false;
  };

  /// The node of a phrase, made if it is not there.
  Node path(std::span<const Token> phrase) {
    if (nodes_.empty()) nodes_.emplace_back();
    Node node = 0;
    for (const Token token : phrase) {
      const auto& children = nodes_[node].children;
      const auto place =
          std::lower_bound(children.begin(), children.end(), token,
                           [](const std::pair<Token, Node>& child, Token t) { return child.first < t; });
      if (place != children.end() && place->first == token) {
        node = place->second;
        continue;
      }
      const auto child = static_cast<Node>(nodes_.size());
      nodes_[node].children.insert(place, {token, child});
      nodes_.push_back({.children = {}, .depth = nodes_[node].depth + 1});
      node = child;
    }
    return node;
  }

  std::vector<Entry> nodes_;  // none without phrases
  std::vector<Node> first_;   // where each token leads from the empty end
  std::vector<bool> known_;
  std::vector<std::size_t> lengths_;  // of the required phrases
};

}  // namespace bahdanau::detail
