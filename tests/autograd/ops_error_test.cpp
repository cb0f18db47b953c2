// What the operations refuse, and in which words: where, what was expected, what came.
// Checked in release builds too, so these tests do not hang on NDEBUG.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/score/additive.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"

using bahdanau::concat_columns;
using bahdanau::concat_rows;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::Shape;
using bahdanau::Spans;
using bahdanau::Transpose;
using Catch::Matchers::Message;

namespace {

using B = bahdanau::test::TestBackend<double>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;

struct Fixture {
  Tape tape;
  V a(Shape shape) { return tape.zeros(shape); }
};

/// Type-erased, so that every check is one short line.
void check(void (*act)(Fixture&), const std::string& message) {
  Fixture f;
  CHECK_THROWS_MATCHES(act(f), Error, Message(message));
}

}  // namespace

TEST_CASE("pointwise operations refuse shapes that do not meet", "[ops][error]") {
  check(
      [](Fixture& f) {
        f.a({3, 4}) + f.a({4, 3});
      },
      "operator+: expected two of one shape, or [3, 4] and a row of 4 or a column [3, 1], got [4, 3]");
  check(
      [](Fixture& f) {
        f.a({3, 4}) - f.a({3});
      },
      "operator-: expected two of one shape, or [3, 4] and a row of 4 or a column [3, 1], got [3]; a column "
      "is made by "
      "reshape({3, 1})");
  check(
      [](Fixture& f) {
        f.a({4}) * f.a({3, 4});
      },
      "operator*: expected two of one shape, or [4] and a row of 4 or a column [1, 1], got [3, 4]");
  // As many elements as a row, but no row
  check(
      [](Fixture& f) {
        f.a({3, 4}) / f.a({2, 2});
      },
      "operator/: expected two of one shape, or [3, 4] and a row of 4 or a column [3, 1], got [2, 2]");
  check(
      [](Fixture& f) {
        f.a({3, 4}) / f.a({4, 1});
      },
      "operator/: expected two of one shape, or [3, 4] and a row of 4 or a column [3, 1], got [4, 1]");
  check(
      [](Fixture& f) {
        maximum(f.a({3, 4}), f.a({3, 3}));
      },
      "maximum: expected two of one shape, or [3, 4] and a row of 4 or a column [3, 1], got [3, 3]");
}

TEST_CASE("products refuse extents that do not meet", "[ops][error]") {
  check([](Fixture& f) { matmul(f.a({2, 3}), f.a({2, 3})); }, "matmul: expected b with 3 rows, got [2, 3]");
  check([](Fixture& f) { matmul(f.a({3}), f.a({3, 2})); }, "matmul: expected a of rank 2, got [3]");
  check(
      [](Fixture& f) {
        matmul(f.a({2, 3}), f.a({3, 2, 1}));
      },
      "matmul: expected b of rank 2, got [3, 2, 1]");
  check(
      [](Fixture& f) {
        batched_matmul(f.a({2, 3, 4}), f.a({4, 5}));
      },
      "batched_matmul: expected b of rank 3, got [4, 5]");
  check(
      [](Fixture& f) {
        batched_matmul(f.a({3, 4}), f.a({2, 4, 5}));
      },
      "batched_matmul: expected a of rank 3, got [3, 4]");
  check(
      [](Fixture& f) {
        batched_matmul(f.a({2, 3, 4}), f.a({3, 4, 5}));
      },
      "batched_matmul: expected b [2, 4, 5], got [3, 4, 5]");
  check(
      [](Fixture& f) {
        batched_matmul(f.a({2, 3, 4}), f.a({2, 4, 5}), Transpose::yes);
      },
      "batched_matmul: expected b [2, 4, 4], got [2, 4, 5]");
}

