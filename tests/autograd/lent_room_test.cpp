// Memory that is lent out: who gets which part of it, and what becomes of those who get none.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <bahdanau/autograd/lent_room.hpp>
#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"

using namespace bahdanau;

namespace {

using B = Xtensor<float>;
using Room = detail::LentRoom<float>;
using Numbers = B::Storage<float>;
using Lent = detail::LentStorage<Numbers>;

}  // namespace

TEST_CASE("pieces of a lent room lie apart, on cache lines, and inside of it", "[memory][lent]") {
  Numbers block(256);
  Room room(block.data(), block.size());
  float *a = room.take(1), *b = room.take(17), *c = room.take(208);
  CHECK(a == block.data());
  CHECK(b == block.data() + 16);
  CHECK(c == block.data() + 48);
  CHECK(room.take(1) == nullptr);
  CHECK(room.holds(block.data()));
  CHECK(room.holds(block.data() + 255));
  CHECK_FALSE(room.holds(block.data() + 256));
}

TEST_CASE("what is given back is lent again, alone or together with its neighbour", "[memory][lent]") {
  Numbers block(64);
  Room room(block.data(), block.size());
  float *a = room.take(16), *b = room.take(16), *c = room.take(32);
  room.give_back(b);
  CHECK(room.take(32) == nullptr);
  CHECK(room.take(16) == b);
  room.give_back(b);
  room.give_back(a);
  CHECK(room.take(32) == a);
  room.give_back(c);
  CHECK(room.take(17) == c);
}

TEST_CASE("numbers lie in the room if it has a gap for them, else in memory of their own", "[memory][lent]") {
  Numbers block(64);
  Room room(block.data(), block.size());
  Lent first(48, &room), second(48, &room), none(8);
  CHECK(first.data() == block.data());
  CHECK_FALSE(room.holds(second.data()));
  CHECK_FALSE(room.holds(none.data()));
  second.data()[47] = 1;  // its own, all of it
  SECTION("they leave it when they end") {
    first = {};
    CHECK(Lent(64, &room).data() == block.data());
  }
  SECTION("moved, they stay where they are") {
    const float* before = second.data();
    Lent moved(std::move(second)), other(std::move(first));
    CHECK(moved.data() == before);
    CHECK(moved.size() == 48);
    CHECK(other.data() == block.data());
    CHECK(room.take(48) == nullptr);
  }
}

TEST_CASE("a tape lays gradients that only adjoints read into a lent room, and no others", "[tape][lent]") {
  Numbers block(1 << 16);
  Room room(block.data(), block.size());
  Tape<B> tape(Tape<B>::Mode::record, &room);
  const auto x = tape.leaf({3, 4}, std::vector<float>(12, 0.5F));
  const auto w = tape.leaf({2, 4}, std::vector<float>(8, 0.25F));
  const auto copied = concat_columns({x, x});
  const auto product = linear(x, w);
  CHECK(room.holds(copied.gradient.place()));
  for (const float* lasting : {copied.value, product.value, product.gradient.place(), x.gradient.place()})
    CHECK_FALSE(room.holds(lasting));
  SECTION("and the result is the same") {
    Tape<B> plain;
    const auto y = plain.leaf({3, 4}, std::vector<float>(12, 0.5F));
    plain.backward(sum(tanh(concat_columns({y, y}))));
    tape.backward(sum(tanh(copied)));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x.gradient[i] == y.gradient[i]);
  }
  SECTION("a product that is added to such a variable keeps a copy of its gradient") {
    const auto gradients = [](Tape<B>& on) {
      const auto x2 = on.leaf({3, 4}, std::vector<float>(12, 0.5F));
      const auto wide = on.leaf({8, 4}, std::vector<float>(32, 0.25F));
      const auto y = concat_columns({x2, x2});
      add_linear(y, x2, wide);
      on.backward(sum(tanh(y)));
      return std::pair(gradient<2>(x2), gradient<2>(wide));
    };
    Tape<B> plain;
    CHECK(gradients(tape) == gradients(plain));
  }
  SECTION("to put off what needs such a gradient is refused") {
    const WeightGradient<B> use{.weight = w.gradient, .dy = copied.gradient};
    CHECK(test::message_of([&] { tape.defer(use); }) ==
          "Tape::defer: expected a gradient that lasts, got that of a passing() variable; copy it to "
          "lasting_room() in the adjoint");
    tape.defer(WeightGradient<B>{.dy = copied.gradient});  // adds to nothing
  }
}
