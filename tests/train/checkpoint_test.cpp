#include <chrono>
#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
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
  const auto [training, validation] = corpus().split(15, 1);
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
  const std::string hint = "; resume with the same settings and data, or start anew without --resume";
  CHECK(resumed([](auto& o) { o.batch = 20; }) ==
        "FILE: expected batch 10, as when the checkpoint was made, got 20" + hint);
  CHECK(resumed([](auto& o) { o.clip = 2; }) ==
        "FILE: expected clip 1, as when the checkpoint was made, got 2" + hint);
  const auto [rest, part] = corpus().split(10, 1);
  const std::string message =
      message_of([&] { bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 2)).fit(rest); });
  CHECK(message.find("expected data 90 pairs, fingerprint ") != std::string::npos);
  put(path, "no checkpoint");
  CHECK_THROWS_AS(bd::Trainer(model, bd::Adam{.rate = 0.01}, options(path, 2)).fit(corpus()), bd::Error);
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
