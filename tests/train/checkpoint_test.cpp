#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Model = bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::test::TestBackend<float>>;

namespace {

const bd::Corpus& corpus() {
  static const bd::Corpus c = [] {
    std::vector<bd::SentencePair> pairs;
    for (int i = 0; i < 90; ++i)
      pairs.push_back({"a" + std::to_string(i % 9) + " b" + std::to_string(i / 9),
                       "b" + std::to_string(i / 9) + " a" + std::to_string(i % 9)});
    return bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 5});
  }();
  return c;
}

bd::TrainerOptions options(const std::filesystem::path& checkpoint, std::size_t epochs) {
  return {.epochs = epochs,
          .batch = 10,
          .seed = 5,
          .threads = 1,  // a forked child has no other threads
          .grouping = bd::Grouping::by_length,
          .schedule = {.warm_up = 20, .patience = 2},
          .progress = bd::Progress::silent,
          .checkpoint = checkpoint,
          .checkpoint_every = 3,
          .checkpoint_seconds = 0,
          .resume = true};
}

/// Trains, with a validation set, and saves the model; what a killed process would have done.
void train(const std::filesystem::path& directory, std::size_t epochs) {
  const auto both = corpus().split(15, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  Model model({.embed = 12, .hidden = 20, .layers = 2, .dropout = 0.2F}, training.vocabularies(), 3);
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options(directory / "checkpoint", epochs))
      .fit(training, validation);
  model.save(directory / "model.safetensors");
}

}  // namespace

TEST_CASE("training killed at any moment and resumed ends with the same bits",
          "[train][checkpoint][kill][bits]") {
  constexpr std::size_t epochs = 30;
  const TemporaryDirectory through;
  const auto start = std::chrono::steady_clock::now();
  train(through.path(), epochs);
  const auto whole = std::chrono::steady_clock::now() - start;
  const std::string expected = contents(through / "model.safetensors");
  REQUIRE(!expected.empty());
  std::size_t killed = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const TemporaryDirectory directory;
    for (int life = 1; !std::filesystem::exists(directory / "model.safetensors"); ++life) {
      const pid_t child = ::fork();
      if (child == 0) {
        train(directory.path(), epochs);
        ::_exit(0);
      }
      // Each life is killed somewhere else; after some of them one may run through.
      if (life <= 3) {
        std::this_thread::sleep_for(whole * (attempt + 1) * life / 20);
        ::kill(child, SIGKILL);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      killed += WIFSIGNALED(status) ? 1 : 0;
      REQUIRE(life < 10);
    }
    CHECK(contents(directory / "model.safetensors") == expected);
  }
  CHECK(killed >= 5);
}

TEST_CASE("more epochs go on from a finished training", "[train][checkpoint][bits]") {
  const TemporaryDirectory a, b;
  train(a.path(), 4);
  train(a.path(), 9);
  train(b.path(), 9);
  CHECK(contents(a / "model.safetensors") == contents(b / "model.safetensors"));
}

TEST_CASE("a checkpoint of other settings or data is refused", "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 1)).fit(corpus());
  const auto resumed = [&](auto change) {
    auto o = options(path, 2);
    change(o);
    const std::string message =
        message_of([&] { bd::Trainer(model, bd::Adam{.rate = 0.01}, o).fit(corpus()); });
    return message.starts_with(path.string()) ? "FILE" + message.substr(path.string().size()) : message;
  };
  const std::string hint =
      "; resume with the same settings and data, or start anew with resume = false (the tool: without "
      "--resume)";
  CHECK(resumed([](auto& o) { o.batch = 20; }) ==
        "FILE: expected batch 10, as when the checkpoint was made, got 20" + hint);
  CHECK(resumed([](auto& o) { o.clip = 2; }) ==
        "FILE: expected clip 1, as when the checkpoint was made, got 2" + hint);
  const bd::Corpus rest = corpus().split(10, 1).first;
  const std::string message =
      message_of([&] { bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 2)).fit(rest); });
  CHECK(message.find("expected data 90 pairs, fingerprint ") != std::string::npos);
  put(path, "no checkpoint");
  CHECK_THROWS_AS(bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 2)).fit(corpus()), bd::Error);
}

