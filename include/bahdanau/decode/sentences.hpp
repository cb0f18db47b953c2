// Lists of sentences, in whatever a program keeps them: vectors, arrays and spans of strings, of views and of
// literals. A view of each is all that decoding needs.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// A range of sentences that stay where they are: its elements are strings, views of strings, or `const
/// char*`. One string is no range of sentences.
template <class Range>
concept SentenceRange = std::ranges::forward_range<const Range> &&
                        std::convertible_to<std::ranges::range_reference_t<const Range>, std::string_view> &&
                        !std::convertible_to<const Range&, std::string_view> &&
                        (std::is_lvalue_reference_v<std::ranges::range_reference_t<const Range>> ||
                         std::is_trivially_copyable_v<std::ranges::range_value_t<const Range>>);

namespace detail {

/// Views of the sentences, which must outlive them. Throws for a null pointer.
template <SentenceRange Range>
std::vector<std::string_view> views_of(const Range& sentences) {
  std::vector<std::string_view> out;
  for (const auto& sentence : sentences) {
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(sentence)>>)
      if (sentence == nullptr)
        fail("translate, sentence " + text(out.size()), "a sentence", "a null pointer");
    out.emplace_back(sentence);
  }
  return out;
}

}  // namespace detail
}  // namespace bahdanau
