// One body of code, compiled for every level of instructions; which one runs is decided when it is called.
// At the level of a loop over rows or of a whole product, never inside of one.
#pragma once

#include <cstddef>

#include <bahdanau/kernel/instructions.hpp>
#include <bahdanau/kernel/vector.hpp>

namespace bahdanau::kernel {

/// What bodies are generic over: how wide vectors are.
template <Instructions Level>
struct LevelOf {
  static constexpr Instructions instructions = Level;
  static constexpr std::size_t bytes = Level == Instructions::avx512 ? 64
                                       : Level == Instructions::avx2 ? 32
                                                                     : 16;
  template <class T>
  using Vector = kernel::Vector<T, bytes>;
};
using Baseline = LevelOf<Instructions::baseline>;
using Avx2 = LevelOf<Instructions::avx2>;
using Avx512 = LevelOf<Instructions::avx512>;

/// Calls a body with the instructions of a level. Everything that the body calls is inlined, and so becomes
/// code of that level; what is inlined must have no target of its own.
template <class Level>
struct Targeted {
  template <class Body, class... Arguments>
  [[gnu::flatten, gnu::noinline]] static void run(const Body& body, Arguments... arguments) {
    body(Level{}, arguments...);
  }
  /// The same for a body without a state, which can be pointed to.
  template <class Body, class... Arguments>
  [[gnu::flatten]] static void call(Arguments... arguments) {
    Body{}(Level{}, arguments...);
  }
};
#if defined(__x86_64__)
template <>
struct Targeted<Avx2> {
  template <class Body, class... Arguments>
  [[gnu::flatten, gnu::target("avx2,fma")]] static void run(const Body& body, Arguments... arguments) {
    body(Avx2{}, arguments...);
  }
  template <class Body, class... Arguments>
  [[gnu::flatten, gnu::target("avx2,fma")]] static void call(Arguments... arguments) {
    Body{}(Avx2{}, arguments...);
  }
};
template <>
struct Targeted<Avx512> {
  template <class Body, class... Arguments>
  [[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] static void run(
      const Body& body, Arguments... arguments) {
    body(Avx512{}, arguments...);
  }
  template <class Body, class... Arguments>
  [[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] static void call(
      Arguments... arguments) {
    Body{}(Avx512{}, arguments...);
  }
};
#endif

/// Calls body(level) with the instructions in use. `Body` is generic over the level. Under g++ its call must
/// not be `always_inline` itself where functors lie behind it, as that hides them from `Targeted` (see
/// lanes.hpp); a tile has none, and may.
template <class Body>
void dispatch(const Body& body) {
#if defined(__x86_64__)
  // Asked for also where there is one level: it may be refused. Those below the file's own flags do not
  // exist.
  [[maybe_unused]] const Instructions level = instructions();
  if constexpr (detail::own_instructions == Instructions::avx512) {
    Targeted<Avx512>::run(body);
  } else {
    if (level == Instructions::avx512) return Targeted<Avx512>::run(body);
    if constexpr (detail::own_instructions == Instructions::avx2) {
      Targeted<Avx2>::run(body);
    } else {
      if (level == Instructions::avx2) return Targeted<Avx2>::run(body);
      Targeted<Baseline>::run(body);
    }
  }
#else
  Targeted<Baseline>::run(body);
#endif
}

}  // namespace bahdanau::kernel
