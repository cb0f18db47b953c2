// Whole trainings over processes that are threads: validation, checkpoints, interruptions and faults.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/in_memory.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

/// Pairs of numbers' names; `seed` makes others.
bd::Corpus corpus(std::size_t pairs, unsigned seed = 1) {
  std::vector<bd::SentencePair> all;
  const char* names[] = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
  const char* noms[] = {"un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit"};
  for (std::size_t i = 0; i < pairs; ++i) {
    const bd::random::Key key = bd::random::Key{seed}.derive(i);
    bd::SentencePair pair;
    for (std::size_t t = 0; t < 1 + key.bits(99) % 5; ++t) {
      pair.source += std::string(t == 0 ? "" : " ") + names[key.bits(t) % 8];
      pair.target += std::string(t == 0 ? "" : " ") + noms[key.bits(t) % 8];
    }
    all.push_back(pair);
  }
  return bd::Corpus::from_pairs(all, {.min_frequency = 1, .max_length = 8});
}

Model new_model(const bd::Corpus& data) {
  return Model({.embed = 8, .hidden = 12, .layers = 1, .dropout = 0.1F}, data.vocabularies(), 2);
}

bd::TrainerOptions options() {
  return {.epochs = 4,
          .batch = 16,
          .seed = 3,
          .threads = 1,
          .schedule = {.warm_up = 3, .patience = 1},
          .patience = 3,
          .progress = bd::Progress::silent,
          .replicas = 4};
}

struct Result {
  std::vector<float> weights;
  bd::TrainingReport report;
};

/// What each rank ends with. `change(options, rank)` may give a rank others.
template <class Change>
std::vector<Result> trained(std::size_t processes, Change change) {
  const auto both = corpus(90).split(20);  // no structured binding: clang++ 14 captures none
  const auto &data = both.first, &validation = both.second;
  std::vector<Result> results(processes);
  run_ranks(processes, [&](InMemory& end) {
    Model model = new_model(data);
    bd::TrainerOptions own = options();
    own.communicator = end;
    change(own, end.rank());
    bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, own);
    results[end.rank()].report = trainer.fit(data, validation);
    results[end.rank()].weights = model.weights().read();
  });
  for (const Result& result : results) CHECK(result.weights == results[0].weights);
  return results;
}

void as_they_are(bd::TrainerOptions&, std::size_t) {}

/// Epochs are compared by numbers that rank 0 alone knows.
void by_a_criterion(bd::TrainerOptions& options, std::size_t rank) {
  options.criterion = {"own", [rank, epoch = 0]() mutable {
                         CHECK(rank == 0);
                         return std::vector{5.0, 2.0, 3.0, 4.0}.at(static_cast<std::size_t>(epoch++));
                       }};
}

using Catch::Matchers::ContainsSubstring;

}  // namespace

TEST_CASE("all processes keep the epoch that rank 0 finds best", "[distributed][trainer][bits]") {
  const std::vector<Result> alone = trained(1, by_a_criterion);
  for (const Result& result : trained(4, by_a_criterion)) {
    CHECK(result.report.best_epoch == 2);
    CHECK(result.report.epochs[2].measured == 3.0);
    CHECK(result.weights == alone[0].weights);
  }
}

TEST_CASE("a whole training ends with the same bits, however many processes there are",
          "[distributed][trainer][bits]") {
  const std::vector<Result> alone = trained(1, as_they_are);
  for (const std::size_t processes : {2U, 4U}) {
    const std::vector<Result> several = trained(processes, as_they_are);
    CHECK(several[0].weights == alone[0].weights);
    for (const Result& result : several) {
      REQUIRE(result.report.epochs.size() == alone[0].report.epochs.size());
      CHECK(result.report.best_epoch == alone[0].report.best_epoch);
      for (std::size_t e = 0; e < result.report.epochs.size(); ++e) {
        CHECK(result.report.epochs[e].training.nats == alone[0].report.epochs[e].training.nats);
        CHECK(result.report.epochs[e].validation->nats == alone[0].report.epochs[e].validation->nats);
      }
    }
  }
}

