// Checks of what a decoder or a score by others gives: one sentence for each array that is missing or has
// other rows, in place of a read past its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/core/refuse_array.hpp>
#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/running_state.hpp>

namespace bahdanau::detail {

/// Throws unless the first state has an array for each row, and the score's one for each query or pair.
template <class D, class S, Backend B>
void require_first_state(const SpanView<B>& spans, std::size_t rows, auto& state) {
  const auto refuse = [](std::string_view kind, std::string_view name, std::string_view what,
                         const Variable<B>& v, std::string_view hint) {
    refuse_array(kind, name, std::string("a first state ").append(what),
                 v.tape == nullptr ? nullptr : &v.shape, hint);
  };
  // append: g++ 12 at -O3 takes a literal + string for a copy onto itself, and warns
  const auto rows_by_any = [](std::size_t n) { return std::string("[").append(text(n)).append(", any]"); };
  const auto has_rows = [](const Variable<B>& v, std::size_t n) {
    return v.tape != nullptr && v.shape.rank() > 1 && v.rows() == n;
  };
  state.decoder.each([&](Variable<B>& v) {
    if (!has_rows(v, rows))
      refuse("decoder", D::name, rows_by_any(rows), v, "start fills all that each calls f for");
  });
  constexpr std::string_view forms = "each_row wants arrays [queries, any], each_pair [pairs]";
  if constexpr (requires { state.score.each_row(AnyVisitor{}); })
    state.score.each_row([&](Variable<B>& v) {
      if (!has_rows(v, spans.queries)) refuse("score", S::name, rows_by_any(spans.queries), v, forms);
    });
  state.each_pair([&](Variable<B>& v) {
    if (v.tape == nullptr || v.shape != Shape{spans.pairs})
      refuse("score", S::name, Shape{spans.pairs}.text(), v, forms);
  });
}

/// Throws unless what a decoder has made has so many rows.
template <class D, Backend B>
void require_output(const Variable<B>& v, std::size_t rows, const char* what = "an output",
                    std::string_view hint = "") {
  if (v.tape != nullptr && v.rows() == rows) return;
  refuse_array("decoder", D::name, std::string(what).append(" of ").append(text(rows)).append(" rows"),
               v.tape == nullptr ? nullptr : &v.shape, hint);
}

}  // namespace bahdanau::detail
