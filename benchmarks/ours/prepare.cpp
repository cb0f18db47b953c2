// Writes what all contestants start from: DIRECTORY/NAME.model.safetensors and
// DIRECTORY/NAME.batches.safetensors.
//
//   benchmark_prepare DIRECTORY NAME MODEL EMBED HIDDEN VOCABULARY STEPS train|decode|ragged [PAIRS]
//
// train: full rows of random tokens. decode: the same, and a model that never ends a sentence before the
// limit. ragged: sentences of the file PAIRS in random order, with the VOCABULARY most frequent words of each
// language.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/batches.hpp>

#include "batches.hpp"
#include "models.hpp"

namespace benchmark {
namespace {

constexpr std::size_t rows = 64;
constexpr std::uint64_t seed = 1;

struct Arguments {
  std::filesystem::path directory;
  std::string name, model;
  std::size_t embed, hidden, vocabulary, steps;
  std::string kind;
  std::filesystem::path pairs;

  bd::Config config() const {
    bd::Config out{.embed = embed, .hidden = hidden, .layers = 2, .dropout = 0.1f};
    if (model == "rnnsearch") take<RnnSearch>(out);
    if (model == "nematus") take<Nematus>(out);
    if (model == "gehring") take<Gehring>(out);
    return out;
  }
  /// What is no width, as the paper has it.
  template <class Model>
  static void take(bd::Config& config) {
    const bd::Config paper = bd::models::defaults<Model>().config;
    config.layers = paper.layers;
    config.bridge = paper.bridge;
    config.tied = paper.tied;
  }
  std::filesystem::path file(const std::string& what) const {
    return directory / (name + "." + what + ".safetensors");
  }
};

template <class Model>
void save_model(const Arguments& a, const bd::Vocabularies& vocabularies) {
  Model model(a.config(), vocabularies, seed);
  if (a.kind == "decode")
    for (const auto& entry : model.parameters().entries())
      if (entry.name == "decoder.dense.bias") {
        auto bias = model.weights().read(entry.parameter);
        std::fill_n(bias.begin(), bd::reserved::names.size(), -1e9f);  // words only, and no end
        model.weights().write(entry.parameter, bias);
      }
  model.save(a.file("model"));
}

void save_model_named(const Arguments& a, const bd::Vocabularies& vocabularies) {
  if (a.model == "gru_additive") return save_model<GruAdditive>(a, vocabularies);
  if (a.model == "gru_additive_bidirectional") return save_model<GruAdditiveBidirectional>(a, vocabularies);
  if (a.model == "gru_coverage") return save_model<GruCoverage>(a, vocabularies);
  if (a.model == "gru_four_heads") return save_model<GruFourHeads>(a, vocabularies);
  if (a.model == "gru_local") return save_model<GruLocal>(a, vocabularies);
  if (a.model == "gru_scaled_dot") return save_model<GruScaledDot>(a, vocabularies);
  if (a.model == "lstm_additive") return save_model<LstmAdditive>(a, vocabularies);
  if (a.model == "fixed_context") return save_model<FixedContext>(a, vocabularies);
  if (a.model == "gehring") return save_model<Gehring>(a, vocabularies);
  if (a.model == "luong") return save_model<Luong>(a, vocabularies);
  if (a.model == "nematus") return save_model<Nematus>(a, vocabularies);
  if (a.model == "plain") return save_model<Plain>(a, vocabularies);
  if (a.model == "rnnsearch") return save_model<RnnSearch>(a, vocabularies);
  throw std::runtime_error("unknown model " + a.model);
}

/// Rows of random words that end in `<eos>`.
bd::Sequences random_rows(std::size_t steps, std::size_t vocabulary, bd::random::Key key) {
  auto ids = bd::Array<bd::Token, 2>::from_shape({rows, steps});
  const std::size_t reserved = bd::reserved::names.size();
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids.data()[i] = (i + 1) % steps == 0
                        ? bd::reserved::eos
                        : static_cast<bd::Token>(reserved + key.bits(i) % (vocabulary - reserved));
  return bd::Sequences(std::move(ids));
}

void prepare_random(const Arguments& a) {
  const bd::Vocabulary words = bd::Vocabulary::numbered(a.vocabulary);
  save_model_named(a, {words, words, {.max_length = a.steps}});
  std::vector<bd::Batch> batches;
  for (std::uint64_t b = 0; b < 4; ++b)
    batches.push_back({random_rows(a.steps, a.vocabulary, bd::random::Key{seed}.derive(2 * b)),
                       random_rows(a.steps, a.vocabulary, bd::random::Key{seed}.derive(2 * b + 1))});
  write_batches(batches, a.file("batches"));
}

bd::Vocabulary most_frequent(const bd::Vocabulary& all, std::size_t size) {
  std::vector<std::string> tokens = all.tokens();
  if (tokens.size() < size) throw std::runtime_error("the file has too few distinct words");
  tokens.resize(size);
  return bd::Vocabulary(std::move(tokens));
}

void prepare_ragged(const Arguments& a) {
  const auto all = bd::Corpus::read(a.pairs, {.min_frequency = 1, .max_length = a.steps});
  const bd::Vocabularies vocabularies{most_frequent(all.vocabularies().source, a.vocabulary),
                                      most_frequent(all.vocabularies().target, a.vocabulary),
                                      all.vocabularies().text};
  const auto corpus = bd::Corpus::read(a.pairs, vocabularies);
  save_model_named(a, vocabularies);
  const bd::EpochPlan plan(corpus, rows, bd::Grouping::random, bd::random::Key{seed});
  std::vector<bd::Batch> batches;
  for (std::size_t b = 0; b < 8; ++b) batches.push_back(bd::make_batch(corpus, plan.pairs(b)));
  write_batches(batches, a.file("batches"));
}

}  // namespace
}  // namespace benchmark

int main(int count, char** words) try {
  if (count < 9) throw std::runtime_error("see the head of prepare.cpp");
  const auto number = [&](int i) { return std::stoul(words[i]); };
  const benchmark::Arguments a{words[1],  words[2],  words[3],
                               number(4), number(5), number(6),
                               number(7), words[8],  count > 9 ? words[9] : ""};
  a.kind == "ragged" ? benchmark::prepare_ragged(a) : benchmark::prepare_random(a);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
