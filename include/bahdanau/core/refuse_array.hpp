// What a policy is told that has made no array, or one of another shape: its kind, its name and what was
// expected.
#pragma once

#include <string>
#include <string_view>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau::detail {

/// Throws for an array that a policy has made; `got` is null where there is none. Not inlined, as g++ 12 then
/// warns of sums of strings for no reason.
[[noreturn, gnu::noinline]] inline void refuse_array(std::string_view kind, std::string_view name,
                                                     std::string_view what, const Shape* got,
                                                     std::string_view hint = {}) {
  fail(std::string(kind) + " " + quote(name), what, got == nullptr ? std::string("none") : got->text(), hint);
}

}  // namespace bahdanau::detail