TEST_CASE("linear maps refuse weights and biases that do not fit", "[ops][error]") {
  check([](Fixture& f) { linear(f.a({2, 3}), f.a({5, 4})); }, "linear: expected x of width 4, got [2, 3]");
  check(
      [](Fixture& f) {
        linear(f.a({2, 3}), f.a({5, 4}), f.a({5}));
      },
      "linear: expected x of width 4, got [2, 3]");
  check([](Fixture& f) { linear(f.a({2, 3}), f.a({3})); }, "linear: expected weight of rank 2, got [3]");
  check(
      [](Fixture& f) {
        linear(f.a({2, 3}), f.a({5, 3}), f.a({3}));
      },
      "linear: expected a bias of 5, got [3]");
  check(
      [](Fixture& f) {
        linear_columns(f.a({2, 3}), f.a({5, 4}), f.a({5}), 2);
      },
      "linear: expected x that fits columns 2 on of a weight [5, 4], got [2, 3]");
  check(
      [](Fixture& f) {
        linear_columns(f.a({2, 3}), f.a({5, 4}), f.a({5}), 9);
      },
      "linear: expected x that fits columns 9 on of a weight [5, 4], got [2, 3]");
  check(
      [](Fixture& f) {
        add_linear(f.a({2, 5}), f.a({2, 3}), f.a({5, 4}), 2);
      },
      "add_linear: expected x that fits columns 2 on of a weight [5, 4], got [2, 3]");
  check(
      [](Fixture& f) {
        add_linear(f.a({2, 4}), f.a({2, 3}), f.a({5, 4}));
      },
      "add_linear: expected y [2, 5], got [2, 4]");
}

TEST_CASE("operations that move elements refuse what is outside", "[ops][error]") {
  check(
      [](Fixture& f) {
        add_in_place(f.a({2, 3}), f.a({3, 3}));
      },
      "add_in_place: expected y [3, 3], got [2, 3]");
  check(
      [](Fixture& f) {
        add_gathered_rows(f.a({2, 3}), f.a({2, 4}), nullptr);
      },
      "add_gathered_rows: expected y of width 4, got 3");
  check(
      [](Fixture& f) {
        concat_columns({f.a({2, 3}), f.a({3, 3})});
      },
      "concat_columns: expected parts with rows: 2, got 3");
  check([](Fixture&) { concat_columns<B>({}); }, "concat_columns: expected at least one part, got none");
  check(
      [](Fixture& f) {
        const std::array<V, 2> parts{f.a({2, 3}), f.a({2, 4})};
        concat_rows<B>(parts);
      },
      "concat_rows: expected parts of width 3, got 4");
  check([](Fixture&) { concat_rows(std::span<const V>{}); },
        "concat_rows: expected at least one part, got none");
  check(
      [](Fixture& f) {
        const std::array<Index, 2> index{1, 4};
        gather_rows(f.a({4, 2}), index);
      },
      "gather_rows: expected indices from 0 to 3, got 4");
  check(
      [](Fixture& f) {
        const std::array<Index, 1> index{-1};
        gather_rows(f.a({4, 2}), index);
      },
      "gather_rows: expected indices from 0 to 3, got -1");
  check(
      [](Fixture& f) {
        f.a({2, 3}).reshape({4, 2});
      },
      "reshape: expected a shape of 6 elements, got [4, 2]");
  check(
      [](Fixture& f) {
        f.a({4, 3}).row_range(2, 3);
      },
      "row_range: expected begin + count of at most 4, got 2 + 3");
  check(
      [](Fixture& f) {
        slice_columns(f.a({4, 3}), 2, 2);
      },
      "slice_columns: expected first + count of at most 3, got 2 + 2");
  // Their sum would be small again
  check(
      [](Fixture& f) {
        f.a({4, 3}).row_range(18446744073709551615U, 3);
      },
      "row_range: expected begin + count of at most 4, got 18446744073709551615 + 3");
  check(
      [](Fixture& f) {
        slice_columns(f.a({4, 3}), 2, 18446744073709551615U);
      },
      "slice_columns: expected first + count of at most 3, got 2 + 18446744073709551615");
}

