// A training loop of one's own, on batches of plain token ids: loss, backward, step.
// First the shapes of d2l's model; then a model learns seven phrases, and shows how it reads an eighth.
#include <cstdio>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;  // cell, score, backend

int main() {
  const bd::Vocabulary ten = bd::Vocabulary::numbered(10);
  const Model untrained({.embed = 8, .hidden = 16, .layers = 2}, {ten, ten, {}});
  const bd::Sequences zeros(bd::Array<bd::Token, 2>({4, 7}, 0));  // 4 sentences of 7 tokens
  Model::State state = untrained.init_state(untrained.encode(zeros));
  const auto logits = untrained.decode(zeros, state).logits.shape(), keys = state.encoder_outputs().shape();
  std::printf("logits (%zu, %zu, %zu), encoder outputs (%zu, %zu, %zu), hidden state %zu x (%zu, %zu)\n\n",
              logits[0], logits[1], logits[2], keys[0], keys[1], keys[2], state.hidden().size(),
              state.hidden()[0].shape(0), state.hidden()[0].shape(1));

  std::vector<std::vector<std::string>> english, french;
  for (std::string text : {"the red car", "the white car", "the red house", "the white house", "a white car",
                           "a red house", "a white house"})
    english.push_back(bd::tokenize(text + " <eos>", {}));
  for (std::string text : {"la voiture rouge", "la voiture blanche", "la maison rouge", "la maison blanche",
                           "une voiture blanche", "une maison rouge", "une maison blanche"})
    french.push_back(bd::tokenize(text + " <eos>", {}));
  const bd::Vocabularies words{bd::Vocabulary::build(english, 1), bd::Vocabulary::build(french, 1), {}};
  std::vector<std::vector<bd::Token>> sources, targets;
  for (const auto& phrase : english) sources.push_back(words.source.encode(phrase));
  for (const auto& phrase : french) targets.push_back(words.target.encode(phrase));
  const bd::Batch batch{bd::Sequences::from_rows(sources), bd::Sequences::from_rows(targets)};

  Model model({.embed = 32, .hidden = 32, .layers = 1}, words, /*seed=*/5);
  bd::Training training(model, bd::Adam{.rate = 0.005}, {.clip = 1});
  for (int step = 0; step < 2000 && training.loss(batch).nats_per_token() > 0.001; ++step) {
    training.backward();
    training.step();
  }
  auto scored = bd::score_pairs(model, std::vector{bd::SentencePair{"a red car", "une voiture rouge"}})[0];
  std::printf("ln p = %.3f for a phrase that it has never seen:\n\n%10s", scored.score, "");
  for (const auto& word : scored.source) std::printf("%8s", word.c_str());
  for (std::size_t t = 0; t < scored.target.size(); ++t) {
    std::printf("\n%10s", scored.target[t].c_str());
    for (std::size_t s = 0; s < scored.source.size(); ++s) std::printf("%8.2f", scored.attention(t, s));
  }
  std::puts("");
}
