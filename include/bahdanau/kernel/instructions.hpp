// Which instructions the kernels use: found out once, when the program first needs to know.
// Not which ones the file was compiled for: one program runs on every processor of its kind.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Levels of instructions, each with all of those before it: vectors of 16 bytes that every processor has
/// (SSE2 on x86-64, NEON on aarch64), of 32 with AVX2 and FMA, of 64 with AVX-512 (F, BW, DQ, VL).
enum class Instructions { baseline, avx2, avx512 };

constexpr std::string_view name(Instructions level) {
  constexpr std::string_view names[] = {"baseline", "avx2", "avx512"};
  return names[static_cast<std::size_t>(level)];
}

namespace kernel {

namespace detail {

/// What a file is compiled for anyway; attributes only add to it.
static constexpr Instructions own_instructions =
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
    Instructions::avx512;
#elif defined(__AVX2__) && defined(__FMA__)
    Instructions::avx2;
#else
    Instructions::baseline;
#endif

class InstructionChoice {
 public:
  static Instructions get() {
    const int chosen = chosen_.load(std::memory_order_relaxed);
    return chosen >= 0 ? static_cast<Instructions>(chosen) : choose();
  }

  /// Throws where the processor lacks the level, or a file of this program goes beyond it.
  static void set(std::string_view where, Instructions level) {
    const Instructions least = static_cast<Instructions>(least_.load()), most = supported();
    if (level > most || level < least) refuse(where, name(level), least, most);
    chosen_.store(static_cast<int>(level));
  }

  /// The highest level that the processor has.
  static Instructions supported() {
#if defined(__x86_64__)
    __builtin_cpu_init();  // a constructor of another file may run before the compiler's own
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Instructions::baseline;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? Instructions::avx512
               : Instructions::avx2;
#else
    return Instructions::baseline;
#endif
  }

  /// One in each file that includes this, so that no function of the linker's choice has to know.
  struct FileFlags {
    explicit FileFlags(Instructions own) {
      int least = least_.load();
      while (least < static_cast<int>(own) && !least_.compare_exchange_weak(least, static_cast<int>(own))) {
      }
      if (chosen_.load() < static_cast<int>(own)) chosen_.store(-1);  // somebody was earlier: choose again
    }
  };

 private:
  [[gnu::noinline]] static Instructions choose() {
    const char* asked = std::getenv("BAHDANAU_INSTRUCTIONS");
    if (asked == nullptr || *asked == '\0') {
      set("bahdanau", supported());
      return supported();
    } else {
      const Instructions levels[] = {Instructions::baseline, Instructions::avx2, Instructions::avx512};
      const auto* level = std::find_if(std::begin(levels), std::end(levels),
                                       [&](Instructions some) { return name(some) == asked; });
      if (level == std::end(levels))
        refuse("BAHDANAU_INSTRUCTIONS", asked, static_cast<Instructions>(least_.load()), supported());
      set("BAHDANAU_INSTRUCTIONS", *level);
      return *level;
    }
  }

  [[noreturn]] static void refuse(std::string_view where, std::string_view asked, Instructions least,
                                  Instructions most) {
    if (least > most)
      fail(where, "a processor with " + std::string(name(least)) + ", for which this program was compiled",
           name(most), "compile without -march");
    std::string has;
    for (int level = static_cast<int>(least); level <= static_cast<int>(most); ++level)
      has.append(has.empty()                       ? ""
                 : level == static_cast<int>(most) ? " or "
                                                   : ", ")
          .append(name(static_cast<Instructions>(level)));
    fail(where, has + ", which this processor has", asked,
         least == Instructions::baseline
             ? std::string_view{}
             : std::string_view("compile without -march to have lower levels, too"));
  }

  inline static std::atomic<int> chosen_{-1};
  inline static std::atomic<int> least_{0};
};

[[maybe_unused]] static const InstructionChoice::FileFlags file_flags{own_instructions};

}  // namespace detail

}  // namespace kernel

/// The level that kernels use: the highest that the processor has, or what `use_instructions` or the
/// environment variable `BAHDANAU_INSTRUCTIONS` (`baseline`, `avx2`, `avx512`) says. Throws for a value that
/// is none of these, or that the processor or the files of this program do not have.
inline Instructions instructions() { return kernel::detail::InstructionChoice::get(); }

/// Takes another level from now on; no other thread may be computing.
inline void use_instructions(Instructions level) {
  kernel::detail::InstructionChoice::set("use_instructions", level);
}

/// The highest level of this processor.
inline Instructions supported_instructions() { return kernel::detail::InstructionChoice::supported(); }

}  // namespace bahdanau
