// Rows by number, tables by formula, and copies: the small functions of a backend.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "support/backends.hpp"
#include "support/catch.hpp"

using bahdanau::Index;
using bahdanau::test::on_host;
using bahdanau::test::OnDevice;
using bahdanau::test::TestBackend;

namespace {

struct Formula {
  BAHDANAU_HOST_DEVICE double operator()(std::size_t row, std::size_t column) const {
    return static_cast<double>(100 * row + column);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("rows that name the same place add up there", "[backend]", float, double) {
  using T = TestType;
  using B = TestBackend<T>;
  for (const std::size_t cols : {1U, 2U, 9U, 33U}) {
    const std::vector<Index> index = {2, 0, 2, 2, 3};
    std::vector<T> x(index.size() * cols);
    for (std::size_t r = 0; r < index.size(); ++r)
      for (std::size_t c = 0; c < cols; ++c) x[r * cols + c] = static_cast<T>(10 * r + c);
    OnDevice<B> sums(std::vector<T>(4 * cols, 1));
    B::scatter_add(index.size(), cols, OnDevice<B>(x).data(), OnDevice<B, Index>(index).data(), sums.data());
    const std::vector<T> out = sums.host();
    for (std::size_t c = 0; c < cols; ++c) {
      CAPTURE(cols, c);
      CHECK(out[c] == static_cast<T>(1 + 10 + c));                 // from row 1
      CHECK(out[cols + c] == 1);                                   // from none
      CHECK(out[2 * cols + c] == static_cast<T>(1 + 50 + 3 * c));  // from rows 0, 2 and 3
      CHECK(out[3 * cols + c] == static_cast<T>(1 + 40 + c));      // from row 4
    }
  }
}

TEMPLATE_TEST_CASE("a table holds its formula of row and column", "[backend]", float, double) {
  using T = TestType;
  OnDevice<TestBackend<T>> table(std::vector<T>(3 * 5 + 1, -1));
  TestBackend<T>::tabulate(3, 5, Formula{}, table.data());
  const std::vector<T> out = table.host();
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 5; ++c) CHECK(out[r * 5 + c] == static_cast<T>(100 * r + c));
  CHECK(out[15] == -1);
}

TEMPLATE_TEST_CASE("numbers come back from the device as they went", "[backend]", float, double) {
  using T = TestType;
  using B = TestBackend<T>;
  const std::vector<T> host = {1, -2, T(0.1), 4};
  typename B::template Storage<T> here(4), there(5);
  CHECK(here.size() == 4);
  std::vector<T> back(4);
  B::upload(host.data(), 4, here.data());
  B::fill(there.data(), 5, T(9));
  B::copy(here.data(), 4, there.data());
  B::download(there.data(), 4, back.data());
  CHECK(back == host);
  CHECK(on_host<B>(there.data(), 5)[4] == 9);
  typename B::template Storage<Index> numbers(2);
  const std::vector<Index> indices = {3, 1};
  B::upload(indices.data(), 2, numbers.data());
  CHECK(on_host<B>(numbers.data(), 2) == indices);
}
