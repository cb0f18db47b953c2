// The program of the page on pitfalls.
#include <iostream>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  const bd::Array<float, 2> weights({2, 3}, 0.25f);
  const auto lazy = 2.0f * weights;                    // an expression: computed again at every access,
                                                       // and dangling once `weights` is gone
  const bd::Array<float, 2> doubled = 2.0f * weights;  // numbers

  try {
    const bd::Vocabulary vocabulary = bd::Vocabulary::numbered(10);
    const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model({.embed = 0},
                                                                              {vocabulary, vocabulary, {}});
  } catch (const bd::Error& error) {
    std::cout << error.what() << '\n';
  }

  for (const std::string& token : bd::tokenize("Hello,\tWORLD!", {})) std::cout << token << '|';
  std::cout << '\n';
  return doubled(1, 2) == lazy(1, 2) ? 0 : 1;
}
