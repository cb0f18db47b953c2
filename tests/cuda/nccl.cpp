// Trainings over NCCL, compiled and linked; where there is a GPU, one process trains a little.
#include <cstdio>
#include <exception>
#include <vector>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>
#include <bahdanau/distributed/nccl.hpp>

namespace bd = bahdanau;

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 0;
  }
  try {
    bd::Mpi mpi(argc, argv);
    bd::Nccl gpus(mpi);
    const std::vector<bd::SentencePair> pairs{{"go .", "va !"}, {"i lost .", "j'ai perdu ."}};
    const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
    bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Thrust<float>> model({.embed = 8, .hidden = 8, .layers = 1},
                                                                       corpus.vocabularies(), 1);
    bd::Trainer trainer(model, bd::Adam{}, {.epochs = 3, .batch = 2, .replicas = 2, .communicator = gpus});
    return trainer.fit(corpus).epochs.size() == 3 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
