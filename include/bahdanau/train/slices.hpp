// Reduce-scatter, then all-gather: processes add up their blocks, each ends with the sum of one slice, and
// all give theirs back. Slices are halved between partners, which is a balanced tree by rank for every
// number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/map_elements.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau {

/// Elements of a block: those from `begin` up to, not including, `end`.
struct Slice {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

namespace detail {

/// Applies f to n elements as `map_elements` does, a part of them on each thread.
template <Backend B, class F, class... Arguments>
void map_on_threads(Workers* workers, std::size_t n, F f, Arguments... arguments) {
  constexpr std::size_t part = std::size_t{1} << 16;
  if (workers == nullptr || workers->threads() == 1 || n <= part) return map_elements<B>(n, f, arguments...);
  workers->run((n + part - 1) / part, [&](std::size_t i) {
    map_elements<B>(std::min(part, n - i * part), f, shifted(arguments, i * part)...);
  });
}

/// How a block is divided: into parts of a fixed size, whole ones for each process. Of each bit of its rank,
/// from the lowest on, a process takes the lower half of the parts that it has where the bit is 0.
class Division {
 public:
  /// A part of the gradient's norm; slices end where a part does.
  static constexpr std::size_t part = std::size_t{1} << 16;

  Division(const AnyCommunicator& all, std::size_t parts) : all_(all), halves_{{0, parts}} {
    for (std::size_t bit = 1; bit < all.size(); bit *= 2) {
      const Slice had = halves_.back();
      const std::size_t middle = had.begin + had.size() / 2;
      halves_.push_back((all.rank() & bit) == 0 ? Slice{had.begin, middle} : Slice{middle, had.end});
    }
  }
  static std::size_t parts_of(std::size_t n) { return (n + part - 1) / part; }

  const AnyCommunicator& all() const { return all_; }
  /// Times that it is halved, and what this process has after so many; the last is its own.
  std::size_t levels() const { return halves_.size() - 1; }
  Slice after(std::size_t level) const { return halves_[level]; }
  Slice own() const { return halves_.back(); }
  /// What the partner takes when it is halved the level-th time.
  Slice given(std::size_t level) const {
    const Slice had = halves_[level], kept = halves_[level + 1];
    return kept.begin == had.begin ? Slice{kept.end, had.end} : Slice{had.begin, kept.begin};
  }
  std::size_t partner(std::size_t level) const { return all_.rank() ^ (std::size_t{1} << level); }

 private:
  AnyCommunicator all_;
  std::vector<Slice> halves_;
};

/// The elements of some parts, of n.
inline Slice elements_of(Slice parts, std::size_t n, std::size_t part = Division::part) {
  return {std::min(n, parts.begin * part), std::min(n, parts.end * part)};
}

/// Exchanges numbers of a backend: directly where the communicator reaches them, else by way of the host.
template <Backend B>
class NumberExchange {
 public:
  using Scalar = typename B::Scalar;
  /// In one message: few enough to be in a cache still when they are added.
  static constexpr std::size_t most = std::size_t{1} << 18;

  /// At most `most` numbers each way.
  void run(const AnyCommunicator& all, std::size_t partner, std::span<const Scalar> sent,
           std::span<Scalar> received) {
    if constexpr (requires { requires B::host_memory; }) {
      all.exchange(partner, std::as_bytes(sent), std::as_writable_bytes(received));
    } else if (all.reaches_device()) {
      all.exchange_on_device(partner, std::as_bytes(sent), std::as_writable_bytes(received));
    } else {
      sent_.resize(sent.size());
      received_.resize(received.size());
      B::download(sent.data(), sent.size(), sent_.data());
      all.exchange(partner, std::as_bytes(std::span<const Scalar>(sent_)),
                   std::as_writable_bytes(std::span(received_)));
      B::upload(received_.data(), received.size(), received.data());
    }
  }

 private:
  std::vector<Scalar> sent_, received_;
};

/// Calls f(run of a, run of b) for runs of at most `most` elements, perhaps none of one of them.
template <class F>
void for_paired_runs(Slice a, Slice b, std::size_t most, F f) {
  for (std::size_t at = 0; at < std::max(a.size(), b.size()); at += most) {
    const auto run = [&](Slice s) {
      return Slice{std::min(s.end, s.begin + at), std::min(s.end, s.begin + at + most)};
    };
    f(run(a), run(b));
  }
}

/// Gives every process the numbers of all others, one for each part.
inline void all_gather_parts(const Division& division, std::span<double> of_parts) {
  for (std::size_t level = division.levels(); level-- > 0;) {
    const Slice own = division.after(level + 1), theirs = division.given(level);
    division.all().exchange(division.partner(level), std::as_bytes(of_parts.subspan(own.begin, own.size())),
                            std::as_writable_bytes(of_parts.subspan(theirs.begin, theirs.size())));
  }
}

/// Adds up the blocks of all processes; afterwards each has the sum in its own slice, and nothing of use
/// elsewhere.
template <Backend B>
class SliceSum {
 public:
  using Scalar = typename B::Scalar;