TEST_CASE("a training is resumed with another number of processes, to the same bits",
          "[distributed][trainer][checkpoint][bits]") {
  const std::vector<float> through = trained(1, as_they_are)[0].weights;
  const TemporaryDirectory folder;
  for (const std::size_t before : {1U, 4U})
    for (const std::size_t after : {1U, 2U, 4U}) {
      INFO("from " << before << " to " << after);
      const auto file = folder.path() / "checkpoint";
      std::filesystem::remove(file);
      std::atomic<bool> interrupt{true};  // after the first batch
      const auto first = trained(before, [&](bd::TrainerOptions& own, std::size_t rank) {
        own.checkpoint = file;
        own.checkpoint_seconds = 0;
        if (rank + 1 == before) own.interrupt = &interrupt;  // one of them is told, and all end
      });
      for (const Result& result : first) CHECK(result.report.interrupted);
      REQUIRE(std::filesystem::exists(file));
      std::size_t batches = 0;
      // Once more, in the second epoch.
      std::atomic<bool> again{false};
      const auto second = trained(after, [&](bd::TrainerOptions& own, std::size_t) {
        own.checkpoint = file;
        own.checkpoint_every = 1;
        own.checkpoint_seconds = 0;
        own.resume = true;
        own.interrupt = &again;
        own.on_epoch = [&](const bd::EpochReport&) { again = ++batches == 1; };
      });
      for (const Result& result : second) CHECK(result.report.interrupted);
      const auto last = trained(before, [&](bd::TrainerOptions& own, std::size_t) {
        own.checkpoint = file;
        own.resume = true;
      });
      CHECK(last[0].weights == through);
      CHECK(last[0].report.epochs.size() == 4);
    }
}

TEST_CASE("a checkpoint knows the replicas, and those of one replica are as before",
          "[distributed][trainer][checkpoint]") {
  const TemporaryDirectory folder;
  const bd::Corpus data = corpus(40);
  const auto fit = [&](std::size_t replicas, bool resume) {
    Model model = new_model(data);
    bd::TrainerOptions own = options();
    own.replicas = replicas;
    own.checkpoint = folder.path() / "checkpoint";
    own.resume = resume;
    bd::Trainer(model, bd::Adam{}, own).fit(data);
  };
  fit(1, false);
  const auto file = bd::SafetensorsFile::open(folder.path() / "checkpoint");
  CHECK(file.metadata().at("state").find("replicas") == std::string::npos);
  CHECK_THAT(message_of([&] { fit(4, true); }),
             ContainsSubstring("expected replicas none, as when the checkpoint was made"));
}

TEST_CASE("rank 0 alone calls back; what it does to weights, and stop, is so everywhere",
          "[distributed][trainer]") {
  const bd::Corpus data = corpus(40);
  for (const std::size_t processes : {1U, 4U}) {
    std::vector<int> calls(processes), batches(processes);
    std::vector<std::size_t> epochs(processes);
    std::vector<std::vector<float>> weights(processes);
    run_ranks(processes, [&](InMemory& end) {
      Model model = new_model(data);
      bd::TrainerOptions own = options();
      own.communicator = end;
      bd::Trainer<Model>* running = nullptr;
      own.on_batch = [&](const bd::BatchReport&) { ++batches[end.rank()]; };
      own.on_epoch = [&](const bd::EpochReport& report) {
        ++calls[end.rank()];
        if (report.epoch == 1)
          model.weights().change([](std::span<float> w) {
            for (float& x : w) x *= 0.5F;
          });
        if (report.epoch == 2) running->stop();
      };
      bd::Trainer<Model> trainer(model, bd::Adam{}, own);
      running = &trainer;
      epochs[end.rank()] = trainer.fit(data).epochs.size();
      weights[end.rank()] = model.weights().read();
    });
    CHECK(calls[0] == 2);
    CHECK(batches[0] >= 2);
    for (std::size_t r = 0; r < processes; ++r) {
      CHECK(epochs[r] == 2);
      CHECK(weights[r] == weights[0]);
      if (r > 0) CHECK((calls[r] == 0 && batches[r] == 0));
    }
    static std::vector<float> of_one;
    if (processes == 1) of_one = weights[0];
    CHECK(weights[0] == of_one);
  }
}

