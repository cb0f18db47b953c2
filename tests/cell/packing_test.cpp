// The layout of ragged sequences: longest first, step after step, no padding.
#include <cstddef>
#include <tuple>
#include <vector>

#include <bahdanau/cell/packing.hpp>

#include "support/catch.hpp"

using bahdanau::Index;
using bahdanau::Packing;

namespace {

Packing packed(const std::vector<Index>& lengths) {
  Packing packing;
  packing.assign(lengths);
  return packing;
}
std::vector<Index> list(std::span<const Index> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("sentences are ordered by length, equals as they came", "[packing]") {
  const Packing packing = packed({2, 4, 1, 4, 2});
  CHECK(list(packing.order()) == std::vector<Index>{1, 3, 0, 4, 2});
  CHECK(list(packing.rank()) == std::vector<Index>{2, 0, 4, 1, 3});
}

TEST_CASE("each step holds the sentences that still run", "[packing]") {
  const Packing packing = packed({2, 4, 1, 4, 2});
  CHECK(packing.rows() == 5);
  CHECK(packing.steps() == 4);
  CHECK(packing.tokens() == 13);
  std::vector<std::size_t> counts, starts;
  for (std::size_t t = 0; t < 4; ++t) {
    counts.push_back(packing.count(t));
    starts.push_back(packing.start(t));
  }
  CHECK(counts == std::vector<std::size_t>{5, 4, 2, 2});
  CHECK(starts == std::vector<std::size_t>{0, 5, 9, 11});
  CHECK(packing.count(4) == 0);
  CHECK(packing.start(4) == 13);
}

TEST_CASE("every token has one row, and nothing else has", "[packing]") {
  const std::vector<Index> lengths = {3, 1, 2};
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> tokens;  // row, sentence, step
  packed(lengths).for_tokens([&](std::size_t row, std::size_t sentence, std::size_t step) {
    tokens.emplace_back(row, sentence, step);
  });
  CHECK(tokens == decltype(tokens){{0, 0, 0}, {1, 2, 0}, {2, 1, 0}, {3, 0, 1}, {4, 2, 1}, {5, 0, 2}});
}

TEST_CASE("sentences of one length need no order", "[packing]") {
  const Packing packing = packed({3, 3});
  CHECK(list(packing.order()) == std::vector<Index>{0, 1});
  CHECK(packing.tokens() == 6);
  CHECK((packing.count(2) == 2 && packing.start(2) == 4));
}

TEST_CASE("a packing that is used again forgets the sentences before", "[packing]") {
  Packing packing = packed({5, 2, 7});
  const std::vector<Index> lengths = {1, 2};
  packing.assign(lengths);
  CHECK((packing.rows() == 2 && packing.steps() == 2 && packing.tokens() == 3));
  CHECK(list(packing.order()) == std::vector<Index>{1, 0});
  packing.assign({});
  CHECK((packing.rows() == 0 && packing.steps() == 0 && packing.tokens() == 0));
}
