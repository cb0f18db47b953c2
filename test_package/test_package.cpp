// A consumer of the package: it learns five phrases, translates, saves and loads, and fails if a number is
// off.
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

#ifdef WITH_THRUST
#include <bahdanau/backend/thrust.hpp>
using Backend = bd::Thrust<float>;
constexpr double same_score = 1e-5;  // it promises numbers within rounding
#else
using Backend = bd::Xtensor<float>;
constexpr double same_score = 0;  // it promises the same bits
#endif

#ifdef WITH_MPI
#include <bahdanau/distributed/mpi.hpp>
using Processes = bd::Mpi;
constexpr const char* in_processes = ", trained by several processes";
#else
struct Processes : bd::SingleProcess {
  Processes(int&, char**&) {}
};
constexpr const char* in_processes = "";
#endif

#ifdef WITH_SENTENCEPIECE
#include <bahdanau/text/sentencepiece.hpp>
constexpr const char* with_pieces = ", with subwords";
#else
constexpr const char* with_pieces = "";
#endif

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;  // cell, score, backend
using Phrases = std::vector<std::vector<std::string>>;

// One phrase a row, in words.
Phrases words_of(const std::vector<std::string>& phrases) {
  Phrases out;
  for (const std::string& phrase : phrases) out.push_back(bd::tokenize(phrase + " <eos>", {}));
  return out;
}

bd::Sequences ids_of(const Phrases& phrases, const bd::Vocabulary& vocabulary) {
  std::vector<std::vector<bd::Token>> rows;
  for (const auto& phrase : phrases) rows.push_back(vocabulary.encode(phrase));
  return bd::Sequences::from_rows(rows);
}

int failures = 0;
bool prints = true;  // of several processes, one does

void expect(bool holds, const char* what) {
  if (prints || !holds) std::printf("%-4s %s\n", holds ? "ok" : "FAIL", what);
  if (!holds) ++failures;
}

int main(int argc, char** argv) try {
  Processes processes(argc, argv);
  prints = processes.rank() == 0;
  const std::vector<std::string> french{"la voiture rouge", "la maison rouge", "la maison blanche",
                                        "une voiture blanche", "une maison"};
  const std::vector<std::string> english{"the red car", "the red house", "the white house", "a white car",
                                         "a house"};
  const Phrases sources = words_of(english), targets = words_of(french);
  const bd::Vocabularies words{bd::Vocabulary::build(sources, 1), bd::Vocabulary::build(targets, 1), {}};
  const bd::Batch batch{ids_of(sources, words.source), ids_of(targets, words.target)};

  Model model({.embed = 16, .hidden = 16, .layers = 1}, words, /*seed=*/1);
  bd::Training training(model, bd::Adam{.rate = 0.01},
                        {.clip = 1, .replicas = processes.size(), .communicator = processes});
  const double before = training.loss(batch).nats_per_token();
  if (prints) std::printf("     loss before training: %.5f nats per token\n", before);
  expect(std::abs(before - 2.29491) < 0.001, "the first weights give the loss that they gave elsewhere");
  double after = before;
  for (int step = 0; step < 150; ++step) {
    after = training.loss(batch).nats_per_token();
    training.backward();
    training.step();
  }
  if (prints) std::printf("     loss after 150 steps: %.5f nats per token\n", after);
  expect(after < 0.05, "the model learns");
  if (!prints) return failures == 0 ? 0 : 1;  // the weights are the same everywhere

  for (std::size_t i = 0; i < english.size(); ++i)
    expect(model.translate(english[i]).text == french[i], english[i].c_str());
  const bd::Translation beam = model.translate(english[0], bd::Beam{.width = 3});
  expect(beam.text == french[0] && beam.score < 0, "a beam finds it too");
  for (std::size_t t = 0; t < beam.target.size(); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < beam.source.size(); ++s) sum += static_cast<double>(beam.attention(t, s));
    expect(std::abs(sum - 1) < 1e-5, "the weights of attention sum to 1");
  }

  model.save("test_package.safetensors");
  const Model loaded = Model::load("test_package.safetensors");
  const double again = loaded.translate(english[0], bd::Beam{.width = 3}).score;
  expect(std::abs(again - beam.score) <= same_score, "a loaded model gives the same score");

  try {
    Model::load("no such file.safetensors");
    expect(false, "a file that is not there is an error");
  } catch (const bd::Error& error) {
    expect(std::string(error.what()).find("no such file") != std::string::npos, error.what());
  }
#ifdef WITH_SENTENCEPIECE
  const auto pieces = bd::SentencePiece::train(french, {.pieces = 290});
  expect(pieces->join(pieces->split(french[2])) == french[2], "text comes back from its pieces");
#endif
  std::printf("bahdanau %d.%d.%d on %s%s%s: %s\n", BAHDANAU_VERSION_MAJOR, BAHDANAU_VERSION_MINOR,
              BAHDANAU_VERSION_PATCH, std::string(Backend::name).c_str(),
              processes.size() > 1 ? in_processes : "", with_pieces,
              failures == 0 ? "all well" : "something is wrong");
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("FAIL %s\n", error.what());
  return 1;
}
