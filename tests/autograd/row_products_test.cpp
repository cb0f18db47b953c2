// Products of an embedding's rows that are kept: a row counts as known only when its product is there.
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <bahdanau/autograd/row_products.hpp>
#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"

namespace bd = bahdanau;

namespace {

/// Packs as it comes, multiplies plainly, and runs out of memory when told to.
struct Failing : bd::Xtensor<double> {
  inline static bool out_of_memory = false;
  inline static std::size_t rows_made = 0;

  static constexpr std::size_t packed_columns = 1;
  static std::size_t packed_size(std::size_t k, std::size_t n) { return k * n; }
  static void pack(bd::Transpose, std::size_t k, std::size_t n, const double* b, std::size_t,
                   double* packed) {
    copy(b, k * n, packed);
  }
  static void gemm_packed(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
                          const double* packed, const double* addend, std::size_t, double* c,
                          std::size_t ldc) {
    if (out_of_memory) throw std::bad_alloc();
    rows_made += m;
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t j = 0; j < n; ++j) {
        c[r * ldc + j] = addend[j];
        for (std::size_t i = 0; i < k; ++i) c[r * ldc + j] += a[r * lda + i] * packed[i * n + j];
      }
  }
};
static_assert(bd::PackingBackend<Failing>);

}  // namespace

TEST_CASE("a row whose product could not be made is not taken for known", "[tape][memory]") {
  const std::vector<double> x = {1, 2, 3}, w = {10, 100}, bias = {1, 2};  // [3, 1], [1, 2], [2]
  const bd::RowProduct<Failing> product{x.data(), 3, bias.data(), w.data(), 1, 2};
  bd::detail::RowProducts<Failing> products;
  const auto row = [&](bd::Index r, std::vector<bd::Index> wanted) {
    const double* table = products.get(product, w.data(), wanted);
    return std::vector<double>(table + 2 * r, table + 2 * r + 2);
  };
  CHECK((row(1, {1}) == std::vector<double>{21, 202}));
  Failing::out_of_memory = true;
  CHECK_THROWS_AS(row(2, {2, 0, 2}), std::bad_alloc);
  CHECK((row(1, {1}) == std::vector<double>{21, 202}));  // what was made is still there
  Failing::out_of_memory = false;
  Failing::rows_made = 0;
  CHECK((row(2, {2, 0, 2, 1}) == std::vector<double>{31, 302}));
  CHECK(Failing::rows_made == 2);  // each missing row once
  CHECK((row(0, {0}) == std::vector<double>{11, 102}));
  CHECK(Failing::rows_made == 2);
}
