// The best of rows that are products with a weight: some columns at a time, beside all of them at once.
#include <cstddef>
#include <utility>
#include <vector>

#include <bahdanau/autograd/ops/best.hpp>
#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/core/parallel.hpp>

#include "support/catch.hpp"
#include "support/numbers.hpp"

using namespace bahdanau;

namespace {

template <class T>
struct FoundBest {
  std::vector<T> log_probs;
  std::vector<Index> columns;
  friend bool operator==(const FoundBest&, const FoundBest&) = default;
};

constexpr std::size_t inputs = 40;

/// A dense layer [columns, inputs] and rows that meet it.
template <class T>
struct Case {
  using B = Xtensor<T>;
  using Found = FoundBest<T>;
  std::size_t columns;
  std::vector<T> weights = test::numbers<T>(columns * (inputs + 1), 1);
  std::vector<T> rows = test::numbers<T>(70 * inputs, 2);
  mutable WeightPanels<B> panels{};

  template <class F>
  Found find(std::size_t first, std::size_t count, std::size_t best, Workers* helpers, F f) const {
    if constexpr (PackingBackend<B>) panels.begin(weights.data(), weights.size(), 1);
    Tape<B> tape(WeightBinding<B>{.weights = weights.data(), .panels = &panels, .helpers = helpers});
    const auto x = tape.constant({count, inputs}, {rows.data() + first * inputs, count * inputs});
    const auto w = tape[Parameter{0, {columns, inputs}}], b = tape[Parameter{columns * inputs, {columns}}];
    Found found{std::vector<T>(count * best), std::vector<Index>(count * best)};
    f(x, w, b, best, found.log_probs.data(), found.columns.data());
    return found;
  }
  Found at_once(std::size_t best) const {
    return find(0, 70, best, nullptr, [](auto x, auto w, auto b, std::size_t n, T* log_probs, Index* ids) {
      best_of_rows(linear(x, w, b), n, log_probs, ids);
    });
  }
  Found in_parts(std::size_t first, std::size_t count, std::size_t best, Workers* helpers = nullptr) const {
    return find(first, count, best, helpers, [](auto... all) { best_of_products(all...); });
  }
};

}  // namespace

TEMPLATE_TEST_CASE("the best of products are the same bits in parts, shared, and at once", "[ops][best]",
                   float, double) {
  Workers helpers(3);
  for (const std::size_t columns : {7U, 480U, 481U, 1003U, 8000U}) {
    CAPTURE(columns);
    const Case<TestType> c{columns};
    for (const std::size_t best : {1U, 7U, 500U}) {
      if (best > columns) continue;
      const auto expected = c.at_once(best);
      CHECK(c.in_parts(0, 70, best) == expected);
      CHECK(c.in_parts(0, 70, best, &helpers) == expected);
    }
  }
}

TEMPLATE_TEST_CASE("a row's best do not depend on the rows beside it", "[ops][best]", float, double) {
  // BLAS gives a row other bits in other company; our kernel does not.
  constexpr double margin = PackingBackend<Xtensor<TestType>> ? 0 : 1e-5;
  const Case<TestType> c{1003};
  const auto all = c.in_parts(0, 70, 5);
  for (const std::size_t row : {0U, 33U, 69U}) {
    const auto alone = c.in_parts(row, 1, 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(alone.log_probs[i] == Approx(all.log_probs[row * 5 + i]).epsilon(0).margin(margin));
      CHECK(alone.columns[i] == all.columns[row * 5 + i]);
    }
  }
}