TEST_CASE("what differs between processes is an error at the start that names it",
          "[distributed][trainer][error]") {
  const auto messages = [](const auto& change) {
    InMemoryHub hub(4);
    return errors_of_ranks(hub, [&](InMemory& end) {
      bd::Corpus data = corpus(40);
      bd::TrainerOptions own = options();
      own.communicator = end;
      bd::Adam optimizer{.rate = 0.01};
      std::uint64_t seed = 2;
      if (end.rank() == 2) change(own, data, optimizer, seed);
      Model model({.embed = 8, .hidden = 12, .layers = 1}, corpus(40).vocabularies(), seed);
      bd::Trainer(model, optimizer, own).fit(data);
    });
  };
  const auto check = [&](const std::string& expected, const auto& change) {
    for (const std::string& error : messages(change)) CHECK_THAT(error, ContainsSubstring(expected));
  };
  check("rank 2: Training: expected clip 1, as rank 0 has, got 2",
        [](auto& own, auto&, auto&, auto&) { own.clip = 2; });
  check("rank 2: Training: expected optimizer.rate 0.01, as rank 0 has, got 0.02",
        [](auto&, auto&, auto& optimizer, auto&) { optimizer.rate = 0.02; });
  check("rank 2: Training: expected replicas 4, as rank 0 has, got 8",
        [](auto& own, auto&, auto&, auto&) { own.replicas = 8; });
  check("rank 2: Trainer::fit: expected batch 16, as rank 0 has, got 8",
        [](auto& own, auto&, auto&, auto&) { own.batch = 8; });
  check("rank 2: Training: expected weights fingerprint", [](auto&, auto&, auto&, auto& seed) { seed = 3; });
  check("rank 2: Trainer::fit: expected data 40 pairs, fingerprint",
        [](auto&, auto& data, auto&, auto&) { data = data.split(10).second; });
}

TEST_CASE("programs, compilers and libraries of different versions are an error at the start",
          "[distributed][error]") {
  const std::string version = bd::blas::version();  // "0.3.21"
  CHECK(version.find_first_not_of("0123456789.") == version.find_first_of("abcdefghijklmnopqrstuvwxyz-"));
  CHECK_THAT(version, Catch::Matchers::StartsWith("0."));
  for (const char* what :
       {"version", "compiler", "OpenBLAS", "BLAS kernels", "instructions", "backend", "scalar"}) {
    InMemoryHub hub(4);
    const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
      Model model({.embed = 8, .hidden = 12, .layers = 1}, corpus(40).vocabularies(), 1);
      bd::StepOptions own;
      own.communicator = end;
      auto environment = bd::detail::environment_of(model, bd::Adam{}, own);
      if (end.rank() == 2) environment.at(what) += " of another";
      bd::detail::require_same_everywhere(end, "Training", environment);
    });
    for (const std::string& error : errors) {
      CHECK_THAT(error, Catch::Matchers::StartsWith("rank 2: Training: expected " + std::string(what) + " "));
      CHECK_THAT(error, ContainsSubstring(" of another; all processes need the same program"));
    }
  }
}