TEST_CASE("softmax refuses lengths outside of the row", "[ops][error]") {
  static std::vector<Index> lengths;
  const auto act = [](Fixture& f) { softmax(f.a({2, 5}), lengths); };
  lengths = {5, 0};
  check(act, "softmax: expected valid lengths from 1 to 5, got 0");
  lengths = {6, 1};
  check(act, "softmax: expected valid lengths from 1 to 5, got 6");
  lengths = {1, 2, 3};
  check(act, "softmax: expected valid lengths: 2, got 3");
}

TEST_CASE("operations over spans refuse what does not fit them", "[ops][error]") {
  static const std::vector<Index> begin = {0, 2}, length = {2, 3};
  struct Here : Fixture {
    Spans<B> spans{tape, begin, length};
  };
  Here f;
  const auto view = f.spans.view();
  CHECK_THROWS_MATCHES(span_dot(f.a({3, 4}), f.a({5, 4}), view), Error,
                       Message("span_dot: expected queries: 2, got 3"));
  CHECK_THROWS_MATCHES(span_dot(f.a({2, 4}), f.a({5, 3}), view), Error,
                       Message("span_dot: expected keys of width 4, got 3"));
  CHECK_THROWS_MATCHES(span_sum(f.a({4}), f.a({5, 3}), view), Error,
                       Message("span_sum: expected weights, one per pair: 5, got 4"));
  CHECK_THROWS_MATCHES(softmax(f.a({6}), view), Error,
                       Message("softmax: expected scores, one per pair: 5, got 6"));
  CHECK_THROWS_MATCHES(additive_scores(f.a({2, 4}), f.a({5, 3}), f.a({4}), view), Error,
                       Message("additive_scores: expected keys of width 4, got 3"));
  CHECK_THROWS_MATCHES(additive_scores(f.a({1, 4}), f.a({5, 4}), f.a({4}), view), Error,
                       Message("additive_scores: expected queries: 2, got 1"));
  CHECK_THROWS_MATCHES(additive_scores(f.a({2, 4}), f.a({5, 4}), f.a({3}), view), Error,
                       Message("additive_scores: expected weights: 4, got 3"));
  const std::vector<Index> empty = {2, 0}, three = {1, 1, 1};
  CHECK_THROWS_MATCHES(Spans<B>(f.tape, begin, empty), Error,
                       Message("Spans: expected lengths of at least 1, got 0"));
  CHECK_THROWS_MATCHES(Spans<B>(f.tape, begin, three), Error, Message("Spans: expected lengths: 2, got 3"));
}

TEST_CASE("variables of two tapes are refused", "[ops][error]") {
  Fixture f, other;
  const std::vector<Index> begin = {0, 0}, length = {2, 2};
  const Spans<B> spans(f.tape, begin, length);
  const V here = f.a({2, 2}), there = other.a({2, 2});
  const auto two = [](const std::string& where) {
    return Message(where + ": expected variables of one tape, got variables of two tapes");
  };
  CHECK_THROWS_MATCHES(here + there, Error, two("operator+"));
  CHECK_THROWS_MATCHES(matmul(here, there), Error, two("matmul"));
  CHECK_THROWS_MATCHES(linear(here, there), Error, two("linear"));
  CHECK_THROWS_MATCHES(linear(here, here, there.row_range(0, 1)), Error, two("linear"));
  CHECK_THROWS_MATCHES(add_linear(there, here, here), Error, two("add_linear"));
  CHECK_THROWS_MATCHES(concat_columns({here, there}), Error, two("concat_columns"));
  const std::array<V, 2> parts{here, there};
  CHECK_THROWS_MATCHES(concat_rows<B>(parts), Error, two("concat_rows"));
  CHECK_THROWS_MATCHES(span_dot(here, there, spans.view()), Error, two("span_dot"));
  CHECK_THROWS_MATCHES(span_sum(here.reshape({4}), there, spans.view()), Error, two("span_sum"));
  CHECK_THROWS_MATCHES(additive_scores(here, here, there.row_range(0, 1), spans.view()), Error,
                       two("additive_scores"));
}

