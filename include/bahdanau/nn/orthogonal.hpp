// Orthogonal matrices, as recurrent weights of some papers begin.
// Drawn as normal numbers, then made orthogonal row by row; `Initializer::orthogonal()` chooses it.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace bahdanau::detail {

/// Makes the rows of each square block of a matrix [rows, n] orthogonal and of length 1 (Gram and Schmidt).
/// From rows drawn from the normal distribution this gives every orthogonal matrix with the same probability.
/// A last block that is not square has orthogonal rows too.
inline void make_orthogonal(std::span<double> matrix, std::size_t n) {
  const auto dot = [n](const double* a, const double* b) {
    double sums[4] = {};  // four chains: the processor need not wait for each sum
    std::size_t c = 0;
    for (; c + 4 <= n; c += 4)
      for (std::size_t k = 0; k < 4; ++k) sums[k] += a[c + k] * b[c + k];
    for (; c < n; ++c) sums[0] += a[c] * b[c];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  };
  const std::size_t rows = n == 0 ? 0 : matrix.size() / n;
  for (std::size_t block = 0; block < rows; block += n)
    for (std::size_t i = block; i < rows && i < block + n; ++i) {
      double* row = matrix.data() + i * n;
      for (std::size_t j = block; j < i; ++j) {
        const double* before = matrix.data() + j * n;
        const double along = dot(row, before);
        for (std::size_t c = 0; c < n; ++c) row[c] -= along * before[c];
      }
      const double length = std::sqrt(dot(row, row));
      for (std::size_t c = 0; c < n; ++c) row[c] /= length;
    }
}

}  // namespace bahdanau::detail