namespace {

/// Data whose batches fail in one process alone.
struct Failing {
  const bd::Corpus* data;
  bool fails;
  std::size_t size() const { return data->size(); }
};
bd::Batch make_batch(const Failing& f, std::span<const std::size_t> pairs) {
  static std::atomic<int> made{0};
  if (f.fails && ++made > 2) bd::fail("pairs.tsv", "a disk", "one that broke");
  return bd::make_batch(*f.data, pairs);
}
std::pair<std::size_t, std::size_t> length_of(const Failing& f, std::size_t i) {
  return bd::length_of(*f.data, i);
}
std::uint64_t fingerprint(const Failing& f) { return bd::fingerprint(*f.data); }

}  // namespace

TEST_CASE("a process that throws ends all, and says which it was and why", "[distributed][trainer][error]") {
  InMemoryHub hub(4);
  const bd::Corpus data = corpus(60);
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    Model model = new_model(data);
    bd::TrainerOptions own = options();
    own.communicator = end;
    bd::Trainer(model, bd::Adam{}, own).fit(Failing{&data, end.rank() == 3});
  });
  CHECK(errors[3] == "pairs.tsv: expected a disk, got one that broke");
  for (const std::size_t r : {0U, 1U, 2U})
    CHECK(errors[r] == "rank 3: pairs.tsv: expected a disk, got one that broke");
}

TEST_CASE("what only one process can be told wrong ends all, before training and in it",
          "[distributed][trainer][error]") {
  const bd::Corpus data = corpus(60);
  const auto first_error = [&](auto change) {
    InMemoryHub hub(4);
    const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
      Model model = new_model(data);
      bd::TrainerOptions own = options();
      own.communicator = end;
      change(own, model, end.rank());
      bd::Trainer(model, bd::Adam{}, own).fit(data);
    });
    for (const std::string& error : errors) CHECK_FALSE(error.empty());
    return errors[1];
  };
  CHECK(first_error([](auto& own, auto&, std::size_t rank) {
          if (rank == 2) own.batch = 0;
        }) == "rank 2: TrainerOptions.batch: expected at least 1, got 0");
  CHECK_THAT(first_error([](auto& own, auto&, std::size_t rank) {
               if (rank == 3) own.fixed = {"no.such.parameter"};
             }),
             Catch::Matchers::StartsWith("rank 3: "));
  CHECK_THAT(first_error([](auto& own, auto& model, std::size_t) {
               own.on_batch = [&model](const bd::BatchReport&) {
                 model.weights().change([](std::span<float> w) { w[0] *= 0.5F; });
               };
             }),
             Catch::Matchers::StartsWith("rank 0: on_batch: expected weights that it leaves as they are"));
}

TEST_CASE("a training that diverges throws in all processes, with the last good weights",
          "[distributed][trainer][error]") {
  InMemoryHub hub(4);
  const bd::Corpus data = corpus(60);
  std::vector<std::vector<float>> weights(4);
  const std::vector<float> first = new_model(data).weights().read();
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    Model model = new_model(data);
    bd::TrainerOptions own = options();
    own.communicator = end;
    own.clip = 0;
    own.schedule = {};
    try {
      bd::Trainer(model, bd::Sgd{.rate = 1e38}, own).fit(data);
    } catch (const bd::Error&) {
      weights[end.rank()] = model.weights().read();
      throw;
    }
  });
  CHECK(hub.failure().empty());
  for (const std::string& error : errors) {
    CHECK(error == errors[0]);
    CHECK_THAT(error, ContainsSubstring("the model has its first weights"));
  }
  for (const auto& of_rank : weights) CHECK((of_rank == first));
}

TEST_CASE("rank 0 alone shows progress", "[distributed][trainer]") {
  const bd::Corpus data = corpus(40);
  const auto lines = [&](std::size_t processes) {
    const std::string said = captured_stderr([&] {
      run_ranks(processes, [&](InMemory& end) {
        Model model = new_model(data);
        bd::TrainerOptions own = options();
        own.communicator = end;
        own.progress = bd::Progress::lines;
        bd::Trainer(model, bd::Adam{}, own).fit(data);
      });
    });
    return std::count(said.begin(), said.end(), '\n');
  };
  CHECK(lines(4) == lines(1));
}
