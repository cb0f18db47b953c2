// The workspace of a training step: who gets which part of it in which phase, and those who get none.
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/autograd/workspace.hpp>
#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"

using namespace bahdanau;

namespace {

using B = Xtensor<float>;
using Numbers = B::Storage<float>;
using Workspace = detail::Workspace<float>;
using detail::Phase;

}  // namespace

TEST_CASE("what is taken from a workspace lies apart, on cache lines, until the phase ends", "[memory]") {
  Numbers block(256);
  Workspace workspace(block.data(), block.size());
  workspace.begin(Phase::forward);
  CHECK(workspace.take(1) == block.data());
  CHECK(workspace.take(17) == block.data() + 16);
  CHECK(workspace.take(208) == block.data() + 48);
  CHECK(workspace.take(1) == nullptr);
  workspace.begin(Phase::loss);
  CHECK(workspace.take(256) == block.data());
}

TEST_CASE("shares lie behind what is reserved and last until the next forward pass", "[memory]") {
  Numbers block(256);
  Workspace workspace(block.data(), block.size());
  workspace.begin(Phase::loss);
  workspace.share(60, 256, 3);
  const auto first = workspace.share_of(0), last = workspace.share_of(2);
  CHECK(first.begin == block.data() + 64);
  CHECK(first.size == 64);
  CHECK(last.begin + last.size == block.data() + 256);
  CHECK(workspace.take(65) == nullptr);
  CHECK(workspace.take(64) == block.data());
  workspace.begin(Phase::adjoint);
  CHECK(workspace.take(65) == nullptr);
  CHECK(workspace.take(64) == block.data());
  workspace.begin(Phase::forward);
  CHECK(workspace.take(256) == block.data());
  workspace.begin(Phase::loss);
  workspace.share(1000, 256, 2);
  CHECK(workspace.share_of(1).size == 0);
  workspace.share(10, 130, 1);
  CHECK(workspace.share_of(0).begin == block.data() + 16);
  CHECK(workspace.share_of(0).size == 112);  // nothing behind the limit, whose last line is cut
  CHECK(workspace.take(17) == nullptr);
}

TEST_CASE("numbers lie in the workspace if it has room, else in memory of their own", "[memory]") {
  Numbers block(64);
  Workspace workspace(block.data(), block.size());
  detail::WorkspaceNumbers<Numbers> first, second;
  CHECK(first.allocate(48, &workspace) == block.data());
  float* own = second.allocate(48, &workspace);
  CHECK((own < block.data() || own >= block.data() + 64));
  own[47] = 1;                                 // all of it
  CHECK(second.allocate(20, nullptr) == own);  // kept
}

TEST_CASE("a tape lays gradients that only adjoints read into its share, and no others", "[tape][memory]") {
  Numbers block(1 << 12);
  const auto inside = [&](const float* p) { return p >= block.data() && p < block.data() + block.size(); };
  for (const std::size_t size : {std::size_t{1} << 12, std::size_t{16}, std::size_t{0}}) {
    CAPTURE(size);
    Tape<B> tape, plain;
    const auto run = [](Tape<B>& on) {
      const auto x = on.leaf({3, 4}, std::vector<float>(12, 0.5F));
      const auto w = on.leaf({8, 4}, std::vector<float>(32, 0.25F));
      const auto copied = concat_columns({x, x});
      const auto product = linear(x, w);
      return std::array{x, w, copied, product, sum(tanh(copied) * product)};
    };
    const auto on_share = run(tape), alone = run(plain);
    tape.use({block.data(), size});
    B::fill(tape.seed(on_share[4]), 1, 1);
    tape.play();
    plain.backward(alone[4]);
    CHECK(inside(tape.gradient_of(on_share[2])) == (size > 100));
    for (const std::size_t lasting : {0U, 1U, 3U}) CHECK_FALSE(inside(tape.gradient_of(on_share[lasting])));
    for (const std::size_t leaf : {0U, 1U}) CHECK((gradient<2>(on_share[leaf]) == gradient<2>(alone[leaf])));
  }
}
