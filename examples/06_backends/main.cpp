// The same program on another backend: the type after EncoderDecoder's score says where a model lives and
// runs. Thrust is a GPU where nvcc compiles this file, and the threads of this machine else. A model moves as
// a file. Without a GPU, set OMP_WAIT_POLICY=passive where other programs want the cores too: OpenMP's
// threads wait busily.
#include <cstdio>
#include <string>
#include <vector>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

template <class Backend>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

template <class Backend>
void train(const bd::Corpus& corpus) {
  Model<Backend> model({.embed = 32, .hidden = 32, .layers = 2}, corpus.vocabularies(), /*seed=*/2);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005}, {.epochs = 20, .batch = 64, .clip = 1});
  trainer.fit(corpus);
  model.save("backends.safetensors");
}

int main() {
  const auto corpus = bd::Corpus::read("eng-fra.tsv", {.min_frequency = 2, .max_length = 10});
  if (!bd::Thrust<float>::available()) {
    std::puts("skipped: no CUDA device");
    return 0;
  }
  train<bd::Thrust<float>>(corpus);  // or bd::Xtensor<float>: this line chooses

  const auto on_thrust = Model<bd::Thrust<float>>::load("backends.safetensors");
  const auto on_the_cpu = Model<bd::Xtensor<float>>::load("backends.safetensors");
  bool same = true;
  for (const char* sentence : {"he's calm .", "i lost .", "come in ."}) {
    const std::string one = on_thrust.translate(sentence).text, other = on_the_cpu.translate(sentence).text;
    std::printf("%-12s %-24s %s\n", sentence, one.c_str(), one == other ? "on both backends" : other.c_str());
    same = same && one == other;
  }
  return same ? 0 : 1;
}