  void reduce_scatter(const Division& division, Scalar* block, std::size_t n, Workers& workers) {
    reduce_scatter(division, block, n, workers, [](Slice) {});
  }
  /// The same, while the block is written still: `wait` returns when some elements of it are finished.
  template <class Wait>
  void reduce_scatter(const Division& division, Scalar* block, std::size_t n, Workers& workers, Wait wait) {
    for (std::size_t level = 0; level < division.levels(); ++level) {
      const Slice given = elements_of(division.given(level), n),
                  kept = elements_of(division.after(level + 1), n);
      for_paired_runs(given, kept, most, [&](Slice out, Slice in) {
        if (theirs_.size() < in.size()) theirs_ = Numbers(in.size());
        wait(out);
        exchange_.run(division.all(), division.partner(level), {block + out.begin, out.size()},
                      {theirs_.data(), in.size()});
        wait(in);
        map_on_threads<B>(&workers, in.size(), pointwise::Identity{}, Add<Scalar>{block + in.begin},
                          input(static_cast<const Scalar*>(theirs_.data())));
      });
    }
  }

  /// Gives every process the slices of all others.
  void all_gather(const Division& division, Scalar* block, std::size_t n) {
    for (std::size_t level = division.levels(); level-- > 0;) {
      const Slice own = elements_of(division.after(level + 1), n),
                  theirs = elements_of(division.given(level), n);
      for_paired_runs(own, theirs, most, [&](Slice out, Slice in) {
        exchange_.run(division.all(), division.partner(level), {block + out.begin, out.size()},
                      {block + in.begin, in.size()});
      });
    }
  }

  /// Gives every process its slice of rank 0's block; those that pass others' on need the room for them.
  void scatter_from_first(const Division& division, Scalar* block, std::size_t n) {
    const std::size_t rank = division.all().rank();
    for (std::size_t level = 0; level < division.levels(); ++level) {
      const std::size_t bit = std::size_t{1} << level;
      if (rank >= 2 * bit) continue;  // its partner has nothing yet
      const Slice own = elements_of(division.after(level + 1), n),
                  theirs = elements_of(division.given(level), n);
      const bool receives = (rank & bit) != 0;
      for_paired_runs(receives ? Slice{} : theirs, receives ? own : Slice{}, most, [&](Slice out, Slice in) {
        exchange_.run(division.all(), division.partner(level), {block + out.begin, out.size()},
                      {block + in.begin, in.size()});
      });
    }
  }

  /// Gives them to rank 0 alone; others pass theirs on, and need the room for it.
  void gather_to_first(const Division& division, Scalar* block, std::size_t n) {
    for (std::size_t level = division.levels(); level-- > 0;) {
      const std::size_t bit = std::size_t{1} << level, rank = division.all().rank();
      const Slice own = elements_of(division.after(level + 1), n),
                  theirs = elements_of(division.given(level), n);
      const bool sends = (rank & bit) != 0;
      for_paired_runs(sends ? own : Slice{}, sends ? Slice{} : theirs, most, [&](Slice out, Slice in) {
        exchange_.run(division.all(), division.partner(level), {block + out.begin, out.size()},
                      {block + in.begin, in.size()});
      });
      if (sends) return;
    }
  }

 private:
  using Numbers = typename B::template Storage<Scalar>;
  static constexpr std::size_t most = NumberExchange<B>::most;

  NumberExchange<B> exchange_;
  Numbers theirs_{};
};

/// Gives rank 0's numbers to all.
template <Backend B>
void broadcast_block(const AnyCommunicator& all, ParameterBlock<B>& block) {
  if (!all.several()) return;
  std::vector<typename B::Scalar> host = block.read();
  broadcast(all, std::as_writable_bytes(std::span(host)));
  if (!all.first()) block.write({0, {host.size()}}, host);
}

}  // namespace detail
}  // namespace bahdanau
