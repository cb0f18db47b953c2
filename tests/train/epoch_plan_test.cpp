// The order of an epoch that several processes divide: rows of the same batches, in memory for these rows.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/train/batches.hpp>

#include "support/catch.hpp"

namespace bd = bahdanau;

namespace {

struct Numbers {
  std::size_t count;
  std::size_t size() const { return count; }
};
std::uint64_t length_of(const Numbers&, std::size_t i) { return bd::random::mix(i) % 60; }

constexpr std::size_t processes_tried[] = {2, 4, 8};

}  // namespace

TEST_CASE("the rows of all processes together are the batches of one", "[train][batches][distributed]") {
  for (const std::size_t count : {1U, 63U, 1000U, 300001U})  // the last one by many windows
    for (const std::size_t batch : {1U, 5U, 64U, 2000U})
      for (const auto grouping : {bd::Grouping::random, bd::Grouping::by_length}) {
        const Numbers data{count};
        const bd::EpochPlan whole(data, batch, grouping, {3});
        for (const std::size_t processes : processes_tried) {
          if (count > 1000 && processes > 2 && batch != 64) continue;
          std::vector<bd::EpochPlan> plans;
          for (std::size_t rank = 0; rank < processes; ++rank)
            plans.emplace_back(data, batch, grouping, bd::random::Key{3},
                               bd::detail::Replicas{8, rank, processes});
          bool same = true;
          std::vector<std::size_t> together;
          for (std::size_t b = 0; b < whole.batches(); ++b) {
            together.clear();
            for (const bd::EpochPlan& plan : plans) {
              same = same && plan.batches() == whole.batches() && plan.rows(b) == whole.pairs(b).size();
              together.insert(together.end(), plan.pairs(b).begin(), plan.pairs(b).end());
            }
            same = same && std::vector(whole.pairs(b).begin(), whole.pairs(b).end()) == together;
          }
          INFO(count << " pairs, batches of " << batch << ", " << processes << " processes");
          CHECK(same);
        }
      }
}

TEST_CASE("what a process remembers of an epoch's order falls with the processes",
          "[train][batches][distributed]") {
  for (const auto grouping : {bd::Grouping::random, bd::Grouping::by_length}) {
    const Numbers data{200000};
    const auto bytes = [&](std::size_t processes) {
      return bd::EpochPlan(data, 64, grouping, {3}, bd::detail::Replicas{8, processes - 1, processes})
          .bytes();
    };
    CHECK(bytes(1) >= 8 * data.count);
    CHECK(2 * bytes(2) <= bytes(1) + bytes(1) / 10);
    CHECK(4 * bytes(4) <= bytes(1) + bytes(1) / 10);
  }
}
