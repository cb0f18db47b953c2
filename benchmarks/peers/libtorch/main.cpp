// The libtorch peer: answers the driver's commands, or, with `startup MODEL TOKEN...`, translates one
// sentence.
#include <iostream>

#include "tasks.hpp"

namespace {

int startup(int count, char** words) {
  const c10::InferenceMode inference;
  peer::Model model(words[2]);
  model.eval();
  std::vector<std::int64_t> tokens;
  for (int i = 3; i < count; ++i) tokens.push_back(std::stol(words[i]));
  tokens.push_back(peer::eos);
  const auto length = static_cast<std::int64_t>(tokens.size());
  const peer::Rows source(torch::tensor(tokens).unsqueeze(0), torch::tensor({length}));
  const auto found = peer::greedy(model, source);
  for (std::int64_t t = 0; t < found.size(1); ++t) std::cout << found[0][t].item<std::int64_t>() << ' ';
  std::cout << '\n';
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count > 2) return startup(count, words);
  return benchmark::serve([](const benchmark::Words& w) {  // model's name, what, model file, batches file
    return w.at(1) == "train" ? peer::make_training(w.at(2), w.at(3))
                              : peer::make_decoding(w.at(1), w.at(2), w.at(3));
  });
}
