// The registry: which combinations of policies are compiled in, by their names.
// One of one's own joins the tool by a file models_<name>.cpp, and a line here and in registry.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "any_model.hpp"

namespace cli {

/// A combination of policies that is compiled in.
struct Combination {
  PolicyNames policies;
  std::unique_ptr<FrozenModel> (*load)(const std::filesystem::path& path);
  std::unique_ptr<TrainableModel> (*create)(const NewModel& made_from);
  std::size_t (*readout_width)(const bd::Config& config);     // of what the output layer reads
  std::string_view architecture = {};                         // what `--architecture` calls it, if anything
  PaperChoices (*paper)(std::size_t loss_divisor) = nullptr;  // not null where there is an architecture
};
using Combinations = std::vector<Combination>;

// Each in the file models_<name>.cpp.
Combination d2l_gru();
Combination d2l_gru_bidirectional();
Combination d2l_gru_scaled_dot();
#ifndef BAHDANAU_CLI_GRU_ALONE  // a tenth of the time to compile, for a quick run of the tests
Combination gru_dot();
Combination gru_general();
Combination gru_local();
Combination gru_coverage();
Combination gru_heads();
Combination d2l_lstm();
Combination d2l_lstm_bidirectional();
Combination d2l_lstm_scaled_dot();
Combination lstm_dot();
Combination lstm_general();
Combination lstm_local();
Combination lstm_coverage();
Combination lstm_heads();
Combination d2l_rnn();
Combination d2l_rnn_scaled_dot();
Combination rnnsearch();
Combination cho();
Combination luong();
Combination gehring();
Combination nematus();
Combination sutskever();
Combination gru_plain();
Combination gru_fixed_context();
#endif

/// All of them, d2l's first.
const Combinations& compiled_in();

/// The one with these policies. Throws, with all that are there, if there is none.
const Combination& combination_of(std::string_view where, const PolicyNames& policies);

/// The one of that architecture. Throws, with the choices, if there is none.
const Combination& architecture_of(std::string_view where, std::string_view name);

/// The architectures' names, d2l's first.
std::vector<std::string> architectures();

/// The names of a family's policies that are compiled in, each once.
std::vector<std::string> names_of(std::string PolicyNames::*family);

}  // namespace cli
