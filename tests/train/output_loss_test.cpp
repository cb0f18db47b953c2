// The dense layer and the loss, some rows at a time: beside the same for all rows at once on a tape.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/train/output_loss.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/numbers.hpp"

using namespace bahdanau;
using bahdanau::test::largest_difference;
using bahdanau::test::numbers;

namespace {

using B = Xtensor<double>;
using OutputLoss = detail::OutputLoss<B>;

/// Shards of a batch, a dense layer, and what they should give.
struct Case {
  std::vector<std::size_t> shards;
  std::size_t classes, hidden;
  double smoothing = 0;

  std::size_t rows = 0;
  std::vector<double> h, w, b;
  std::vector<Index> target;

  Case(std::vector<std::size_t> sizes, std::size_t c, std::size_t width, double epsilon)
      : shards(std::move(sizes)), classes(c), hidden(width), smoothing(epsilon) {
    for (const std::size_t size : shards) rows += size;
    h = numbers<double>(rows * hidden, 1);
    w = numbers<double>(classes * hidden, 2);
    for (double& weight : w) weight *= 0.1;
    b = numbers<double>(classes, 3);
    for (std::size_t r = 0; r < rows; ++r) target.push_back(static_cast<Index>((7 * r + 3) % classes));
  }
};

struct Computed {
  Loss loss;
  std::vector<double> dh, dw, db;
};

constexpr double share = 0.1;

Computed in_pieces(const Case& c, std::size_t threads, bool gradients = true,
                   detail::Workspace<double>* workspace = nullptr) {
  Computed out{{},
               std::vector<double>(c.h.size(), 9.0),  // stored, whatever was there
               std::vector<double>(c.w.size(), 0.0),
               std::vector<double>(c.b.size(), 0.0)};
  OutputLoss loss(workspace);
  std::size_t first = 0;
  for (const std::size_t size : c.shards) {
    loss.add({c.h.data() + first * c.hidden, gradients ? out.dh.data() + first * c.hidden : nullptr,
              c.target.data() + first, size});
    first += size;
  }
  OutputLoss::Layer layer{
      c.w.data(), c.b.data(), gradients ? out.dw.data() : nullptr, gradients ? out.db.data() : nullptr,
      c.classes,  c.hidden};
  WeightPanels<B> panels;
  panels.begin(c.w.data(), c.w.size(), 1);
  layer.pack(panels);
  Workers workers(threads);
  out.loss = loss.run(workers, layer, share, c.smoothing);
  return out;
}

Computed at_once(const Case& c) {
  Tape<B> tape;
  const auto h = tape.leaf({c.rows, c.hidden}, c.h), w = tape.leaf({c.classes, c.hidden}, c.w),
             b = tape.leaf({c.classes}, c.b);
  const auto both =
      smoothed_cross_entropy(linear(h, w, b, Result::given), tape.keep(c.target), share, c.smoothing);
  tape.play();
  const auto flat = [](const Variable<B>& v) {
    const auto array = gradient<1>(v.reshape({v.size()}));
    return std::vector<double>(array.begin(), array.end());
  };
  return {{B::sum(c.rows, both.nats.value), c.rows, B::sum(c.rows, both.losses.value) * share},
          flat(h),
          flat(w),
          flat(b)};
}

// One piece, several pieces, several blocks; weights that are packed and that are not.
const std::vector<Case> cases = {{{5}, 11, 4, 0},
                                 {{320, 300}, 40, 8, 0},
                                 {{600, 1, 257}, 30, 130, 0.2},
                                 {{400, 400}, 9000, 3, 0},
                                 {{300}, 8500, 128, 0}};

}  // namespace

TEST_CASE("rows in pieces give the loss and the gradients of all rows at once", "[loss][training]") {
  for (const Case& c : cases) {
    CAPTURE(c.shards, c.classes, c.hidden, c.smoothing);
    const Computed expected = at_once(c), got = in_pieces(c, 2);
    CHECK(got.loss.nats == Approx(expected.loss.nats).epsilon(1e-12));
    CHECK(got.loss.sum == Approx(expected.loss.sum).epsilon(1e-12));
    CHECK(got.loss.tokens == c.rows);
    CHECK(largest_difference(got.dh, expected.dh) < 1e-12);
    CHECK(largest_difference(got.dw, expected.dw) < 1e-12);
    CHECK(largest_difference(got.db, expected.db) < 1e-12);
  }
}

TEST_CASE("the loss in pieces has the same bits for any number of threads", "[loss][training][threads]") {
  for (const Case& c : cases) {
    CAPTURE(c.shards, c.classes, c.hidden);
    const Computed one = in_pieces(c, 1);
    for (const std::size_t threads : {2U, 3U, 8U}) {
      const Computed many = in_pieces(c, threads);
      CHECK(many.loss.nats == one.loss.nats);
      CHECK(many.dh == one.dh);
      CHECK(many.dw == one.dw);
      CHECK(many.db == one.db);
    }
  }
}

TEST_CASE("without gradients the loss in pieces writes none", "[loss][training]") {
  const Case& c = cases[2];
  const Computed quiet = in_pieces(c, 2, false);
  CHECK(quiet.loss.sum == Approx(in_pieces(c, 2).loss.sum).epsilon(1e-12));
  for (const double untouched : quiet.dh) REQUIRE(untouched == 9.0);
}

TEST_CASE("logits in a workspace, or beside one that is too small, change nothing", "[loss][training]") {
  const Case& c = cases[1];
  const Computed expected = in_pieces(c, 2);
  for (const std::size_t size : {100U, 1'000'000U}) {
    B::Storage<double> block(size);
    std::fill_n(block.data(), size, 3.0);
    detail::Workspace<double> workspace(block.data(), size);
    const Computed shared = in_pieces(c, 2, true, &workspace);
    CHECK(shared.loss.nats == expected.loss.nats);
    CHECK(shared.dw == expected.dw);
    CHECK((block.data()[50] == 3.0) == (size == 100));  // used, or left alone
  }
}
