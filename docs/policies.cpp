// The program of the page on policies.
#include <iostream>
#include <span>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  using Exact = bd::Xtensor<double>;
  const bd::GradientCheck check = bd::check_gradient<Exact>(
      [](bd::Tape<Exact>&, std::span<const bd::Variable<Exact>> x) {
        return tanh(linear(x[0], x[1])) * sigmoid(x[2]);  // tanh(x Wᵀ) ⊙ σ(g)
      },
      {bd::Shape{3, 4}, bd::Shape{5, 4}, bd::Shape{3, 5}});
  std::cout << (check.relative() < 1e-6 ? "the gradient is right\n" : "the gradient is wrong\n");

  const bd::Attention<bd::Additive, bd::Xtensor<float>> attention({.query = 3, .key = 2, .hidden = 8});
  const bd::Array<float, 3> queries({2, 1, 3}, 0.5f);  // [batch, queries, width of a query]
  const bd::Array<float, 3> keys({2, 4, 2}, 1.0f);     // [batch, keys, width of a key]
  const bd::Array<float, 3> values({2, 4, 6}, 1.0f);   // [batch, keys, width of a value]
  const std::vector<bd::Index> lengths{4, 2};          // of the second sentence only two keys count
  const auto attended = attention(queries, keys, values, lengths);
  std::cout << "weights of the second sentence:";
  for (std::size_t k = 0; k < 4; ++k) std::cout << ' ' << attended.weights(1, 0, k);
  std::cout << '\n';
  return check.relative() < 1e-6 && attended.contexts.shape(2) == 6 ? 0 : 1;
}
