// Weight gradients of shards, added up by threads: whatever shares memory is added by one of them, in order.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/train/shard_gradients.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/watched.hpp"

namespace bd = bahdanau;
using bd::test::largest_difference;

namespace {

using Watched = bd::test::Watched<double>;
using bd::test::WatchedWrites;
using Product = bd::WeightGradient<Watched>;
using Rows = bd::RowGradient<Watched>;

/// Shards with uses of weights, all of whose gradients lie in one block.
class Shards {
 public:
  Shards(std::size_t shards, std::size_t size)
      : products_(shards), rows_(shards), gradients_(size, 0), expected_(size, 0) {}

  double* gradients() { return gradients_.data(); }

  /// y = x Wᵀ + b in one shard. Offsets are into the gradients; `none` for a use without it.
  static constexpr std::size_t none = ~std::size_t{0};
  void multiply(std::size_t shard, std::size_t weight, std::size_t bias, std::size_t rows, std::size_t inputs,
                std::size_t outputs, std::size_t stride, std::size_t dy_stride) {
    Product use;
    if (weight != none) use.weight = gradients() + weight;
    if (bias != none) use.bias = gradients() + bias;
    use.x = numbers(rows * inputs);
    use.dy = numbers(rows * dy_stride);
    use.rows = rows, use.inputs = inputs, use.outputs = outputs, use.stride = stride,
    use.dy_stride = dy_stride;
    products_[shard].push_back(use);
    // dW[o][i] += Σ_r dy[r][o] x[r][i], db[o] += Σ_r dy[r][o]
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t o = 0; o < outputs; ++o) {
        const double dy = use.dy[r * dy_stride + o];
        for (std::size_t i = 0; weight != none && i < inputs; ++i)
          expected_[weight + o * stride + i] += dy * use.x[r * inputs + i];
        if (bias != none) expected_[bias + o] += dy;
      }
  }
  /// y[i] = W[index[i]] in one shard.
  void gather(std::size_t shard, std::size_t weight, std::vector<bd::Index> index, std::size_t cols,
              std::size_t table) {
    const auto& kept = indices_.emplace_back(std::move(index));
    const double* dy = numbers(kept.size() * cols);
    rows_[shard].push_back(Rows{gradients() + weight, dy, kept.data(), kept.size(), cols, table});
    // dW[index[r]][i] += dy[r][i]
    for (std::size_t r = 0; r < kept.size(); ++r)
      for (std::size_t i = 0; i < cols; ++i)
        expected_[weight + static_cast<std::size_t>(kept[r]) * cols + i] += dy[r * cols + i];
  }

  /// The sum of all uses, by so many threads.
  std::vector<double> sum(std::size_t threads) {
    WatchedWrites::clear();
    WatchedWrites::pause = std::chrono::milliseconds(2);
    std::fill(gradients_.begin(), gradients_.end(), 0.0);
    bd::detail::ShardGradients<Watched> all;
    for (std::size_t s = 0; s < rows_.size(); ++s) all.add({products_[s], rows_[s]});
    bd::Workers workers(threads);
    all.sum(workers);
    return gradients_;
  }
  /// The same, number by number.
  const std::vector<double>& expected() const { return expected_; }

 private:
  const double* numbers(std::size_t n) {
    std::vector<double>& out = numbers_.emplace_back(n);
    for (double& x : out) x = bd::random::Key{17}.normal(drawn_++);
    return out.data();
  }

  std::vector<std::vector<Product>> products_;
  std::vector<std::vector<Rows>> rows_;
  std::vector<double> gradients_, expected_;
  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<bd::Index>> indices_;
  std::uint64_t drawn_ = 0;
};

constexpr auto none = Shards::none;

void check(Shards& shards) {
  const std::vector<double> alone = shards.sum(1);
  CHECK(largest_difference(alone, shards.expected()) < 1e-12);
  for (const std::size_t threads : {2U, 3U, 8U}) {
    INFO(threads << " threads");
    CHECK((shards.sum(threads) == alone));
    CHECK(WatchedWrites::clashes == 0);
  }
}

}  // namespace

