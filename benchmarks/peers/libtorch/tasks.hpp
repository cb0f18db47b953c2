// What the libtorch peer can be asked to do.
#pragma once

#include <memory>
#include <string>

#include "model.hpp"
#include "serve.hpp"

namespace peer {

std::unique_ptr<benchmark::Task> make_training(const std::string& model, const std::string& batches);
std::unique_ptr<benchmark::Task> make_decoding(const std::string& what, const std::string& model,
                                               const std::string& batches);

/// Tokens [batch, at most max_length].
Tensor greedy(Model& model, const Rows& source);

/// Settings that all tasks have.
inline void set_threads(const std::string& value) { torch::set_num_threads(std::stoi(value)); }

}  // namespace peer
