// Softmax and cross-entropy in one pass, in place of the logits: beside the same made of small operations.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/core/random.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Error;
using bahdanau::Index;
using bahdanau::Result;
using bahdanau::Shape;
using bahdanau::Tape;
using bahdanau::Variable;
using bahdanau::test::largest_difference;
using bahdanau::test::TestBackend;
using Catch::Matchers::Message;

namespace {

using B = TestBackend<double>;

constexpr std::size_t rows = 5, inputs = 4, classes = 11;
const std::vector<Index> targets = {0, 10, 3, 3, 7};

struct Leaves {
  explicit Leaves(Tape<B>& tape)
      : x(leaf(tape, {rows, inputs}, 1)), w(leaf(tape, {classes, inputs}, 2)), b(leaf(tape, {classes}, 3)) {}
  static Variable<B> leaf(Tape<B>& tape, Shape shape, std::uint64_t key) {
    std::vector<double> numbers(shape.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 2 * bahdanau::random::Key{key}.normal(i);
    return tape.leaf(shape, numbers);
  }
  Variable<B> x, w, b;
};

}  // namespace

TEST_CASE("the fused loss and its gradient are those of the small operations", "[loss][gradient]") {
  constexpr double scale = 0.3;
  Tape<B> fused_tape, tape;
  const Leaves fused(fused_tape), composed(tape);

  const auto logits = linear(fused.x, fused.w, fused.b, Result::given);
  const auto nats = cross_entropy(logits, fused_tape.keep(targets), scale);
  fused_tape.play();

  // ln Σ e^x - x[target]
  std::vector<double> chosen(rows * classes, 0);
  for (std::size_t r = 0; r < rows; ++r) chosen[r * classes + static_cast<std::size_t>(targets[r])] = 1;
  const auto plain = linear(composed.x, composed.w, composed.b);
  const auto picked = sum_columns(plain * tape.constant({rows, classes}, chosen));
  const auto expected = log(sum_columns(exp(plain))) - picked;
  tape.backward(scale * sum(expected));

  CHECK(largest_difference(value<1>(nats), value<1>(expected)) < 1e-12);
  CHECK(largest_difference(gradient<2>(fused.x), gradient<2>(composed.x)) < 1e-12);
  CHECK(largest_difference(gradient<2>(fused.w), gradient<2>(composed.w)) < 1e-12);
  CHECK(largest_difference(gradient<1>(fused.b), gradient<1>(composed.b)) < 1e-12);
}

TEST_CASE("the smoothed loss and its gradient are those of the small operations", "[loss][gradient]") {
  constexpr double scale = 0.3, smoothing = 0.2;
  Tape<B> fused_tape, tape;
  const Leaves fused(fused_tape), composed(tape);
  const auto logits = linear(fused.x, fused.w, fused.b, Result::given);
  const auto both = smoothed_cross_entropy(logits, fused_tape.keep(targets), scale, smoothing);
  fused_tape.play();

  // ln Σ e^x - Σ_c q_c x[c], where q is (1 - ε) on the target and ε / classes on each
  std::vector<double> chosen(rows * classes, 0), q(rows * classes, smoothing / classes);
  for (std::size_t r = 0; r < rows; ++r) {
    chosen[r * classes + static_cast<std::size_t>(targets[r])] = 1;
    q[r * classes + static_cast<std::size_t>(targets[r])] += 1 - smoothing;
  }
  const auto plain = linear(composed.x, composed.w, composed.b);
  const auto log_total = log(sum_columns(exp(plain)));
  const auto nats = log_total - sum_columns(plain * tape.constant({rows, classes}, chosen));
  const auto losses = log_total - sum_columns(plain * tape.constant({rows, classes}, q));
  tape.backward(scale * sum(losses));

  CHECK(largest_difference(value<1>(both.nats), value<1>(nats)) < 1e-12);
  CHECK(largest_difference(value<1>(both.losses), value<1>(losses)) < 1e-12);
  CHECK(largest_difference(gradient<2>(fused.x), gradient<2>(composed.x)) < 1e-12);
  CHECK(largest_difference(gradient<2>(fused.w), gradient<2>(composed.w)) < 1e-12);
  CHECK(largest_difference(gradient<1>(fused.b), gradient<1>(composed.b)) < 1e-12);
  for (const double wrong : {-0.1, 1.0})
    CHECK_THROWS_AS(smoothed_cross_entropy(logits, fused_tape.keep(targets), scale, wrong), Error);
}

TEST_CASE("the loss of a sure and right guess is near 0, of an even one ln n", "[loss]") {
  Tape<B> tape(Tape<B>::Mode::infer);
  const std::vector<double> logits = {50, 0, 0, 0, 2, 2, 2, 2, 0, 50, 0, 0};
  const std::vector<Index> target = {0, 3, 0};
  const auto nats = value<1>(cross_entropy(tape.constant({3, 4}, logits), tape.keep(target), 1.0));
  CHECK(nats(0) == Approx(3 * std::exp(-50.0)).margin(1e-15));
  CHECK(nats(1) == Approx(std::log(4.0)).epsilon(1e-14));
  CHECK(nats(2) == Approx(50).epsilon(1e-14));
}

TEST_CASE("logits beyond the range of exp give a finite loss", "[loss]") {
  Tape<B> tape(Tape<B>::Mode::checked);
  const auto logits = tape.variable({2, 3}, Result::given);
  const std::vector<double> huge = {1e6, -1e6, 1e6 - 1, -1e6, -1e6, -1e6};
  B::upload(huge.data(), 6, logits.value);
  const std::vector<Index> target = {2, 1};
  const auto nats = value<1>(cross_entropy(logits, tape.keep(target), 1.0));
  CHECK(nats(0) == Approx(1 + std::log1p(std::exp(-1.0))).epsilon(1e-9));
  CHECK(nats(1) == Approx(std::log(3.0)).epsilon(1e-9));
  const auto gradients = gradient<2>(logits);
  for (const double g : gradients) CHECK(std::isfinite(g));
  CHECK(gradients(0, 0) == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(gradients(1, 1) == Approx(1.0 / 3 - 1));
}

TEST_CASE("inference leaves the logits as they are", "[loss]") {
  Tape<B> tape(Tape<B>::Mode::infer);
  const std::vector<double> numbers = {1, 2, 3};
  const auto logits = tape.constant({1, 3}, numbers);
  const std::vector<Index> target = {0};
  cross_entropy(logits, tape.keep(target), 1.0);
  CHECK(largest_difference(value<2>(logits), {{1, 2, 3}}) == 0);
}

TEST_CASE("logits that another adjoint still needs are refused", "[loss]") {
  Tape<B> tape(Tape<B>::Mode::checked);
  const auto logits = tape.leaf({1, 3}, std::vector<double>{1, 2, 3});
  const std::vector<Index> target = {0};
  const Index* kept = tape.keep(target);
  CHECK_THROWS_MATCHES(cross_entropy(logits, kept, 1.0), Error,
                       Message("cross_entropy: expected logits made with Result::given, got logits that "
                               "are not its to overwrite"));
}
