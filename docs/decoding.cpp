// The program of the page on decoding.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>>;
using Other = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<float>>;

int main() {
  const std::vector<bd::SentencePair> pairs{{"go .", "va !"},
                                            {"go now .", "va maintenant !"},
                                            {"i lost .", "j'ai perdu ."},
                                            {"i'm home .", "je suis chez moi ."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  Model trained({.embed = 16, .hidden = 24, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer(trained, bd::Adam{.rate = 0.01}, {.epochs = 150, .progress = bd::Progress::silent}).fit(corpus);
  const Model& model = trained;

  const bd::Translation greedy = model.translate("go .");
  const bd::Translation beam = model.translate("go .", bd::Beam{.width = 4, .length_power = 0.75});
  std::cout << greedy.text << " | " << beam.text << '\n';

  const std::vector<std::string> sentences{"i'm home .", "go .", "i lost ."};
  for (const bd::Translation& t : model.translate(sentences)) std::cout << t.text << '\n';

  const auto best = bd::translate_nbest(model, sentences, bd::Beam{.width = 4, .nbest = 2});
  const bool ordered = best[0].size() == 2 && best[0][0].text == "je suis chez moi .";

  for (const bd::Translation& t : model.translate({"go .", "i lost ."})) std::cout << t.text << '\n';

  const bd::Translation watched =
      model.translate("i lost .", bd::Beam{.width = 3, .runners_up = 2, .history = true});
  std::cout << watched.target[1] << ", not " << watched.runners_up[1].size() << " others; "
            << watched.history->steps[0].size() << " hypotheses at first\n";

  bd::Greedy bounded;
  bounded.limits = {.source_tokens = 200, .target_tokens = 300, .memory = 64 << 20};
  bounded.limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string refused;
  for (int i = 0; i < 250; ++i) refused += "go ";
  try {
    model.translate({"go .", refused}, bounded);
  } catch (const bd::LimitError& e) {
    std::cout << e.sentence() << ": " << e.what() << '\n';
  }

  bd::Beam told{.width = 4};
  told.min_length = 5;              // tokens, `<eos>` included, which is not chosen before
  told.prefix = "je suis";          // how every translation begins
  told.forbidden = {"<unk>", "!"};  // what no translation has
  told.required = {"perdu", "chez moi"};
  const std::string kept = model.translate("i lost .", told).text;
  std::cout << kept.starts_with("je suis") << (kept.find("perdu") != kept.npos)
            << (kept.find("chez moi") != kept.npos) << (kept.find('!') == kept.npos) << '\n';
  try {
    told.required = {"trouvé"};
    model.translate("i lost .", told);
  } catch (const bd::Error& e) {
    std::cout << e.what() << '\n';
  }

  Other second({.embed = 12, .hidden = 20, .layers = 2}, corpus.vocabularies(), /*seed=*/2);
  bd::Trainer(second, bd::Adam{.rate = 0.01}, {.epochs = 150, .progress = bd::Progress::silent}).fit(corpus);
  const bd::Ensemble ensemble{model.freeze(), second.freeze()};
  std::cout << ensemble.translate("i lost .", bd::Beam{.width = 4}).text << '\n';

  std::vector<std::filesystem::path> last;  // the models of the last epochs
  const auto keep = [&](const bd::EpochReport& report) {
    if (report.epoch <= 7) return;
    last.push_back("epoch-" + std::to_string(report.epoch) + ".safetensors");
    trained.save(last.back());
  };
  bd::Trainer(trained, bd::Adam{.rate = 0.001},
              {.epochs = 10, .progress = bd::Progress::silent, .on_epoch = keep})
      .fit(corpus);
  bd::average_weights(last, "mean.safetensors");
  std::cout << last.size() << " models: " << Model::load("mean.safetensors").translate("go .").text << '\n';

  const auto scored = bd::score_pairs(model, pairs);  // ln p of given translations, and their attention
  bd::CorpusBleu bleu;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    bleu.add(model.translate(pairs[i].source).text, scored[i].text);

  const bd::Vocabularies& words = model.vocabularies();
  std::vector<std::vector<bd::Token>> rows{words.source.encode(bd::tokenize("i lost .", words.text))};
  rows[0].push_back(bd::reserved::eos);
  Model::State state = model.init_state(model.encode(bd::Sequences::from_rows(rows)));
  std::vector<bd::Token> token{bd::reserved::bos};
  for (int step = 0; step < 20 && token[0] != bd::reserved::eos; ++step) {
    const bd::Array<float, 2> logits = model.step(token, state);  // [1, vocabulary]
    for (std::size_t v = 0; v < logits.shape(1); ++v)
      if (logits(0, v) > logits(0, static_cast<std::size_t>(token[0]))) token[0] = static_cast<bd::Token>(v);
    std::cout << words.target.token(token[0]) << ' ';
  }
  std::cout << '\n' << model.attention_weights(state).size() << " rows of attention\n";

  std::vector<std::string> results(2);
  std::thread other([&] { results[0] = model.translate("go now .").text; });
  results[1] = model.translate("go now .").text;
  other.join();
  return ordered && results[0] == results[1] && bleu.score() > 99 ? 0 : 1;
}
