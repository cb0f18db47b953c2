// A training over MPI that can be told to go wrong, for mpi_test.cpp: `worker key=value ...`.
// Rank 0 writes the weights to `out`; errors of all processes are printed by rank 0.
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/distributed/mpi.hpp>

#include "support/backends.hpp"

namespace bd = bahdanau;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

std::map<std::string, std::string> arguments;

std::size_t number(const std::string& key, std::size_t otherwise) {
  const auto found = arguments.find(key);
  return found == arguments.end() ? otherwise : std::stoul(found->second);
}
std::string word(const std::string& key) {
  const auto found = arguments.find(key);
  return found == arguments.end() ? "" : found->second;
}

bd::Corpus corpus() {
  std::vector<bd::SentencePair> pairs;
  for (std::size_t i = 0; i < 200; ++i) {
    const bd::random::Key key = bd::random::Key{1}.derive(i);
    bd::SentencePair pair;
    for (std::size_t t = 0; t < 1 + key.bits(99) % 9; ++t) {
      const std::string name = std::to_string(key.bits(t) % 700);
      pair.source += "a" + name + " ";
      pair.target = "b" + name + " " + pair.target;
    }
    pairs.push_back(pair);
  }
  return bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 12});
}

/// A corpus that, in one process and at one batch, throws or ends the process.
struct Fragile {
  const bd::Corpus* data;
  bool here;  // in this process
  std::size_t size() const { return data->size(); }
};
bd::Batch make_batch(const Fragile& fragile, std::span<const std::size_t> pairs) {
  static std::size_t made = 0;
  if (fragile.here && ++made == number("batch", 5)) {
    if (word("fault") == "kill") ::raise(SIGKILL);
    if (word("fault") == "throw") bd::fail("pairs.tsv", "a disk", "one that broke");
    if (word("fault") == "exit") std::_Exit(3);
    if (word("fault") == "term") ::raise(SIGTERM);
    if (word("fault") == "stop") ::pause();
    if (word("fault") == "freeze") ::raise(SIGSTOP);
    if (word("fault") == "sleep") ::sleep(3);
  }
  return bd::make_batch(*fragile.data, pairs);
}
std::pair<std::size_t, std::size_t> length_of(const Fragile& f, std::size_t i) {
  return bd::length_of(*f.data, i);
}
std::uint64_t fingerprint(const Fragile& f) { return bd::fingerprint(*f.data); }

/// A communicator that reaches the memory of a device, as NCCL does; Thrust's other systems have the host's.
struct Direct {
  bd::Mpi* mpi;
  std::size_t rank() const { return mpi->rank(); }
  std::size_t size() const { return mpi->size(); }
  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    mpi->exchange(partner, sent, received);
  }
  void exchange_on_device(std::size_t partner, std::span<const std::byte> sent,
                          std::span<std::byte> received) {
    numbers += sent.size() + received.size();
    mpi->exchange(partner, sent, received);
  }
  void fail_together(std::string_view why) { mpi->fail_together(why); }
  std::size_t numbers = 0;
};

std::atomic<bool> interrupted{false};

void train(bd::Mpi& mpi) {
  const bool faulty = mpi.rank() == number("rank", mpi.size());
  if (faulty && word("fault") == "instructions") ::setenv("BAHDANAU_INSTRUCTIONS", "baseline", 1);
  if (faulty && word("fault") == "data") bd::fail("pairs.tsv", "a file", "none");
  const bd::Corpus all = corpus();
  const auto both = all.split(30);
  Model model({.embed = 32, .hidden = 64, .layers = 2, .dropout = 0.1F}, all.vocabularies(), 5);
  std::signal(SIGTERM, [](int) { interrupted = true; });
  bd::TrainerOptions options{.epochs = number("epochs", 3),
                             .batch = 24,
                             .clip = faulty && word("fault") == "clip" ? 0.25 : 0.5,
                             .seed = 7,
                             .threads = number("threads", 1),
                             .progress = bd::Progress::silent,
                             .checkpoint = word("checkpoint"),
                             .checkpoint_every = 1,
                             .checkpoint_seconds = 0,
                             .resume = true,
                             .interrupt = &interrupted,
                             .replicas = number("replicas", 4),
                             .communicator = mpi};
  Direct direct{&mpi};
  if (word("direct") == "yes") options.communicator = direct;
  bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, options);
  const bd::TrainingReport report = trainer.fit(Fragile{&both.first, faulty}, Fragile{&both.second, false});
  if (mpi.rank() != 0) return;
  if (word("direct") == "yes") std::cout << (direct.numbers > 0 ? "direct, " : "not direct, ");
  if (word("loss") == "yes") std::cout << report.epochs.back().validation->nats_per_token() << ", ";
  std::cout << (report.interrupted ? "interrupted" : "done") << " after epoch " << report.epochs.size()
            << '\n';
  if (!word("out").empty()) model.save(word("out"));
}

}  // namespace

int main(int argc, char** argv) {
  bd::MpiOptions options{.timeout_seconds = 20};
  for (const std::string argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    if (argument.starts_with("timeout=")) options.timeout_seconds = std::stod(argument.substr(8));
    if (argument.starts_with("notice=")) options.notice_seconds = std::stod(argument.substr(7));
  }
  bd::Mpi mpi(argc, argv, options);
  for (const std::string argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    const std::size_t sign = argument.find('=');
    arguments[argument.substr(0, sign)] = argument.substr(sign + 1);
  }
  try {
    if (word("guard") == "none")
      train(mpi);  // as a program that does not know better
    else
      bd::fail_together(mpi, [&] { train(mpi); });
  } catch (const std::exception& e) {
    if (mpi.rank() == 0) std::cerr << "worker: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