TEST_CASE("a checkpoint is not resumed where first weights came from elsewhere",
          "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  const auto said = [&](std::map<std::string, std::string> origin, std::size_t epochs) {
    auto o = options(path, epochs);
    o.origin = std::move(origin);
    return message_of([&] { bd::Trainer(model, bd::Adam{.rate = 0.01}, o).fit(corpus()); });
  };
  const auto refusal = [&](const std::string& expected, const std::string& got) {
    return path.string() + ": expected " + expected + ", as when the checkpoint was made, got " + got +
           "; resume with the same settings and data, or start anew with resume = false (the tool: without "
           "--resume)";
  };
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 1)).fit(corpus());
  CHECK(said({{"from", "first"}}, 2) == refusal("origin.from none", "first"));
  std::filesystem::remove(path);
  auto from = options(path, 1);
  from.origin = {{"from", "first"}};
  bd::Trainer(model, bd::Adam{.rate = 0.01}, from).fit(corpus());
  CHECK(said({{"from", "second"}}, 2) == refusal("origin.from first", "second"));
  CHECK(said({}, 2) == refusal("origin.from first", "none"));
  CHECK(said({{"embeddings", "glove"}, {"from", "first"}}, 2) == refusal("origin.embeddings none", "glove"));
  from.epochs = 2;
  CHECK(bd::Trainer(model, bd::Adam{.rate = 0.01}, from).fit(corpus()).epochs.size() == 2);
}

TEST_CASE("a checkpoint whose state is not as it should be is refused with the place",
          "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 1)).fit(corpus());
  const std::string good = bd::SafetensorsFile::open(path).metadata().at("state");
  const auto said = [&](const std::string& what, const std::string& with) {
    std::string state = good;
    REQUIRE(state.find(what) != state.npos);
    state.replace(state.find(what), what.size(), with);
    bd::SafetensorsWriter file;
    file.metadata("format", "\"bahdanau-checkpoint/2\"");
    file.metadata("state", state);
    file.write(path);
    const std::string message =
        message_of([&] { bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 2)).fit(corpus()); });
    const std::string before = path.string() + ": metadata \"state\"";
    return message.starts_with(before) ? "STATE" + message.substr(before.size()) : message;
  };
  CHECK(said("{\"epoch\":1,", "{\"epoch\":-1,") ==
        "STATE.epoch: expected a whole number from 0 to 18446744073709551615, got -1");
  CHECK(said("{\"epoch\":1,", "{") == "STATE: expected \"epoch\": a number, got none");
  CHECK(said("{\"epoch\":1,", "{\"epoch\":1,\"epoch\":1,") ==
        "STATE: expected distinct keys, got \"epoch\" twice");
  CHECK(said("\"best\":true", "\"best\":1") == "STATE.epochs.best: expected true or false, got 1");
  CHECK(said("\"running\":[", "\"running\":[\"x\",") == "STATE.running: expected a number, got a string");
  CHECK(said("\"schedule\":[1,", "\"schedule\":[") ==
        "STATE.schedule: expected an array of 4 numbers, got 3");
  CHECK(said("\"settings\":{", "\"settings\":{\"batch\":\"1\",") ==
        "STATE.settings: expected distinct keys, got \"batch\" twice");
  CHECK(said("\"settings\":{", "\"settings\":{\"batch\":[[[[[1]]]]],")
            .ends_with("expected JSON at most 6 deep, got deeper"));
  CHECK(said("\"settings\":{", "\"settings\":").find(": expected JSON, got ") != std::string::npos);
}

TEST_CASE("a training that the callback stops has the checkpoint of its last epoch",
          "[train][checkpoint][bits]") {
  const TemporaryDirectory directory;
  // Far apart, so that only the end is a reason to write one.
  const auto run = [&](const std::string& name, std::size_t epochs, std::size_t stop) {
    Model model({.embed = 8, .hidden = 8, .layers = 1, .dropout = 0.2F}, corpus().vocabularies(), 3);
    auto o = options(directory / name, epochs);
    o.checkpoint_seconds = 1000;
    o.checkpoint_every = 0;
    bd::Trainer<Model>* running = nullptr;
    o.on_epoch = [&](const bd::EpochReport& r) {
      if (r.epoch == stop) running->stop();
    };
    bd::Trainer<Model> trainer(model, bd::Adam{.rate = 0.01}, o);
    running = &trainer;
    const auto report = trainer.fit(corpus());
    return std::pair(report.epochs.size(), bd::test::numbers_of(std::as_const(model).weights()));
  };
  CHECK(run("stopped", 6, 3).first == 3);
  const std::string state = bd::SafetensorsFile::open(directory / "stopped").metadata().at("state");
  CHECK(state.starts_with("{\"epoch\":3,"));
  const auto resumed = run("stopped", 6, 0), whole = run("whole", 6, 0);
  CHECK(resumed.first == 6);
  CHECK(resumed.second == whole.second);
}

