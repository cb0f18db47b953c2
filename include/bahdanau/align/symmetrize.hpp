// One alignment from two, made by a model of each direction: where both agree it is precise, together they
// miss little. The heuristics are those of Koehn, Och and Marcu (2003) and Koehn et al. (2005).
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/align/alignment.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau {

/// How two alignments become one; `either` is their union.
enum class Symmetrization { intersection, either, grow_diag, grow_diag_final, grow_diag_final_and };

namespace detail {

inline constexpr std::array<std::string_view, 5> symmetrization_names = {
    "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"};

/// Links that grow, and which words have one. Visited target by target, and source by source in each.
class GrowingLinks {
 public:
  using Place = std::pair<std::size_t, std::size_t>;  // target, source

  explicit GrowingLinks(const Alignment& start) {
    for (const Link& link : start.links()) add({link.target, link.source});
  }

  /// Until nothing is new: adds each neighbour of a link, diagonal ones too, that is in `either` and has a
  /// word without a link.
  void grow_diag(const Alignment& either) {
    constexpr std::array<std::pair<int, int>, 8> neighbours = {
        {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
    for (std::size_t before = 0; before != places_.size();) {
      before = places_.size();
      for (const Place& place : places_)  // those that are added behind it are visited, too
        for (const auto& [down, right] : neighbours) {
          const Place next{place.first + static_cast<std::size_t>(down),  // below 0: no link is so far out
                           place.second + static_cast<std::size_t>(right)};
          if (either.has(next.second, next.first) && (free_target(next) || free_source(next))) add(next);
        }
    }
  }

  /// Adds links of one direction with a word that has none; or, with `both`, whose words have none.
  void finish(const Alignment& direction, bool both) {
    const Alignment by_target = direction.transposed();
    for (const Link& link : by_target.links()) {
      const Place place{link.source, link.target};
      const bool target = free_target(place), source = free_source(place);
      if (both ? target && source : target || source) add(place);
    }
  }

  Alignment alignment() const {
    std::vector<Link> out;
    for (const auto& [target, source] : places_) out.push_back({source, target});
    return Alignment(std::move(out));
  }

 private:
  void add(const Place& place) {
    places_.insert(place);
    targets_.insert(place.first);
    sources_.insert(place.second);
  }
  bool free_target(const Place& place) const { return !targets_.contains(place.first); }
  bool free_source(const Place& place) const { return !sources_.contains(place.second); }

  std::set<Place> places_;
  std::set<std::size_t> targets_, sources_;  // that have a link
};

}  // namespace detail

/// The name as papers and other tools write it.
inline std::string_view name(Symmetrization how) {
  return detail::symmetrization_names[static_cast<std::size_t>(how)];
}

/// Throws, with the choices, for a name that is none.
inline Symmetrization symmetrization_from_name(std::string_view name) {
  std::string choices;
  for (std::size_t i = 0; i < detail::symmetrization_names.size(); ++i) {
    if (detail::symmetrization_names[i] == name) return static_cast<Symmetrization>(i);
    choices += (i == 0 ? "" : ", ") + std::string(detail::symmetrization_names[i]);
  }
  fail("symmetrization", "one of " + choices, detail::quote(name));
}

/// Makes one alignment of two. `forward` is that of a model from source to target, `backward` that of one
/// from target to source, `transposed()`, so that both link (source, target). grow-diag starts from the
/// intersection and adds neighbours that are in the union and link a word that has no link yet; final adds,
/// first of `forward` and then of `backward`, what links such a word, and final-and what links two.
inline Alignment symmetrize(const Alignment& forward, const Alignment& backward, Symmetrization how) {
  std::vector<Link> shared, all(forward.links().begin(), forward.links().end());
  for (const Link& link : backward.links()) {
    if (forward.has(link.source, link.target)) shared.push_back(link);
    all.push_back(link);
  }
  const Alignment both(std::move(shared)), either(std::move(all));
  if (how == Symmetrization::intersection) return both;
  if (how == Symmetrization::either) return either;
  detail::GrowingLinks links(both);
  links.grow_diag(either);
  if (how != Symmetrization::grow_diag) {
    links.finish(forward, how == Symmetrization::grow_diag_final_and);
    links.finish(backward, how == Symmetrization::grow_diag_final_and);
  }
  return links.alignment();
}

}  // namespace bahdanau
