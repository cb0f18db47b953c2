// One training in several processes: mpirun -n 2 ./processes. Two lines differ from a program of one process,
// and the model is the same to the bit, however many processes there are. What goes wrong is said once.
#include <exception>
#include <iostream>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/distributed/mpi.hpp>
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

void train(bd::Mpi& mpi) {
  const auto corpus = bd::Corpus::read("eng-fra.tsv", {.max_pairs = 300, .min_frequency = 2});
  Model model({.embed = 32, .hidden = 32, .layers = 1, .dropout = 0.1f}, corpus.vocabularies(), /*seed=*/1);

  // The second line that differs: who trains. Replicas are a setting, like the batch: the result depends on
  // them, and not on the number of processes, which is 1, 2, 4 or 8 here.
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005f},
                      {.epochs = 20, .batch = 64, .replicas = 8, .communicator = mpi});
  const bd::TrainingReport report = trainer.fit(corpus);  // rank 0 alone prints

  // All processes have the whole model: one of them goes on.
  if (mpi.rank() != 0) return;
  std::cout << mpi.size() << (mpi.size() == 1 ? " process" : " processes") << ", loss "
            << report.epochs.back().training.d2l() << '\n'
            << model.translate("go .").text << '\n';
  model.save("processes.safetensors");
}

int main(int argc, char** argv) {
  bd::Mpi mpi(argc, argv);  // the first line: before anything else
  try {
    bd::fail_together(mpi, [&] { train(mpi); });  // an error of one process ends all, and says which
  } catch (const std::exception& e) {             // one of all is in each of them
    if (mpi.rank() == 0) std::cerr << e.what() << '\n';
    return 1;
  }
}
