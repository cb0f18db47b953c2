// What our program can be asked to do with each model. One source file per model, so that they compile side
// by side.
#pragma once

#include <memory>

#include "serve.hpp"

namespace benchmark {

/// Words: what, model file, batches file, and for training the number of threads (none: all cores).
std::unique_ptr<Task> make_fixed_context(const Words& words);
std::unique_ptr<Task> make_gehring(const Words& words);
std::unique_ptr<Task> make_gru_additive(const Words& words);
std::unique_ptr<Task> make_gru_additive_bidirectional(const Words& words);
std::unique_ptr<Task> make_gru_scaled_dot(const Words& words);
std::unique_ptr<Task> make_lstm_additive(const Words& words);
std::unique_ptr<Task> make_gru_coverage(const Words& words);
std::unique_ptr<Task> make_gru_four_heads(const Words& words);
std::unique_ptr<Task> make_gru_local(const Words& words);
std::unique_ptr<Task> make_luong(const Words& words);
std::unique_ptr<Task> make_nematus(const Words& words);
std::unique_ptr<Task> make_plain(const Words& words);
std::unique_ptr<Task> make_rnnsearch(const Words& words);

}  // namespace benchmark
