// Training on Thrust, which is compiled for one device system: beside the CPU backend, a program for each.
#include <memory>
#include <stdexcept>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/score/additive.hpp>

#include "serve.hpp"
#include "train_task.hpp"

int main() {
  using namespace benchmark;
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Thrust<float>>;
  return serve([](const Words& words) -> std::unique_ptr<Task> {
    if (words.at(0) != "gru_additive" || words.at(1) != "train") throw std::runtime_error("unknown task");
    return std::make_unique<TrainTask<Model>>(words.at(2), words.at(3));
  });
}
