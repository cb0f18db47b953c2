// What processes do together, made of exchanges between two: sums in a fixed order, broadcasts, barriers, and
// errors of which all know. Numbers of processes are powers of two, so partners are found by one bit of a
// rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/settings.hpp>
#include <bahdanau/distributed/communicator.hpp>

namespace bahdanau {

namespace detail {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> bytes_to_change(T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Throws unless partners can be found by the bits of a rank.
inline void require_power_of_two(const AnyCommunicator& all) {
  if ((all.size() & (all.size() - 1)) != 0)
    fail("communicator", "a power of two of processes", text(all.size()), "mpirun -n 2, 4, 8, ...");
}

}  // namespace detail

/// Combines one value of each process, with `combine(lower, upper)`, as a balanced binary tree by rank; all
/// processes get the same bits.
template <class T, class Combine>
T ordered_sum(const AnyCommunicator& all, T mine, Combine combine) {
  detail::require_power_of_two(all);
  for (std::size_t bit = 1; bit < all.size(); bit *= 2) {
    T theirs{};
    all.exchange(all.rank() ^ bit, detail::bytes_of(mine), detail::bytes_to_change(theirs));
    mine = (all.rank() & bit) != 0 ? combine(theirs, mine) : combine(mine, theirs);
  }
  return mine;
}

/// Returns when all processes have called it.
inline void barrier(const AnyCommunicator& all) {
  ordered_sum(all, std::uint8_t{0}, [](std::uint8_t a, std::uint8_t) { return a; });
}

/// Whether it is so in any of the processes.
inline bool any_process(const AnyCommunicator& all, bool mine) {
  return ordered_sum(all, std::uint8_t{mine},
                     [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a | b); }) != 0;
}

[[deprecated("its name is any_process")]] inline bool any_of(const AnyCommunicator& all, bool mine) {
  return any_process(all, mine);
}

/// What rank 0 says.
inline bool of_first(const AnyCommunicator& all, bool mine) { return any_process(all, all.first() && mine); }

/// Gives the bytes of one process to all others, whose spans are as long.
inline void broadcast(const AnyCommunicator& all, std::span<std::byte> bytes, std::size_t from = 0) {
  detail::require_power_of_two(all);
  const std::size_t apart = all.rank() ^ from;  // 0 in the one that has them
  for (std::size_t bit = all.size() / 2; bit > 0; bit /= 2) {
    if (apart % (2 * bit) == 0) all.exchange(all.rank() ^ bit, bytes, {});
    if (apart % (2 * bit) == bit) all.exchange(all.rank() ^ bit, {}, bytes);
  }
}

/// The same for a text, whose length only one process knows.
inline std::string broadcast(const AnyCommunicator& all, std::string text, std::size_t from = 0) {
  std::uint64_t length = text.size();
  broadcast(all, detail::bytes_to_change(length), from);
  text.resize(static_cast<std::size_t>(length));
  broadcast(all, std::as_writable_bytes(std::span(text.data(), text.size())), from);
  return text;
}

namespace detail {

/// Calls f in all processes, and combines what it returns as `ordered_sum` does. If it throws in any, all
/// throw what it says in the first of these.
template <class F, class Combine>
auto ordered_sum_or_throw(const AnyCommunicator& all, F f, Combine combine) {
  using T = decltype(f());
  if (!all.several()) return f();
  constexpr std::uint64_t nobody = std::numeric_limits<std::uint64_t>::max();
  struct Told {
    T value{};
    std::uint64_t failed = nobody;
  } told;
  std::string problem;
  try {
    told.value = f();
  } catch (const std::exception& e) {
    problem = e.what();
    told.failed = all.rank();
  } catch (...) {
    problem = "an exception that is no std::exception";
    told.failed = all.rank();
  }
  told = ordered_sum(all, told, [&](const Told& a, const Told& b) {
    return Told{combine(a.value, b.value), std::min(a.failed, b.failed)};
  });
  if (told.failed == nobody) return told.value;
  const auto from = static_cast<std::size_t>(told.failed);
  problem = broadcast(all, std::move(problem), from);
  throw Error(from == 0 ? problem : "rank " + text(from) + ": " + problem);
}

}  // namespace detail

/// Calls f, in all processes, and returns what it returns. An exception in all of them is each one's own,
/// and one in some of them ends all: the first that fails prints its rank and why. Around what a program does
/// between `Mpi` and its end, it makes one line of whatever goes wrong:
///
///     bd::Mpi mpi(argc, argv);
///     try {
///       bd::fail_together(mpi, [&] { train(mpi); });
///     } catch (const std::exception& e) {  // in all processes
///       if (mpi.rank() == 0) std::cerr << e.what() << '\n';
///       return 1;
///     }
template <class F>
decltype(auto) fail_together(const AnyCommunicator& all, F&& f) {
  if (!all.several()) return std::forward<F>(f)();
  try {
    return std::forward<F>(f)();
  } catch (const std::exception& e) {
    all.fail_together(e.what());
    throw;
  } catch (...) {
    all.fail_together("an exception that is no std::exception");
    throw;
  }
}

/// Calls f in all processes, and waits for all. If it throws in any, all throw what it says in the first of
/// these: for what may go wrong in some of them, a file that rank 0 alone writes say, where the others can
/// be told.
template <class F>
void throw_together(const AnyCommunicator& all, F f) {
  detail::ordered_sum_or_throw(
      all,
      [&] {
        f();
        return std::uint8_t{0};
      },
      [](std::uint8_t first, std::uint8_t) { return first; });
}

namespace detail {

/// Throws, in all processes, where one has other settings than rank 0: the error names the rank and both.
[[gnu::noinline]] inline void require_same_everywhere(const AnyCommunicator& all, std::string_view where,
                                                      const Settings& mine) {
  if (!all.several()) return;
  std::string own;
  for (const auto& [key, value] : mine) own.append(key).append(1, '\0').append(value).append(1, '\0');
  const std::string theirs = broadcast(all, own);
  throw_together(all, [&] {
    if (own == theirs) return;
    Settings first;
    for (std::size_t at = 0; at < theirs.size();) {
      const std::string key(theirs.c_str() + at), value(theirs.c_str() + at + key.size() + 1);
      at += key.size() + value.size() + 2;
      first.emplace(key, value);
    }
    if (const std::string* key = first_difference(first, mine))
      fail(where, *key + " " + setting(first, *key) + ", as rank 0 has", setting(mine, *key),
           "all processes need the same program, settings and data, on processors of one kind");
  });
}

/// Throws unless the numbers fit: each process computes a whole subtree of the replicas.
inline void require_processes(const AnyCommunicator& all, std::size_t replicas) {
  const auto power_of_two = [](std::size_t n) { return n != 0 && (n & (n - 1)) == 0; };
  if (!power_of_two(replicas)) fail("replicas", "a power of two, from 1 on", text(replicas));
  require_power_of_two(all);
  if (all.size() > replicas)
    fail("replicas", "at least one for each of the " + text(all.size()) + " processes", text(replicas),
         "the result depends on the replicas, and not on the number of processes: choose it once");
}

}  // namespace detail
}  // namespace bahdanau
