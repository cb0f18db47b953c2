// What a Thrust backend asks of its device: copies, launches and memory of training and decoding, counted;
// and what becomes of a device that refuses.
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace bd = bahdanau;

struct Counts {
  std::size_t uploads = 0, downloads = 0, launches = 0, allocations = 0;
  std::size_t uploaded = 0, downloaded = 0;  // bytes
};

/// Counts, and refuses memory when it is told to.
struct Counting {
  static inline Counts counts;
  static inline bool refuse = false;

  static void upload(std::size_t bytes) {
    ++counts.uploads;
    counts.uploaded += bytes;
  }
  static void download(std::size_t bytes) {
    ++counts.downloads;
    counts.downloaded += bytes;
  }
  static void launch() { ++counts.launches; }
  static void allocation(std::size_t) {
    ++counts.allocations;
    if (refuse) throw std::bad_alloc();
  }

  template <class F>
  static Counts of(F f) {
    counts = {};
    f();
    return counts;
  }
};

using Backend = bd::Thrust<float, thrust::device_system_tag, Counting>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

constexpr std::size_t rows = 70, width = 9;

Model model() {
  return Model({.embed = 12, .hidden = 16, .layers = 2, .dropout = 0.1F}, bd::test::numbered(30, 40, width),
               1);
}
bd::Batch batch(std::uint64_t seed = 0) {
  return {bd::test::random_sequences(rows, width, 30, seed),
          bd::test::random_sequences(rows, width, 40, seed + 9)};
}

/// It never ends by itself.
void make_endless(Model& m) {
  for (const auto& entry : m.parameters().entries())
    if (entry.name == "decoder.dense.bias") {
      auto bias = m.weights().read(entry.parameter);
      bias[bd::reserved::eos] = -1e9F;
      m.weights().write(entry.parameter, bias);
    }
}

}  // namespace

TEST_CASE("a training step copies token numbers in, a loss and a norm out, and nothing else",
          "[thrust][transfer]") {
  Model m = model();
  bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
  const bd::Batch b = batch();
  const auto forward = [&] { training.loss(b); };
  const auto rest = [&] {
    training.backward();
    training.step();
  };
  forward();
  rest();  // the first step finds its memory too small, and is recorded twice
  const auto loss = Counting::of(forward), step = Counting::of(rest);
  // Source, target with spans, and labels: numbers of tokens and of rows, a few for each token.
  CHECK(loss.uploads <= 3);
  CHECK(loss.uploaded < 40 * rows * width * sizeof(bd::Index));
  CHECK(loss.downloads == 1);
  CHECK(loss.downloaded == sizeof(double));
  CHECK(step.uploads == 0);
  CHECK(step.downloads == 1);
  CHECK(step.downloaded == sizeof(double));
  const auto evaluation = Counting::of([&] { training.evaluate(b); });
  CHECK(evaluation.uploads <= 3);
  CHECK(evaluation.downloads == 1);
}

TEST_CASE("the kernels of a training step are few, and as many for any number of sentences",
          "[thrust][launch]") {
  const auto launches = [](std::size_t sentences) {
    Model m = model();
    bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
    // All of one length, so that the number of steps does not depend on the number of sentences.
    const std::vector<std::vector<bd::Token>> sources(sentences, std::vector<bd::Token>(width, 5));
    const bd::Batch b{bd::Sequences::from_rows(sources), bd::Sequences::from_rows(sources)};
    const auto step = [&] {
      training.loss(b);
      training.backward();
      training.step();
    };
    step();
    return Counting::of(step).launches;
  };
  const std::size_t few = launches(4), many = launches(64);
  std::printf("kernels and products in one training step (2 layers, %zu source and %zu target steps): %zu\n",
              width, width, many);
  CHECK(few == many);
  // Each of 9 steps in 2 encoder layers: a product onto its bias, and the cell; each of 9 decoder steps: the
  // same for two layers, attention and dropout. Backwards about as many again.
  CHECK(many < 90 * width);
}

TEST_CASE("the device is asked for memory in the first steps only", "[thrust][memory]") {
  Model m = model();
  bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
  const auto epoch = [&] {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      training.loss(batch(seed));
      training.backward();
      training.step();
      training.evaluate(batch(seed));
    }
  };
  CHECK(Counting::of([&] {
          epoch();
          epoch();
        }).allocations > 0);
  CHECK(Counting::of(epoch).allocations == 0);
}

TEST_CASE("greedy decoding copies once in and once out a step", "[thrust][transfer][decode]") {
  Model m = model();
  make_endless(m);
  const std::vector<std::string> sentences(3, "4 5 6 7");
  const auto decode = [&](std::size_t length) {
    return Counting::of([&] { m.translate(sentences, bd::Greedy{.max_length = length}); });
  };
  decode(20);
  const auto shorter = decode(10), longer = decode(20);
  CHECK(longer.uploads - shorter.uploads == 10);
  CHECK(longer.downloads - shorter.downloads == 10);
  CHECK(longer.allocations == 0);
}

TEST_CASE("a device without memory is an error, and the model file stays whole", "[thrust][error]") {
  const bd::test::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  Model m = model();
  m.save(path);
  const std::string before = bd::test::contents(path);
  Backend::release_memory();
  Counting::refuse = true;
  const std::string loading = bd::test::message_of([&] { Model::load(path); });
  bd::Training<Model>* none = nullptr;
  const std::string training = bd::test::message_of([&] {
    bd::Training<Model> t(m);
    none = &t;
  });
  const std::string translating = bd::test::message_of([&] { m.translate("4 5 6"); });
  Counting::refuse = false;
  for (const std::string& message : {loading, training, translating}) {
    INFO(message);
    CHECK(message.starts_with("Thrust, allocating "));
    CHECK(message.ends_with(
        "expected enough device memory, got none left; use smaller batches or a smaller model"));
  }
  CHECK(none == nullptr);
  CHECK(bd::test::contents(path) == before);
  CHECK(Model::load(path).translate("4 5 6").text == m.translate("4 5 6").text);  // and it goes on
}

TEST_CASE("what a device throws says what was being done", "[thrust][error]") {
  CHECK(bd::test::message_of([] {
          bd::detail::on_device("launching a kernel",
                                [] { throw std::runtime_error("an illegal memory access"); });
        }) == "Thrust, launching a kernel: expected success, got an illegal memory access");
}

TEST_CASE("memory that was given back is used again", "[thrust][memory]") {
  Backend::Storage<float> kept(1000);
  const auto again = Counting::of([] {
    for (int i = 0; i < 5; ++i) Backend::Storage<float> numbers(100'000);
  });
  CHECK(again.allocations <= 1);
  Backend::release_memory();
  CHECK(Counting::of([] { Backend::Storage<float> numbers(100'000); }).allocations == 1);
}
