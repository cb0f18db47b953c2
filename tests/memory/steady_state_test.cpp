// Nothing is allocated once a training or a decoding has seen what it works on.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "memory/allocations.hpp"
#include "support/catch.hpp"
#include "support/sequences.hpp"

using bahdanau::test::allocations;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
// What glibc calls its own.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  ++allocations;
  *place = __libc_memalign(alignment, size);
  return *place == nullptr ? ENOMEM : 0;
}
}
#endif

namespace {

namespace bd = bahdanau;
using bd::test::allocations_of;
using bd::test::counts_allocations;

template <class Cell, class Score, class Encoder = bd::Unidirectional>
using Model = bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>, Encoder>;

template <class M>
std::size_t in_steady_state(bd::Config config = {}, const bd::ScheduledSampling& sampling = {}) {
  config.embed = 12;
  config.hidden = 16;
  config.dropout = 0.1F;
  M model(config, bd::test::numbered(30, 40, 9), 1);
  bd::Training<M> training(model, bd::Adam{}, {.clip = 1, .threads = 2, .scheduled_sampling = sampling});
  std::vector<bd::Batch> batches;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    batches.push_back(
        {bd::test::random_sequences(70, 9, 30, seed), bd::test::random_sequences(70, 9, 40, seed + 100)});
  const auto epoch = [&] {
    for (const bd::Batch& batch : batches) {
      training.loss(batch);
      training.backward();
      training.step();
      training.evaluate(batch);
    }
  };
  for (int warm_up = 0; warm_up < 3; ++warm_up) epoch();
  // The least of some epochs: a thread that had nothing to do so far, as the machine was busy, takes its
  // workspace with its first product. What a step allocates, all epochs have.
  auto least = allocations_of(epoch);
  for (int more = 0; more < 4 && least > 0; ++more) least = std::min(least, allocations_of(epoch));
  return least;
}

}  // namespace

TEST_CASE("a wrapped allocator counts", "[memory]") {
  if (!counts_allocations) return;
  [[maybe_unused]] static const void* volatile seen;  // else clang++ leaves an allocation out that nobody
                                                      // looks at
  CHECK(allocations_of([] {
          const std::vector<int> numbers(100);
          seen = numbers.data();
        }) > 0);
  CHECK(allocations_of([] {
          const bd::Xtensor<float>::Storage<float> numbers(100);
          seen = numbers.data();
        }) > 0);
}

TEST_CASE("training allocates nothing once it has seen its batches", "[memory][train]") {
  if (!counts_allocations) return;
  CHECK(in_steady_state<Model<bd::Gru, bd::Additive>>() == 0);
  CHECK(in_steady_state<Model<bd::LayerNorm<bd::Lstm>, bd::Additive>>() == 0);
  const bd::Config residual{
      .residual = true, .dropout_masks = bd::DropoutMasks::per_sequence, .embedding_dropout = 0.1F};
  CHECK(in_steady_state<Model<bd::Gru, bd::Additive>>(
            residual, {.decay = bd::ScheduledSampling::Decay::linear, .k = 0.5}) == 0);
  CHECK(in_steady_state<Model<bd::Lstm, bd::ScaledDot>>() == 0);
  CHECK(in_steady_state<Model<bd::Gru, bd::Additive, bd::Bidirectional>>() == 0);
  CHECK(in_steady_state<bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Convolutional<2, 3>,
                                           bd::Conditional>>() == 0);
}

TEST_CASE("a longer greedy translation makes no more allocations than a short one", "[memory][decode]") {
  if (!counts_allocations) return;
  using M = Model<bd::Gru, bd::Additive>;
  M model({.embed = 12, .hidden = 16, .layers = 2}, bd::test::numbered(30, 40, 60), 1);
  // It never ends by itself.
  for (const auto& entry : model.parameters().entries())
    if (entry.name == "decoder.dense.bias") {
      auto bias = model.weights().read(entry.parameter);
      bias[bd::reserved::eos] = -1e9F;
      model.weights().write(entry.parameter, bias);
    }
  const std::vector<std::string> sentences(3, "4 5 6 7");
  const auto translate = [&](std::size_t length) {
    return allocations_of([&] { model.translate(sentences, bd::Greedy{.max_length = length}); });
  };
  translate(60);
  CHECK(translate(60) == translate(20));
  // So it is with words that are forbidden, and for several models.
  bd::Greedy told;
  told.forbidden = {"4", "5 6"};
  const auto frozen = model.freeze();
  const bd::Ensemble ensemble{frozen, frozen};
  const auto of = [&](const auto& translating, std::size_t length) {
    told.max_length = length;
    return allocations_of([&] { translating.translate(sentences, told); });
  };
  of(model, 60);
  CHECK(of(model, 60) == of(model, 20));
  of(ensemble, 60);
  CHECK(of(ensemble, 60) == of(ensemble, 20));
}

TEST_CASE("a session allocates nothing once sentences of a size came", "[memory][session]") {
  if (!counts_allocations) return;
  const auto in_a_session = []<class M>(const M* type) {
    static_cast<void>(type);
    const M model({.embed = 12, .hidden = 16, .layers = 2}, bd::test::numbered(30, 40, 60), 1);
    bd::Session session(model.freeze());
    std::vector<bd::Sequences> batches;
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      batches.push_back(bd::test::random_sequences(5, 9, 30, seed));
    std::vector<bd::Index> parents;
    std::vector<bd::Token> tokens;
    const auto search = [&](const bd::Sequences& batch) {
      session.restart(batch);
      parents.clear();
      for (std::size_t r = 0; r < batch.rows(); ++r) parents.push_back(static_cast<bd::Index>(r));
      tokens.assign(parents.size(), bd::reserved::bos);
      for (std::size_t step = 0; step < 12; ++step) {
        session.step(parents, tokens, step == 7 ? 0 : 4);
        parents.clear();
        tokens.clear();
        for (std::size_t r = 0; r < session.rows() && parents.size() < 20; ++r)
          for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
            parents.push_back(static_cast<bd::Index>(r));
            tokens.push_back(step == 7 ? static_cast<bd::Token>(4 + k) : session.next(r)[k]);
          }
      }
    };
    for (int warm_up = 0; warm_up < 3; ++warm_up)
      for (const bd::Sequences& batch : batches) search(batch);
    return allocations_of([&] {
      for (const bd::Sequences& batch : batches) search(batch);
    });
  };
  CHECK(in_a_session(static_cast<Model<bd::Gru, bd::Additive>*>(nullptr)) == 0);
  CHECK(in_a_session(static_cast<Model<bd::Lstm, bd::ScaledDot>*>(nullptr)) == 0);
  CHECK(in_a_session(static_cast<Model<bd::Gru, bd::Additive, bd::Bidirectional>*>(nullptr)) == 0);
  using Feeding =
      bd::EncoderDecoder<bd::Lstm, bd::General, bd::Xtensor<float>, bd::InputFeeding, bd::Bidirectional>;
  CHECK(in_a_session(static_cast<Feeding*>(nullptr)) == 0);
}
