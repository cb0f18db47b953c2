// The program of the page on serving.
#include <cstddef>
#include <filesystem>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

int main() {
  const std::vector<bd::SentencePair> pairs{{"go .", "va !"},
                                            {"go now .", "va maintenant !"},
                                            {"i lost .", "j'ai perdu ."},
                                            {"i'm home .", "je suis chez moi ."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  Model model({.embed = 16, .hidden = 24, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer(model, bd::Adam{.rate = 0.01}, {.epochs = 150, .progress = bd::Progress::silent}).fit(corpus);

  const auto frozen = model.freeze();
  std::cout << frozen.translate("go .").text << '\n';

  model.save("model.safetensors");
  const auto loaded = bd::Frozen<Model>::load("model.safetensors");
  std::cout << (loaded.translate("go .").score == frozen.translate("go .").score) << '\n';

  bd::ThreadPool pool(2);
  frozen.translate({"go .", "i lost ."}, bd::Greedy{.pool = &pool});

  bd::Translator translator(frozen, {.batch = 32, .queue = 1000});
  std::vector<std::future<bd::Translation>> answers;
  for (const char* sentence : {"go .", "i'm home ."}) answers.push_back(translator.submit(sentence));
  for (auto& answer : answers) std::cout << answer.get().text << '\n';

  bd::Greedy watched;
  watched.on_token = [](const bd::StreamedToken& t) {
    std::cout << t.token << '|';
    return t.token != "chez";  // enough
  };
  std::cout << frozen.translate("i'm home .", watched).text << '\n';

  const bd::Translation drawn = frozen.translate("go .", bd::Sample{.temperature = 0.5, .seed = 7});
  std::cout << drawn.text << '\n';

  bd::Session session(frozen);
  session.restart({"i lost ."});
  std::vector<bd::Index> parents{0};  // a row for each sentence, before its first step
  std::vector<bd::Token> tokens{bd::reserved::bos};
  session.step(parents, tokens, 2);  // the two best tokens to follow
  parents = {0, 0};                  // two rows that continue the first one
  tokens = {session.next(0)[0], session.next(0)[1]};
  session.step(parents, tokens, 0);  // ln p of all tokens
  const auto& words = frozen.vocabularies().target;
  std::cout << words.token(tokens[0]) << ": " << session.log_probs(0).size() << " numbers\n";
  std::filesystem::remove("model.safetensors");
  return drawn.text.empty() ? 1 : 0;
}
