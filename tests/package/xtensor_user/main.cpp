// A program that uses xtensor and xtensor-blas itself. This file includes them before the library, other.cpp
// after it, and they disagree about XTENSOR_USE_XSIMD: what the library hands from one to the other must not
// mind.
#include <cmath>
#include <cstdio>

#include <xtensor-blas/xlinalg.hpp>

#include <bahdanau/bahdanau.hpp>

#include "other.hpp"

int main() {
  const xt::xtensor<double, 2> a{{4, 1}, {1, 3}};
  const xt::xtensor<double, 1> b{1, 2};
  const xt::xtensor<double, 1> x = xt::linalg::solve(a, b);  // (1/11, 7/11)
  const bool solved = std::abs(x(0) - 1.0 / 11) < 1e-12 && std::abs(x(1) - 7.0 / 11) < 1e-12;

  // An array of the library is made there, and changed, read and freed here; and the other way round.
  bahdanau::Array<float, 2> ours = uniform_weights(5, 7);
  ours = 2.0f * ours;
  const xt::xtensor<float, 2> theirs = ours;
  const bool passed = std::abs(sum_of(ours) - 10) < 1e-5 && std::abs(sum_of(theirs) - 10) < 1e-5;

  bahdanau::Translation translation = translated();
  translation.attention = xt::eye<float>(2);
  const bool shown = bahdanau::plot::heatmap_text(translation, false) == shown_there(translation);

  // One product by the library's door to BLAS and by xtensor-blas's.
  bahdanau::Array<float, 2> product = bahdanau::Array<float, 2>::from_shape({5, 5});
  bahdanau::blas::gemm(bahdanau::Transpose::no, bahdanau::Transpose::yes, 5, 5, 7, 1.0f, ours.data(), 7,
                       ours.data(), 7, 0.0f, product.data(), 5);
  const xt::xtensor<float, 2> same = xt::linalg::dot(ours, xt::transpose(ours));
  const bool multiplied = xt::allclose(product, same);

  std::printf("solved %d, passed %d, shown %d, multiplied %d\n", solved, passed, shown, multiplied);
  return solved && passed && shown && multiplied && solved_there() ? 0 : 1;
}
