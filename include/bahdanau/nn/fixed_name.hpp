// Names of policies that have sizes of their own, put together when the program is compiled: "deep(500)".
// A model file calls the policy so, and one with other sizes by another name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace bahdanau {

/// A text of a known length; it converts to a view of itself, which lasts as long as the program where it is
/// a static constant.
template <std::size_t Size>
struct FixedName {
  std::array<char, Size> text{};
  std::size_t size = 0;

  constexpr void add(std::string_view part) {
    for (const char c : part) text[size++] = c;
  }
  constexpr void add(std::size_t number) {
    std::size_t digits = 1;
    for (std::size_t rest = number; rest >= 10; rest /= 10) ++digits;
    for (std::size_t i = digits; i-- > 0; number /= 10) text[size + i] = static_cast<char>('0' + number % 10);
    size += digits;
  }
  constexpr operator std::string_view() const { return {text.data(), size}; }
};

/// The parts, texts and numbers, one behind the other, of at most 64 letters in all:
///
///     static constexpr auto spelled = bd::fixed_name("deep(", Width, ")");
///     static constexpr std::string_view name = spelled;
template <class... Parts>
constexpr FixedName<64> fixed_name(const Parts&... parts) {
  FixedName<64> name;
  (name.add(parts), ...);
  return name;
}

}  // namespace bahdanau
