// Our side of the table: a program that loads what the driver names and runs it as often as it is told.
#include <map>
#include <string>

#include <bahdanau/backend/blas.hpp>
#include <bahdanau/kernel/instructions.hpp>

#include "serve.hpp"
#include "tasks.hpp"

int main() {
  using namespace benchmark;
  const std::map<std::string, std::unique_ptr<Task> (*)(const Words&)> makers = {
      {"fixed_context", make_fixed_context},
      {"gehring", make_gehring},
      {"gru_additive", make_gru_additive},
      {"gru_additive_bidirectional", make_gru_additive_bidirectional},
      {"gru_coverage", make_gru_coverage},
      {"gru_four_heads", make_gru_four_heads},
      {"gru_local", make_gru_local},
      {"gru_scaled_dot", make_gru_scaled_dot},
      {"lstm_additive", make_lstm_additive},
      {"luong", make_luong},
      {"nematus", make_nematus},
      {"plain", make_plain},
      {"rnnsearch", make_rnnsearch}};
  return serve(
      [&](const Words& words) {
        return makers.at(words.at(0))({words.begin() + 1, words.end()});
      },
      "our instructions: " + std::string(bahdanau::name(bahdanau::instructions())) +
          ", OpenBLAS's core: " + bahdanau::blas::core());
}
