// The program of the page on the chapter's exercises: what changes, and what it costs in weights.
#include <cstddef>
#include <iostream>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Chapter = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
using WithLstm = bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>>;
using WithScaledDot = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<float>>;

template <class Model>
void count(const bd::Corpus& corpus) {
  const Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F}, corpus.vocabularies());
  std::size_t cells = 0, attention = 0, all = 0;
  for (const auto& entry : model.parameters().entries()) {
    const std::size_t size = entry.parameter.shape.size();
    if (entry.name.find(".rnn.") != entry.name.npos) cells += size;
    if (entry.name.find(".attention.") != entry.name.npos) attention += size;
    all += size;
  }
  std::cout << Model::Cell::name << ", " << Model::Score::name << ": cells " << cells << ", attention "
            << attention << ", all " << all << '\n';
}

int main() {
  const auto corpus =
      bd::Corpus::read("eng-fra.tsv", {.max_pairs = 600, .min_frequency = 2, .max_length = 10});
  count<Chapter>(corpus);
  count<WithLstm>(corpus);
  count<WithScaledDot>(corpus);
}