TEST_CASE("an array that was never made is refused", "[ops][error]") {
  Fixture f;
  const std::vector<Index> begin = {0, 0}, length = {2, 2}, rows = {0};
  const Spans<B> spans(f.tape, begin, length);
  const V here = f.a({2, 2}), none;
  const auto unmade = [](const std::string& where) {
    return Message(where +
                   ": expected arrays on a tape, got one that was never made; a readout names what it reads "
                   "in reads");
  };
  CHECK_THROWS_MATCHES(tanh(none), Error, unmade("tanh"));
  CHECK_THROWS_MATCHES(-none, Error, unmade("affine"));
  CHECK_THROWS_MATCHES(here + none, Error, unmade("operator+"));
  CHECK_THROWS_MATCHES(none * none, Error, unmade("operator*"));
  CHECK_THROWS_MATCHES(matmul(none, here), Error, unmade("matmul"));
  CHECK_THROWS_MATCHES(linear(none, here), Error, unmade("linear"));
  CHECK_THROWS_MATCHES(linear(here, here, none), Error, unmade("linear"));
  CHECK_THROWS_MATCHES(add_linear(here, none, here), Error, unmade("add_linear"));
  const bahdanau::Parameter parameter{0, {2, 2}};
  CHECK_THROWS_MATCHES(linear(none, parameter), Error, unmade("linear"));
  CHECK_THROWS_MATCHES(linear(none, parameter, parameter), Error, unmade("linear"));
  CHECK_THROWS_MATCHES(linear_columns(none, parameter, parameter, 0), Error, unmade("linear"));
  CHECK_THROWS_MATCHES(add_linear(here, none, parameter), Error, unmade("add_linear"));
  CHECK_THROWS_MATCHES(concat_columns({none, here}), Error, unmade("concat_columns"));
  CHECK_THROWS_MATCHES(concat_rows({here, none}), Error, unmade("concat_rows"));
  CHECK_THROWS_MATCHES(slice_columns(none, 0, 1), Error, unmade("slice_columns"));
  CHECK_THROWS_MATCHES(gather_rows(none, rows), Error, unmade("gather_rows"));
  CHECK_THROWS_MATCHES(maxout(none), Error, unmade("maxout"));
  CHECK_THROWS_MATCHES(sum_columns(none), Error, unmade("sum_columns"));
  CHECK_THROWS_MATCHES(sum_rows(none), Error, unmade("sum_rows"));
  CHECK_THROWS_MATCHES(mean(none), Error, unmade("sum_columns"));
  CHECK_THROWS_MATCHES(softmax(none, spans.view()), Error, unmade("softmax"));
  CHECK_THROWS_MATCHES(softmax(none, length), Error, unmade("softmax"));
  CHECK_THROWS_MATCHES(span_dot(here, none, spans.view()), Error, unmade("span_dot"));
  CHECK_THROWS_MATCHES(span_sum(none, here, spans.view()), Error, unmade("span_sum"));
}

TEST_CASE("spans that reach beyond the keys are refused", "[ops][error]") {
  const auto act = [](Fixture& f, auto use) {
    const std::vector<Index> begin{0, 2}, length{2, 3};  // five keys
    const Spans<B> spans(f.tape, begin, length);
    use(spans.view());
  };
  Fixture f;
  CHECK_THROWS_MATCHES(act(f,
                           [&](const auto& spans) {
                             bahdanau::span_dot<B>(f.a({2, 3}), f.a({4, 3}), spans);
                           }),
                       Error, Message("span_dot: expected at least 5 rows, as the spans say, got [4, 3]"));
  CHECK_THROWS_MATCHES(act(f,
                           [&](const auto& spans) {
                             bahdanau::span_sum<B>(f.a({5}), f.a({4, 3}), spans);
                           }),
                       Error, Message("span_sum: expected at least 5 rows, as the spans say, got [4, 3]"));
  const std::vector<Index> negative{-1}, one{1};
  CHECK_THROWS_MATCHES(Spans<B>(f.tape, negative, one), Error,
                       Message("Spans: expected spans that begin at 0 or later, got -1"));
}
