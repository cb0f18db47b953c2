// The matrix products of one training batch, GRU and additive score, as the maths asks for them: nothing is
// sharded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace benchmark {

/// `count` products op(A) [m, k] · op(B) [k, n]. Operands that differ from product to product lie one after
/// the other.
struct Product {
  std::string what;
  std::size_t count, m, n, k;
  bool transpose_a, transpose_b;
  bool same_b;  // a weight: one matrix for all

  double flops() const {
    return 2.0 * static_cast<double>(count) * static_cast<double>(m * n) * static_cast<double>(k);
  }
};

struct Sizes {
  std::size_t embed, hidden, vocabulary, steps, layers = 2,
                                                batch = 64;  // source and target have equally many steps
};

/// y = x Wᵀ for W [outputs, inputs], with its adjoints dx = dy W and dW = dyᵀ x. What does not wait for the
/// step before is one product over all steps; dW is so always.
inline void add_linear(std::vector<Product>& list, const std::string& what, const Sizes& s,
                       std::size_t inputs, std::size_t outputs, bool step_by_step) {
  const std::size_t all = s.steps * s.batch, count = step_by_step ? s.steps : 1, rows = all / count;
  list.push_back({what, count, rows, outputs, inputs, false, true, true});
  list.push_back({what + ", dx", count, rows, inputs, outputs, false, false, true});
  list.push_back({what + ", dW", 1, outputs, inputs, all, true, false, false});
}

inline std::vector<Product> products(const Sizes& s) {
  const std::size_t gates = 3 * s.hidden;
  std::vector<Product> list;
  // encoder: W_ih x of all steps at once, W_hh h step by step
  for (std::size_t l = 0; l < s.layers; ++l) {
    add_linear(list, "encoder input", s, l == 0 ? s.embed : s.hidden, gates, false);
    add_linear(list, "encoder recurrent", s, s.hidden, gates, true);
  }
  // a(q, k) = w_vᵀ tanh(W_q q + W_k k): keys once, queries step by step; w_vᵀ is no matrix product
  add_linear(list, "keys", s, s.hidden, s.hidden, false);
  add_linear(list, "query", s, s.hidden, s.hidden, true);
  // c = Σ α v, for each sentence and step; dα = v dc; dv = Σ_t α dc, one product a sentence
  list.push_back({"context", s.steps * s.batch, 1, s.hidden, s.steps, false, false, false});
  list.push_back({"context, dα", s.steps * s.batch, 1, s.steps, s.hidden, false, true, false});
  list.push_back({"context, dv", s.batch, s.steps, s.hidden, s.steps, true, false, false});
  // decoder: the embedding's half of the input is known for all steps, the context's is not; nor is a lower
  // layer's
  add_linear(list, "decoder embedding", s, s.embed, gates, false);
  add_linear(list, "decoder context", s, s.hidden, gates, true);
  for (std::size_t l = 0; l < s.layers; ++l) {
    if (l > 0) add_linear(list, "decoder input", s, s.hidden, gates, true);
    add_linear(list, "decoder recurrent", s, s.hidden, gates, true);
  }
  add_linear(list, "dense", s, s.hidden, s.vocabulary, false);
  return list;
}

}  // namespace benchmark
