// The program of the page on the way from 0.1 to 0.2.
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  const std::vector<bd::SentencePair> pairs{{"Go.", "Va !"}, {"I lost.", "J'ai perdu."}};

  // As 0.1 read them: ten tokens at most, `<eos>` included.
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 10});

  // As 0.1 split characters: a space is none.
  const bd::TextSide characters{.tokens = bd::Tokens::characters, .spaces = false};
  for (const std::string& token : bd::tokenize("to be", characters)) std::cout << token << '|';
  std::cout << '\n';
  // As 0.2 does without being told.
  for (const std::string& token : bd::tokenize("to be", bd::TextSide{.tokens = bd::Tokens::characters}))
    std::cout << token << '|';
  std::cout << '\n';

  using Backend = bd::Xtensor<float>;
  bd::EncoderDecoder<bd::Gru, bd::Additive, Backend> model({.embed = 8, .hidden = 8, .layers = 1},
                                                           corpus.vocabularies(), /*seed=*/1);

  // To write: the numbers are the function's until it returns.
  model.weights().change([](std::span<float> numbers) {
    for (float& x : numbers) x *= 0.5f;
  });
  // To read: a copy.
  const std::vector<float> numbers = model.weights().read();

  const auto frozen = model.frozen_model();  // the weights as they are now; it must outlive the tape
  bd::Tape<Backend> tape(frozen->binding());
  const bd::Variable<Backend> first = tape[model.parameters().entries().front().parameter];

  const bd::TrainerOptions options{
      .epochs = 1, .batch = 2, .seed = 1, .threads = 1, .progress = bd::Progress::silent};
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options).fit(corpus);
  return numbers.size() == model.weights().size() && first.rows() > 0 ? 0 : 1;
}
