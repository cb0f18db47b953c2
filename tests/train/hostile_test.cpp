// Checkpoints whose numbers contradict one another, as a fuzzer made them: each is refused, and says where.
// And settings at the edges of their types.
#include <limits>
#include <string>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

namespace {

const bd::Corpus& corpus() {
  static const std::vector<bd::SentencePair> pairs = {{"a", "x"}, {"b a", "y x"}, {"a b", "x y"}};
  static const bd::Corpus c = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 4});
  return c;
}

/// A checkpoint of two epochs in which a part of the state is replaced.
class Edited {
 public:
  Edited() : model_({.embed = 2, .hidden = 3, .layers = 1}, corpus().vocabularies(), 3) {
    train(2);
    const auto file = bd::SafetensorsFile::open(path_);
    good_ = file.metadata().at("state");
  }

  const std::filesystem::path& path() const { return path_; }

  /// What resuming says of it, after the path.
  std::string said(const std::string& what, const std::string& with) {
    const auto before = bd::SafetensorsFile::open(path_);
    std::string state = good_;
    REQUIRE(state.find(what) != state.npos);
    state.replace(state.find(what), what.size(), with);
    bd::SafetensorsWriter file;
    for (const auto& [key, value] : before.metadata()) file.metadata(key, key == "state" ? state : value);
    for (const auto& [name, info] : before.tensors()) file.add(name, info.shape, before.read<float>(name));
    file.write(path_);
    model_.save(model_path_);
    const std::string model = contents(model_path_);
    const std::string message = message_of([&] { train(4); });
    model_.save(model_path_);
    CHECK(contents(model_path_) == model);  // what is refused changes nothing
    return message.starts_with(path_.string()) ? message.substr(path_.string().size()) : message;
  }

 private:
  void train(std::size_t epochs) {
    bd::Trainer(model_, bd::Adam{.rate = 0.01},
                {.epochs = epochs,
                 .batch = 2,
                 .threads = 1,
                 .progress = bd::Progress::silent,
                 .checkpoint = path_,
                 .resume = true})
        .fit(corpus());
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "checkpoint", model_path_ = directory_ / "model";
  Model model_;
  std::string good_;
};

}  // namespace

TEST_CASE("a checkpoint whose epochs contradict one another is refused", "[train][checkpoint][hostile]") {
  Edited checkpoint;
  const std::string state = ": metadata \"state\": ";
  // Epochs are looked up by this number; one that is not there was read beyond the end of the list.
  CHECK(checkpoint.said("\"best_epoch\":2", "\"best_epoch\":5000") ==
        state + "expected a best_epoch from 1 to 2, got 5000");
  CHECK(checkpoint.said("\"best_epoch\":2", "\"best_epoch\":18446744073709551615") ==
        state + "expected a best_epoch from 1 to 2, got 18446744073709551615");
  CHECK(checkpoint.said("\"best_epoch\":2", "\"best_epoch\":0") ==
        state + "expected a best_epoch from 1 to 2, got 0");
  CHECK(checkpoint.said("{\"epoch\":2,", "{\"epoch\":3,") == state + "expected reports of epochs: 3, got 2");
  CHECK(checkpoint.said("{\"epoch\":2,\"training\"", "{\"epoch\":7,\"training\"") ==
        state + "expected a report of epoch 2, got 7");
}

TEST_CASE("a checkpoint beyond the end of an epoch is refused", "[train][checkpoint][hostile]") {
  Edited checkpoint;
  CHECK(checkpoint.said("\"batch\":0", "\"batch\":3") ==
        ": expected at most the 2 batches of an epoch, got 3");
}

TEST_CASE("a checkpoint with an impossible schedule is refused", "[train][checkpoint][hostile]") {
  Edited checkpoint;
  const std::string state = ": metadata \"state\": ";
  CHECK(checkpoint.said("\"schedule\":[1,", "\"schedule\":[1e300,") ==
        state + "expected a factor of the schedule from 0 to 1, got 1e+300");
  CHECK(checkpoint.said("\"schedule\":[1,", "\"schedule\":[-1,") ==
        state + "expected a factor of the schedule from 0 to 1, got -1");
}

TEST_CASE("settings in a checkpoint cannot garble or flood the message", "[train][checkpoint][hostile]") {
  Edited checkpoint;
  const std::string hint =
      "; resume with the same settings and data, or start anew with resume = false (the tool: without "
      "--resume)";
  CHECK(checkpoint.said("\"batch\":\"2\"", "\"batch\":\"\\u001b[31m" + std::string(1000, 'a') + "\"") ==
        ": expected batch \\x1b[31m" + std::string(75, 'a') + "..., as when the checkpoint was made, got 2" +
            hint);
}

TEST_CASE("a checkpoint that is refused leaves the trainer as it was", "[train][checkpoint][hostile]") {
  const TemporaryDirectory directory;
  const auto train = [&](bool refused_first) {
    Model model({.embed = 2, .hidden = 3, .layers = 1}, corpus().vocabularies(), 3);
    bd::Trainer trainer(model, bd::Adam{.rate = 0.01},
                        {.epochs = 1,
                         .batch = 2,
                         .threads = 1,
                         .progress = bd::Progress::silent,
                         .checkpoint = directory / "checkpoint",
                         .resume = true});
    if (refused_first) {
      const Edited of_two_epochs;
      std::filesystem::copy_file(of_two_epochs.path(), directory / "checkpoint");
      CHECK_THROWS_AS(trainer.fit(corpus()), bd::Error);
    }
    std::filesystem::remove(directory / "checkpoint");
    trainer.fit(corpus());
    std::filesystem::remove(directory / "checkpoint");
    model.save(directory / "model");
    return contents(directory / "model");
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("a batch of any size holds at most the corpus", "[train][batches][hostile]") {
  for (const std::size_t batch : {std::size_t{4}, std::size_t{1} << 62U, ~std::size_t{0}})
    for (const bd::Grouping grouping : {bd::Grouping::random, bd::Grouping::by_length}) {
      const bd::EpochPlan plan(corpus(), batch, grouping, bd::random::Key{1});
      REQUIRE(plan.batches() == 1);
      CHECK(plan.pairs(0).size() == 3);
      CHECK(message_of([&] { (void)plan.pairs(1); }) == "EpochPlan: expected a batch below 1, got 1");
    }
}
