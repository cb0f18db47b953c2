// Word alignments: which words of two sentences translate one another.
// A set of links, kept in order; where they come from and where they go is in the other files of this room.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace bahdanau {

/// A link between a source and a target word, both counted from 0. Who has aligned by hand may have called it
/// only possible.
struct Link {
  std::size_t source = 0, target = 0;
  bool sure = true;

  auto operator<=>(const Link&) const = default;
};

/// The links of a sentence pair, each place once, by source and then by target. Of a place that is given
/// twice, a sure link is the one that stays.
class Alignment {
 public:
  Alignment() = default;
  Alignment(std::initializer_list<Link> links) : Alignment(std::vector<Link>(links)) {}
  /// Of links in any order.
  explicit Alignment(std::vector<Link> links) : links_(std::move(links)) {
    const auto place = [](const Link& link) { return std::pair(link.source, link.target); };
    // Of equal places the sure one comes first, and stays.
    std::sort(links_.begin(), links_.end(), [&](const Link& a, const Link& b) {
      return place(a) != place(b) ? place(a) < place(b) : a.sure && !b.sure;
    });
    const auto repeated = [&](const Link& a, const Link& b) { return place(a) == place(b); };
    links_.erase(std::unique(links_.begin(), links_.end(), repeated), links_.end());
  }

  /// Whether there is a link, sure or only possible.
  bool has(std::size_t source, std::size_t target) const { return find(source, target) != nullptr; }
  bool has_sure(std::size_t source, std::size_t target) const {
    const Link* link = find(source, target);
    return link != nullptr && link->sure;
  }

  std::span<const Link> links() const& { return links_; }
  std::span<const Link> links() && = delete;  // they would be gone before they are read
  std::size_t size() const { return links_.size(); }
  bool empty() const { return links_.empty(); }

  /// The same links between the sentences in the other order.
  Alignment transposed() const {
    std::vector<Link> out;
    for (const Link& link : links_) out.push_back({link.target, link.source, link.sure});
    return Alignment(std::move(out));
  }

  bool operator==(const Alignment&) const = default;

 private:
  const Link* find(std::size_t source, std::size_t target) const {
    const auto at = std::lower_bound(links_.begin(), links_.end(), Link{source, target, false});
    return at != links_.end() && at->source == source && at->target == target ? &*at : nullptr;
  }

  std::vector<Link> links_;  // sorted
};

}  // namespace bahdanau