TEST_CASE("an epoch is in a checkpoint only after its callback, and what the callback changes with it",
          "[train][checkpoint][bits]") {
  const TemporaryDirectory directory;
  struct Stopped {};
  // Halves the weights after each epoch, and goes no further than epoch `end`.
  const auto run = [&](const std::string& name, std::size_t end) {
    Model model({.embed = 8, .hidden = 8, .layers = 1, .dropout = 0.2F}, corpus().vocabularies(), 3);
    auto o = options(directory / name, 4);
    std::vector<std::size_t> called;
    o.on_epoch = [&](const bd::EpochReport& r) {
      called.push_back(r.epoch);
      const std::string state = bd::SafetensorsFile::open(directory / name).metadata().at("state");
      CHECK(state.starts_with("{\"epoch\":" + std::to_string(r.epoch - 1) + ","));
      if (r.epoch == end) throw Stopped{};
      model.weights().change([](std::span<float> w) {
        for (float& x : w) x *= 0.5F;
      });
    };
    bd::Trainer<Model> trainer(model, bd::Adam{.rate = 0.01}, o);
    try {
      trainer.fit(corpus());
    } catch (const Stopped&) {
    }
    return std::pair(called, bd::test::numbers_of(std::as_const(model).weights()));
  };
  const auto whole = run("whole", 0);
  CHECK(whole.first == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(run("stopped", 3).first == std::vector<std::size_t>{1, 2, 3});
  const auto resumed = run("stopped", 0);
  CHECK(resumed.first == std::vector<std::size_t>{3, 4});  // that which threw is called once more
  CHECK(resumed.second == whole.second);
}

namespace {

/// An optimizer of one's own, which says more than its rate.
struct Signed {
  static constexpr std::string_view name = "signed";
  double rate = 0.01, threshold = 0;
  bd::OptimizerSettings settings() const { return {{"rate", rate}, {"threshold", threshold}}; }

  template <bd::Backend B>
  void update(bd::OptimizerState<B>& state, bd::ParameterBlock<B>& weights,
              const bd::ParameterBlock<B>& gradients, const bd::StepScale& scale) const {
    bd::Sgd{.rate = rate}.update(state, weights, gradients, scale);
  }
};

/// What resuming with another optimizer, of a checkpoint made with the first, says of the difference.
template <class First, class Second>
std::string resumed_with(const First& first, const Second& second) {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  bd::Trainer(model, first, options(path, 1)).fit(corpus());
  const std::string message = message_of([&] { bd::Trainer(model, second, options(path, 2)).fit(corpus()); });
  return message.substr(0, message.find(", as when"))
             .substr(message.starts_with(path.string()) ? path.string().size() + 2 : 0) +
         message.substr(std::min(message.find(", got"), message.size()),
                        message.find(';') - message.find(", got"));
}

}  // namespace

TEST_CASE("a checkpoint is not resumed with another setting of its optimizer", "[train][checkpoint][error]") {
  CHECK(resumed_with(bd::Adam{}, bd::Adam{.rate = 0.5}) == "expected optimizer.rate 0.001, got 0.5");
  CHECK(resumed_with(bd::Adam{}, bd::Adam{.beta1 = 0.8}) == "expected optimizer.beta1 0.9, got 0.8");
  CHECK(resumed_with(bd::Adam{}, bd::Adam{.beta2 = 0.8}) == "expected optimizer.beta2 0.999, got 0.8");
  CHECK(resumed_with(bd::Adam{}, bd::Adam{.epsilon = 1e-7}) == "expected optimizer.epsilon 1e-08, got 1e-07");
  CHECK(resumed_with(bd::AdamW{}, bd::AdamW{.beta1 = 0.8}) == "expected optimizer.beta1 0.9, got 0.8");
  CHECK(resumed_with(bd::AdamW{}, bd::AdamW{.beta2 = 0.8}) == "expected optimizer.beta2 0.999, got 0.8");
  CHECK(resumed_with(bd::AdamW{}, bd::AdamW{.epsilon = 1}) == "expected optimizer.epsilon 1e-08, got 1");
  CHECK(resumed_with(bd::AdamW{}, bd::AdamW{.decay = 0.5}) == "expected optimizer.decay 0.01, got 0.5");
  CHECK(resumed_with(bd::Sgd{}, bd::Sgd{.momentum = 0.5}) == "expected optimizer.momentum 0, got 0.5");
  CHECK(resumed_with(bd::Adadelta{}, bd::Adadelta{.rho = 0.5}) == "expected optimizer.rho 0.95, got 0.5");
  CHECK(resumed_with(bd::Adadelta{}, bd::Adadelta{.epsilon = 1}) ==
        "expected optimizer.epsilon 1e-06, got 1");
  CHECK(resumed_with(Signed{}, Signed{.threshold = 2}) == "expected optimizer.threshold 0, got 2");
  // A setting that only the checkpoint has is a difference too.
  CHECK(resumed_with(bd::Adam{}, bd::Sgd{}) == "expected optimizer adam, got sgd");
}

TEST_CASE("a checkpoint is not resumed with another scalar type", "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  using Double = bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::test::TestBackend<double>>;
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  Double other({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  bd::Trainer(model, bd::Adam{}, options(path, 1)).fit(corpus());
  CHECK(
      message_of([&] {
        bd::Trainer(other, bd::Adam{}, options(path, 2)).fit(corpus());
      }).starts_with(path.string() + ": expected scalar float, as when the checkpoint was made, got double"));
}

TEST_CASE("a checkpoint of another format is refused, and one of version 0.1 is told why",
          "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "checkpoint";
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  bd::Trainer(model, bd::Adam{}, options(path, 1)).fit(corpus());
  const std::string state = bd::SafetensorsFile::open(path).metadata().at("state");
  const auto said = [&](const std::string& format) {
    bd::SafetensorsWriter file;
    if (!format.empty()) file.metadata("format", format);
    file.metadata("state", state);
    file.write(path);
    const std::string message =
        message_of([&] { bd::Trainer(model, bd::Adam{}, options(path, 2)).fit(corpus()); });
    return message.substr(std::min(path.string().size(), message.size()));
  };
  CHECK(said("") == ": expected a checkpoint, got a file without metadata \"format\"");
  CHECK(said("\"bahdanau-checkpoint/1\"") ==
        ": expected a checkpoint of format \"bahdanau-checkpoint/2\", got \"bahdanau-checkpoint/1\", of "
        "version 0.1; its random numbers were others: finish that training with version 0.1, or start anew "
        "with resume = false (the tool: without --resume)");
  CHECK(said("\"bahdanau/1\"").starts_with(": expected a checkpoint of format "));
}

TEST_CASE("a disk that is full at a checkpoint does not end the training",
          "[train][checkpoint][disk][kill]") {
  // Files of this child may not grow beyond 4096 bytes until its fourth epoch: writing fails as on a full
  // disk.
  const TemporaryDirectory directory;
  const auto run = [&] {
    Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus().vocabularies(), 3);
    auto o = options(directory / "checkpoint", 5);
    o.checkpoint_every = 0;
    o.progress = bd::Progress::lines;
    const auto limit = [](rlim_t bytes) {
      rlimit now{};
      ::getrlimit(RLIMIT_FSIZE, &now);
      now.rlim_cur = std::min(bytes, now.rlim_max);
      ::setrlimit(RLIMIT_FSIZE, &now);
    };
    bool none_before = false;
    o.on_epoch = [&](const bd::EpochReport& r) {
      if (r.epoch == 4) {  // after the checkpoint of the third
        none_before = !std::filesystem::exists(directory / "checkpoint");
        limit(RLIM_INFINITY);
      }
    };
    std::signal(SIGXFSZ, SIG_IGN);
    limit(4096);
    const bd::TrainingReport report = bd::Trainer(model, bd::Adam{.rate = 0.01}, o).fit(corpus());
    return none_before && report.epochs.size() == 5 && report.failed_checkpoints == 3 &&
           !report.last_checkpoint_failed;
  };
  int status = -1;
  const std::string said = captured_stderr([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      bool well = false;
      try {
        well = run();
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      ::_exit(well ? 0 : 1);
    }
    ::waitpid(child, &status, 0);
  });
  CAPTURE(said);
  CHECK(status == 0);
  const std::string warning =
      "bahdanau: warning: a checkpoint could not be written: " + (directory / "checkpoint").string() + ": ";
  CHECK(said.find(warning) != said.npos);
  CHECK(said.find(warning) == said.rfind(warning));  // once, until one is written again
  CHECK(bd::SafetensorsFile::open(directory / "checkpoint")
            .metadata()
            .at("state")
            .starts_with("{\"epoch\":5,"));
}

TEST_CASE("a place for checkpoints that is none is an error before training", "[train][checkpoint][error]") {
  const TemporaryDirectory directory;
  Model model({.embed = 8, .hidden = 8, .layers = 1}, corpus().vocabularies(), 3);
  std::size_t epochs = 0;
  auto o = options(directory.path() / "no" / "checkpoint", 1);
  o.on_epoch = [&](const bd::EpochReport&) { ++epochs; };
  CHECK(message_of([&] {
          bd::Trainer(model, bd::Adam{}, o).fit(corpus());
        }).starts_with(o.checkpoint.string() + ": expected a folder that can be written to"));
  CHECK(epochs == 0);
}