TEST_CASE("shards with many uses of a weight, with few and with a long one add to it in turn",
          "[train][gradient][threads]") {
  // W [6, 4] at 0, b [6] at 24. Rows of dy are 9 apart, as those of a part of a cell's gates are.
  Shards shards(3, 40);
  for (int use = 0; use < 20; ++use) shards.multiply(0, 0, 24, 3, 4, 6, 4, 9);  // many short ones
  for (int use = 0; use < 2; ++use) shards.multiply(1, 0, 24, 3, 4, 6, 4, 9);
  shards.multiply(2, 0, 24, 300, 4, 6, 4, 9);
  shards.multiply(0, 30, none, 3, 2, 5, 2, 5);  // another weight, for another thread
  check(shards);
}

TEST_CASE("a weight with and without a bias is added to in turn", "[train][gradient][threads]") {
  Shards shards(2, 40);  // W [6, 4] at 0, b [6] at 24, c [6] at 30
  for (std::size_t shard : {0U, 1U}) {
    shards.multiply(shard, 0, 24, 5, 4, 6, 4, 6);
    shards.multiply(shard, 0, none, 5, 4, 6, 4, 6);
    shards.multiply(shard, 0, 30, 5, 4, 6, 4, 6);
    shards.multiply(shard, none, 24, 5, 4, 6, 4, 6);
  }
  check(shards);
}

TEST_CASE("a bias of two weights is added to in turn", "[train][gradient][threads]") {
  Shards shards(2, 60);  // V [6, 4] at 0, W [6, 4] at 24, b [6] at 48
  for (std::size_t shard : {0U, 1U}) {
    shards.multiply(shard, 0, 48, 5, 4, 6, 4, 6);
    shards.multiply(shard, 24, 48, 5, 4, 6, 4, 6);
  }
  check(shards);
}

TEST_CASE("an embedding that is multiplied with too is added to in turn", "[train][gradient][threads]") {
  Shards shards(2, 40);  // E [6, 4] at 0, b [6] at 24
  for (std::size_t shard : {0U, 1U}) {
    shards.gather(shard, 0, {5, 0, 5, 3}, 4, 6);
    shards.multiply(shard, 0, 24, 5, 4, 6, 4, 6);
    shards.gather(shard, 4, {1, 2}, 4, 5);  // its rows from the second on
  }
  check(shards);
}

TEST_CASE("blocks of a weight's columns, apart or overlapping, are added to in turn",
          "[train][gradient][threads]") {
  Shards shards(2, 80);  // W [6, 10] at 0, b [6] at 60, c [6] at 66
  for (std::size_t shard : {0U, 1U}) {
    shards.multiply(shard, 0, 60, 5, 4, 6, 10, 6);
    shards.multiply(shard, 4, none, 5, 6, 6, 10, 6);
    shards.multiply(shard, 2, 66, 5, 5, 6, 10, 6);
    shards.multiply(shard, 0, none, 5, 10, 6, 10, 6);
  }
  check(shards);
}

TEST_CASE("blocks of a weight's rows that overlap are added to in turn", "[train][gradient][threads]") {
  Shards shards(2, 80);  // W [8, 6] at 0; b [8] at 48
  for (std::size_t shard : {0U, 1U}) {
    shards.multiply(shard, 0, 48, 5, 6, 5, 6, 8);
    shards.multiply(shard, 18, 51, 5, 6, 5, 6, 8);
    shards.multiply(shard, 0, 60, 5, 6, 8, 6, 8);
  }
  check(shards);
}

TEST_CASE("a large weight is divided among threads, one that is gathered from as well is not",
          "[train][gradient][threads]") {
  constexpr std::size_t rows = 1500, cols = 1000;  // more than a piece of work holds
  for (const bool tied : {false, true}) {
    Shards shards(2, rows * cols + rows);
    for (std::size_t shard : {0U, 1U}) {
      shards.multiply(shard, 0, rows * cols, 2, cols / 2, rows, cols, rows);
      shards.multiply(shard, cols / 2, none, 2, cols / 2, rows, cols, rows);
      if (tied) shards.gather(shard, 0, {1499, 3, 700}, cols, rows);
    }
    INFO((tied ? "tied" : "not tied"));
    shards.sum(2);
    CHECK(WatchedWrites::additions == (tied ? 2U * (2 + 1 + 1) : 2U * (2 * 2 + 1)));
    check(shards);
  }
}
