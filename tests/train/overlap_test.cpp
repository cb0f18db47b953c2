// Gradients that are sent while others are computed: nothing is sent before it is finished, and not a bit
// differs from what is sent afterwards.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/in_memory.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using bd::Slice;
using bd::detail::Division, bd::detail::FinishedElements;

namespace {

constexpr std::size_t part = Division::part;

/// A communicator that must not be called by another thread than the one that trains.
struct OfOneThread {
  InMemory* of;
  std::size_t rank() const { return of->rank(); }
  std::size_t size() const { return of->size(); }
  static bool any_thread() { return false; }
  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) const {
    of->exchange(partner, sent, received);
  }
  void fail_together(std::string_view why) const { of->fail_together(why); }
};

bd::Sequences rows(std::size_t count, std::size_t vocabulary, std::uint64_t seed) {
  auto ids = bd::Array<bd::Token, 2>::from_shape({count, 5});
  std::size_t i = 0;
  for (bd::Token& id : ids)
    id = static_cast<bd::Token>(4 + bd::random::Key{seed}.bits(i++) % (vocabulary - 4));
  return bd::Sequences(std::move(ids));
}

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

/// The weights after two steps, the same in all processes; `beside`: sent while others are computed.
std::vector<float> trained(const bd::Config& config, std::size_t words, std::size_t processes,
                           std::size_t replicas, std::size_t threads, bool beside) {
  const bd::Vocabulary vocabulary = bd::Vocabulary::numbered(words);
  const bd::Batch batch{rows(12, words, 1), rows(12, words, 2)};
  std::vector<std::vector<float>> weights(processes);
  run_ranks(processes, [&](InMemory& end) {
    OfOneThread afterwards{&end};
    Model model(config, {vocabulary, vocabulary, {}}, 1);
    bd::Training training(
        model, bd::Adam{},
        {.clip = 1,
         .threads = threads,
         .replicas = replicas,
         .communicator = beside ? bd::AnyCommunicator(end) : bd::AnyCommunicator(afterwards)});
    for (int step = 0; step < 2; ++step) {
      training.loss(batch);
      training.backward();
      training.step();
    }
    weights[end.rank()] = model.weights().read();
  });
  for (const auto& own : weights) CHECK(own == weights[0]);
  return weights[0];
}

}  // namespace

TEST_CASE("elements are finished when all who write to their part are done", "[train][distributed]") {
  const Division division(bd::AnyCommunicator(), 4);
  FinishedElements finished(division);
  finished.expect({10, part + 5});
  finished.expect({part + 5, part + 6});
  std::atomic<int> stage{0};
  bd::detail::BackgroundThread waits([&] {
    finished.wait({2 * part, 4 * part});  // nobody writes there
    stage = 1;
    finished.wait({part, 2 * part});
    stage = 2;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(stage == 0);
  finished.begin();
  while (stage == 0) std::this_thread::yield();
  finished.finish({10, part + 5});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(stage == 1);
  finished.finish({part + 5, part + 6});
  waits.join();
  CHECK(stage == 2);
}

TEST_CASE("who waits for what is never computed throws", "[train][distributed][error]") {
  FinishedElements finished(Division(bd::AnyCommunicator(), 4));
  bd::detail::BackgroundThread waits([&] { finished.wait({0, part}); });
  finished.abandon();
  CHECK_THAT(message_of([&] { waits.join(); }),
             Catch::Matchers::ContainsSubstring("computing them has failed"));
}

TEST_CASE("what is sent first is computed first", "[train][distributed]") {
  const FinishedElements finished(Division(bd::AnyCommunicator(), 16));  // halves of 8 parts
  const auto message = [&](std::size_t begin, std::size_t end) {
    return finished.first_message({begin * part, end * part}, 2 * part);
  };
  CHECK(message(0, 1) == 0);
  CHECK(message(8, 9) == 0);
  CHECK(message(7, 9) == 0);  // the upper half begins in it
  CHECK(message(5, 6) == 2);
  CHECK(message(13, 14) == 2);
}

TEST_CASE("gradients that are sent while others are computed have the bits of those sent afterwards",
          "[train][distributed][bits]") {
  constexpr std::size_t words = 6000;  // more weights than a message has, in each half
  const bd::Config config{.embed = 64, .hidden = 64, .layers = 2};
  const std::vector<float> alone = trained(config, words, 1, 4, 1, false);
  REQUIRE(alone.size() > 4 * bd::detail::NumberExchange<Model::Backend>::most);
  for (const std::size_t processes : {2U, 4U})
    for (const std::size_t threads : {1U, 2U})
      for (const bool beside : {false, true}) {
        INFO(processes << " processes, " << threads << " threads, beside: " << beside);
        CHECK(trained(config, words, processes, 4, threads, beside) == alone);
      }
}

TEST_CASE("gradients of weights that are divided by rows are not sent before all of their rows are there",
          "[train][distributed][bits]") {
  // Three gates of 640 rows each: more than the 2^20 elements that are one piece.
  const bd::Config config{.embed = 64, .hidden = 640, .layers = 1};
  CHECK(trained(config, 200, 2, 2, 2, true) == trained(config, 200, 1, 2, 1, false));
}
