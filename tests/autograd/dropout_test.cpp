// Which elements fall, how often, and that it hangs on what an element is, not on where it lies.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/autograd/ops.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Array;
using bahdanau::DropoutMask;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::Spans;
using bahdanau::random::Key;
using bahdanau::test::largest_difference;
using Catch::Matchers::Message;

namespace {

using B = bahdanau::test::TestBackend<double>;
using Tape = bahdanau::Tape<B>;

/// The mask itself: dropout of ones.
Array<double, 2> mask(std::size_t rows, std::size_t cols, const DropoutMask& dropped,
                      const std::vector<Index>& names = {}) {
  Tape tape;
  const auto ones = tape.leaf({rows, cols}, std::vector<double>(rows * cols, 1));
  return value<2>(dropout(ones, dropped, names.empty() ? nullptr : tape.keep(names)));
}

}  // namespace

TEST_CASE("an element is dropped or scaled, in the right proportion", "[dropout]") {
  constexpr std::size_t rows = 200, cols = 201, n = rows * cols;
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Array<double, 2> y = mask(rows, cols, {rate, Key{3}});
    const auto dropped = static_cast<double>(std::count(y.begin(), y.end(), 0.0));
    const auto kept = static_cast<double>(std::count(y.begin(), y.end(), 1.0 / (1.0 - rate)));
    CAPTURE(rate);
    CHECK(dropped + kept == n);
    CHECK(std::abs(dropped / n - rate) < 5 * std::sqrt(rate * (1 - rate) / n));
  }
}

TEST_CASE("every key, row and column has a draw of its own", "[dropout]") {
  const Array<double, 2> y = mask(50, 50, {0.5, Key{3}}), other = mask(50, 50, {0.5, Key{4}});
  std::size_t differs = 0, rows = 0, columns = 0, halves = 0;
  for (std::size_t r = 0; r < 49; ++r)
    for (std::size_t c = 0; c < 49; ++c) {
      differs += y(r, c) != other(r, c) ? 1U : 0U;
      rows += y(r, c) != y(r + 1, c) ? 1U : 0U;
      columns += y(r, c) != y(r, c + 1) ? 1U : 0U;
      halves += c % 2 == 0 && y(r, c) != y(r, c + 1) ? 1U : 0U;  // two columns share one draw of bits
    }
  // Half of the 2401 (or 1225) differ, give or take five standard deviations.
  CHECK(std::abs(static_cast<double>(differs) - 1200.5) < 125);
  CHECK(std::abs(static_cast<double>(rows) - 1200.5) < 125);
  CHECK(std::abs(static_cast<double>(columns) - 1200.5) < 125);
  CHECK(std::abs(static_cast<double>(halves) - 612.5) < 90);
}

TEST_CASE("a row's mask follows its name, not its place", "[dropout]") {
  const DropoutMask dropped{0.5, Key{7}};
  const Array<double, 2> plain = mask(6, 40, dropped), named = mask(3, 40, dropped, {4, 0, 5});
  for (std::size_t c = 0; c < 40; ++c) {
    CHECK(named(0, c) == plain(4, c));
    CHECK(named(1, c) == plain(0, c));
    CHECK(named(2, c) == plain(5, c));
  }
}

TEST_CASE("a weight's mask follows its query and its position in the span", "[dropout][spans]") {
  const DropoutMask dropped{0.5, Key{7}};
  const Array<double, 2> dense = mask(3, 20, dropped);
  Tape tape;
  const std::vector<Index> begin = {5, 0, 9}, length = {20, 3, 11}, names = {2, 0, 1};
  const Spans<B> spans(tape, begin, length);
  const auto ones = tape.leaf({34}, std::vector<double>(34, 1));
  const Array<double, 1> numbered = value<1>(dropout(ones, spans.view(), dropped));
  const Array<double, 1> named = value<1>(dropout(ones, spans.view(), dropped, tape.keep(names)));
  std::size_t pair = 0;
  for (std::size_t q = 0; q < 3; ++q)
    for (std::size_t i = 0; i < static_cast<std::size_t>(length[q]); ++i, ++pair) {
      CHECK(numbered(pair) == dense(q, i));
      CHECK(named(pair) == dense(static_cast<std::size_t>(names[q]), i));
    }
}

TEST_CASE("dropout of rate 0 is the array itself", "[dropout]") {
  Tape tape;
  const auto x = tape.leaf({2, 2}, std::vector<double>{1, 2, 3, 4});
  CHECK(dropout(x, DropoutMask{}).value == x.value);
  CHECK(tape.length() == 0);
}

TEST_CASE("dropout of weights refuses another number of them than there are pairs", "[dropout][spans]") {
  Tape tape;
  const std::vector<Index> begin = {0, 2}, length = {2, 3};
  const Spans<B> spans(tape, begin, length);
  CHECK_THROWS_MATCHES(dropout(tape.leaf({4}, std::vector<double>(4, 1)), spans.view(), {0.5, Key{7}}), Error,
                       Message("dropout: expected weights, one per pair: 5, got 4"));
}

TEST_CASE("a rate outside of [0, 1) is refused", "[dropout]") {
  Tape tape;
  const auto x = tape.leaf({2}, std::vector<double>{1, 2});
  CHECK_THROWS_MATCHES(dropout(x, DropoutMask{1.0, {}}), Error,
                       Message("dropout: expected a rate from 0 up to, not including, 1, got 1"));
  CHECK_THROWS_MATCHES(dropout(x, DropoutMask{-0.5, {}}), Error,
                       Message("dropout: expected a rate from 0 up to, not including, 1, got -0.5"));
  CHECK_THROWS_AS(dropout(x, DropoutMask{std::numeric_limits<double>::quiet_NaN(), {}}), Error);
}
