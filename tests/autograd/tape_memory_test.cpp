// Where a tape's arrays lie: apart from one another, at rest while it grows, and in the same place after a
// reset.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"

using bahdanau::Index;

namespace {

using B = bahdanau::Xtensor<float>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;

/// A pass with arrays of all sizes, over several chunks of memory: the addresses of all it made.
std::vector<const void*> pass(Tape& tape) {
  std::vector<const void*> places;
  const std::vector<Index> index(300, 1);
  for (std::size_t n = 1; n < 60; ++n) {
    const V x = tape.leaf({n, n}, std::vector<float>(n * n, 0.5F));
    const V y = tanh(linear(x, x)) + x;
    const V rows = gather_rows(y, n > 1 ? tape.keep(index) : tape.keep(std::vector<Index>(300, 0)), 300);
    for (const V& v : {x, y, rows}) places.push_back(v.value);
    places.push_back(tape.keep(index));
    if (n == 59) {
      tape.backward(sum(rows));
      for (const V& v : {x, y, rows}) places.push_back(tape.gradient_of(v));
    }
  }
  return places;
}

}  // namespace

TEST_CASE("after a reset the same pass takes no new memory", "[tape][memory]") {
  Tape tape;
  pass(tape);
  tape.reset();
  CHECK(tape.length() == 0);
  const std::vector<const void*> second = pass(tape);
  tape.reset();
  const std::vector<const void*> third = pass(tape);
  CHECK(second == third);
  tape.reset();
  // A smaller pass between two of the same size changes nothing either.
  tape.leaf({1}, std::vector<float>{1});
  tape.reset();
  CHECK(pass(tape) == third);
}

TEST_CASE("arrays stay where they are while the tape grows", "[tape][memory]") {
  Tape tape;
  std::vector<V> made;
  for (std::size_t i = 0; i < 2000; ++i)
    made.push_back(tape.leaf({i % 37 + 1}, std::vector<float>(i % 37 + 1, static_cast<float>(i))));
  const V large = tape.leaf({100'000}, std::vector<float>(100'000, -1));  // larger than any chunk before
  made.push_back(tape.leaf({1}, std::vector<float>{2000}));
  for (std::size_t i = 0; i < made.size(); ++i)
    for (std::size_t j = 0; j < made[i].size(); ++j) REQUIRE(made[i].value[j] == static_cast<float>(i));
  CHECK(large.value[99'999] == -1);
}

TEST_CASE("arrays start on cache lines", "[tape][memory]") {
  Tape tape;
  for (std::size_t n = 1; n < 100; ++n) {
    const V v = tape.variable({n});
    CHECK(reinterpret_cast<std::uintptr_t>(v.value) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(tape.seed(v)) % 64 == 0);
  }
}

TEST_CASE("gradients start at zero in every chunk of memory", "[tape][memory]") {
  Tape tape;
  for (int round = 0; round < 3; ++round) {
    std::vector<V> leaves;
    for (std::size_t i = 0; i < 30; ++i) leaves.push_back(tape.leaf({1000}, std::vector<float>(1000, 1)));
    V y = leaves[0];
    for (std::size_t i = 1; i < leaves.size(); ++i) y = y + leaves[i];
    tape.backward(sum(y));
    for (const V& leaf : leaves)
      for (std::size_t i = 0; i < leaf.size(); ++i) REQUIRE(tape.gradient_of(leaf)[i] == 1);
    if (round == 1) tape.reset();
  }
}
