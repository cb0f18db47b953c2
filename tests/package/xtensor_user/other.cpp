// The other file of the program: the library first, then xtensor and xtensor-blas.
#include "other.hpp"

// clang-format off
#include <bahdanau/bahdanau.hpp>
#include <xtensor-blas/xlinalg.hpp>
// clang-format on

#include <cmath>
#include <utility>

bahdanau::Array<float, 2> uniform_weights(std::size_t rows, std::size_t cols) {
  return xt::ones<float>({rows, cols}) / static_cast<float>(cols);
}

double sum_of(const bahdanau::Array<float, 2>& weights) { return xt::sum<double>(weights)(); }

bahdanau::Translation translated() {
  return {.text = "va !",
          .source = {"go", "."},
          .target = {"va", "!"},
          .score = -1,
          .log_probs = {-0.5, -0.5},
          .attention = uniform_weights(2, 2)};
}

std::string shown_there(bahdanau::Translation translation) {
  const bahdanau::Translation moved = std::move(translation);
  return bahdanau::plot::heatmap_text(moved, false);
}

bool solved_there() {
  const xt::xarray<double> a{{2, 0}, {0, 4}};
  return std::abs(xt::linalg::det(a) - 8) < 1e-12;
}
