// The experiment of d2l's chapter on Bahdanau attention: train on sentence pairs, translate four sentences,
// and draw what was attended to. Usage: example_04_d2l_table DATA [PAIRS] [FOLDER]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

/// Trains with d2l's settings and draws the loss.
Model train(const bd::Corpus& corpus, const std::filesystem::path& folder) {
  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F}, corpus.vocabularies(), /*seed=*/2);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005}, {.epochs = 250, .batch = 64, .clip = 1});
  const bd::TrainingReport report = trainer.fit(corpus);
  bd::plot::Curve curve{"training", {}};
  for (const bd::EpochReport& epoch : report.epochs) curve.values.push_back(epoch.training.d2l());
  bd::plot::curve(folder / "loss.svg", std::vector{curve}, {.title = "d2l's loss"});
  std::printf("loss %.3f, %.0f tokens/s\n\n", curve.values.back(), report.epochs.back().tokens_per_second());
  return model;
}

int run(const std::filesystem::path& data, std::size_t pairs, const std::filesystem::path& folder) {
  const auto corpus = bd::Corpus::read(data, {.max_pairs = pairs, .min_frequency = 2, .max_length = 10});
  std::printf("%zu pairs, vocabularies of %zu and %zu, %zu rows cut to 10 tokens\n", corpus.size(),
              corpus.vocabularies().source.size(), corpus.vocabularies().target.size(), corpus.cut_rows());
  std::filesystem::create_directories(folder);
  const Model model = train(corpus, folder);

  const std::vector<bd::SentencePair> sentences = {{"go .", "va !"},
                                                   {"i lost .", "j'ai perdu ."},
                                                   {"he's calm .", "il est calme ."},
                                                   {"i'm home .", "je suis chez moi ."}};
  std::printf("%-14s %-26s %s\n", "sentence", "translation", "BLEU");
  for (const bd::SentencePair& pair : sentences) {
    const bd::Translation t = model.translate(pair.source);
    std::printf("%-14s %-26s %.3f\n", pair.source.c_str(), t.text.c_str(),
                bd::sentence_bleu(std::string_view(t.text), std::string_view(pair.target), 2));
    std::string name = pair.source.substr(0, pair.source.size() - 2);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '\''; }, '_');
    bd::plot::heatmap(folder / (name + ".svg"), t);
  }
  model.save(folder / "model.safetensors");
  std::printf("\nThe loss curve, a heatmap of each sentence and the model are in %s\n", folder.c_str());
  return 0;
}

int main(int argc, char** argv) try {
  const std::filesystem::path data = argc > 1 ? argv[1] : "eng-fra.tsv";
  return run(data, argc > 2 ? std::stoul(argv[2]) : 600, argc > 3 ? argv[3] : "d2l");
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
