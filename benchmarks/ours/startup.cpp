// The whole life of a small program: load the model file MODEL, translate SENTENCE, print the translation.
#include <iostream>

#include <bahdanau/decode/translate.hpp>
#include <bahdanau/io/model_file.hpp>

#include "models.hpp"

int main(int, char** words) {
  const auto model = benchmark::GruAdditive::load(words[1]);
  std::cout << model.translate(words[2], bahdanau::Greedy{.max_length = model.max_length()}).text << '\n';
}
