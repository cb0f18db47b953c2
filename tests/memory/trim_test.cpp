// Memory that was freed goes back to the system only if the program asks for it: that holds up all its
// threads.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

#if defined(__GLIBC__)

namespace {
std::atomic<int> trims{0};
}

// In the place of the C library's own.
extern "C" int malloc_trim(std::size_t) {
  ++trims;
  return 0;
}

namespace bd = bahdanau;

TEST_CASE("training trims the process's memory only on request", "[memory][train][trim]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  Model model({.embed = 12, .hidden = 16, .layers = 1}, bd::test::numbered(30, 40, 9), 1);
  const auto trims_of = [&](const bd::StepOptions& options) {
    const int before = trims;
    bd::Training training(model, bd::Adam{}, options);
    for (std::size_t rows = 8; rows <= 32; rows += 8) {  // each larger than those before
      training.loss({bd::test::random_sequences(rows, 9, 30, 1), bd::test::random_sequences(rows, 9, 40, 2)});
      training.backward();
      training.step();
    }
    return trims - before;
  };
  CHECK(trims_of({.threads = 1}) == 0);
  CHECK(trims_of({.threads = 1, .trim_memory = true}) > 0);
  const auto fits = [&](bool trim) {
    const int before = trims;
    std::string words;
    for (int i = 0; i < 500; ++i) words += "a ";
    const auto c = bd::Corpus::from_pairs(
        std::vector<bd::SentencePair>{{"a", "a"}, {"a", "a"}, {"a", "a"}, {words, words}},
        {.min_frequency = 1});
    Model small({.embed = 12, .hidden = 16, .layers = 1}, c.vocabularies(), 1);
    bd::Trainer(small, bd::Adam{},
                {.epochs = 4, .batch = 1, .progress = bd::Progress::silent, .trim_memory = trim})
        .fit(c);
    return trims - before;
  };
  CHECK(fits(false) == 0);
  CHECK(fits(true) > 0);
}

#endif
