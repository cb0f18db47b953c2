// Matrix products through the backend's door, in the shapes of training and decoding.
#include "micro.hpp"

namespace benchmark {
namespace {

struct Shape {
  const char* what;
  std::size_t m, n, k;
  bd::Transpose a, b;
};

std::vector<double> plain_product(const Shape& s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(s.m * s.n);
  const auto at = [](const std::vector<float>& x, bd::Transpose t, std::size_t r, std::size_t col,
                     std::size_t rows, std::size_t cols) {
    return static_cast<double>(t == bd::Transpose::yes ? x[col * rows + r] : x[r * cols + col]);
  };
  for (std::size_t i = 0; i < s.m; ++i)
    for (std::size_t j = 0; j < s.n; ++j)
      for (std::size_t p = 0; p < s.k; ++p)
        c[i * s.n + j] += at(a, s.a, i, p, s.m, s.k) * at(b, s.b, p, j, s.k, s.n);
  return c;
}

void print(const Shape& s, const std::string& what, double ns) {
  print_row(what, std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k),
            2 * static_cast<double>(s.m * s.n * s.k) / ns, "GFLOP/s");
}

// A template, so that a backend that does not pack need not have the functions.
template <class B>
void measure(const Shape& s) {
  const auto a = random_numbers(s.m * s.k, 1), b = random_numbers(s.k * s.n, 2);
  std::vector<float> c(s.m * s.n);
  const std::size_t lda = s.a == bd::Transpose::yes ? s.m : s.k, ldb = s.b == bd::Transpose::yes ? s.k : s.n;
  const auto multiply = [&] {
    B::gemm(s.a, s.b, s.m, s.n, s.k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), s.n);
  };
  const bool small = s.m * s.n * s.k < 200'000'000;
  const auto expected = small ? plain_product(s, a, b) : std::vector<double>{};
  multiply();
  require_close(s.what, c.data(), expected);
  print(s, std::string("gemm, ") + s.what, nanoseconds(multiply));

  if constexpr (bd::PackingBackend<B>) {
    if (s.a == bd::Transpose::yes) return;  // weights are packed, and stand on the right
    typename B::template Storage<float> packed(B::packed_size(s.k, s.n));
    B::pack(s.b, s.k, s.n, b.data(), ldb, packed.data());
    const auto multiply_packed = [&] {
      B::gemm_packed(s.m, s.n, s.k, a.data(), lda, packed.data(), nullptr, 0, c.data(), s.n);
    };
    multiply_packed();
    require_close(s.what, c.data(), expected);
    print(s, std::string("gemm_packed, ") + s.what, nanoseconds(multiply_packed));
  }
}

}  // namespace

void measure_gemm() {
  constexpr auto no = bd::Transpose::no, yes = bd::Transpose::yes;
  for (const Shape& s :
       {Shape{"d2l recurrent", 32, 96, 32, no, yes}, Shape{"medium recurrent", 32, 768, 256, no, yes},
        Shape{"large recurrent", 32, 1536, 512, no, yes}, Shape{"large recurrent, dx", 32, 512, 1536, no, no},
        Shape{"large recurrent, dW", 1536, 512, 960, yes, no},
        Shape{"large recurrent, one row", 1, 1536, 512, no, yes},
        Shape{"large dense", 960, 10000, 512, no, yes}})
    measure<Cpu>(s);
}

}  // namespace benchmark
