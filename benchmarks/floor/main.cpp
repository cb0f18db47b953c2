// The floor: how long the matrix products alone of a training batch take with cblas_sgemm on all cores.
// Commands as for the other contestants; `load EMBED HIDDEN VOCABULARY STEPS`.
#include <iomanip>
#include <sstream>
#include <thread>

#include <cblas.h>

#include "products.hpp"
#include "serve.hpp"

namespace benchmark {
namespace {

class FloorTask : public Task {
 public:
  explicit FloorTask(const Sizes& sizes) {
    openblas_set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
    for (const Product& p : products(sizes)) {
      const std::size_t b_count = p.same_b ? 1 : p.count;
      work_.push_back(
          {p, numbers(p.count * p.m * p.k), numbers(b_count * p.k * p.n), numbers(p.count * p.m * p.n)});
    }
  }

  /// Gigaflops of one iteration.
  std::string check() override {
    double total = 0;
    for (const Work& w : work_) total += w.product.flops();
    return std::to_string(total / 1e9);
  }

  void run(std::size_t iterations) override {
    for (std::size_t i = 0; i < iterations; ++i)
      for (Work& w : work_) multiply(w);
  }

  /// `products`: what each of them took, in the order of the list.
  std::string tell(const std::string&) override {
    std::ostringstream out;
    out << std::fixed << std::setprecision(2);
    for (Work& w : work_) {
      const double start = milliseconds_now();
      multiply(w);
      const double ms = milliseconds_now() - start;
      const Product& p = w.product;
      out << p.what << '\t' << p.count << " x " << p.m << 'x' << p.n << 'x' << p.k << '\t' << ms << " ms\t"
          << p.flops() / ms / 1e6 << " GFLOP/s;";
    }
    return out.str();
  }

 private:
  struct Work {
    Product product;
    std::vector<float> a, b, c;
  };

  static std::vector<float> numbers(std::size_t n) {
    std::vector<float> out(n);
    unsigned state = 1;
    for (float& x : out)
      x = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8U) * 0x1p-24f - 0.5f;
    return out;
  }

  static void multiply(Work& w) {
    const Product& p = w.product;
    const auto size = [](std::size_t n) { return static_cast<int>(n); };
    const auto op = [](bool transpose) { return transpose ? CblasTrans : CblasNoTrans; };
    for (std::size_t i = 0; i < p.count; ++i)
      cblas_sgemm(CblasRowMajor, op(p.transpose_a), op(p.transpose_b), size(p.m), size(p.n), size(p.k), 1,
                  w.a.data() + i * p.m * p.k, size(p.transpose_a ? p.m : p.k),
                  w.b.data() + (p.same_b ? 0 : i * p.k * p.n), size(p.transpose_b ? p.k : p.n), 0,
                  w.c.data() + i * p.m * p.n, size(p.n));
  }

  std::vector<Work> work_;
};

}  // namespace
}  // namespace benchmark

int main() {
  using namespace benchmark;
  return serve([](const Words& w) {
    const auto number = [&](std::size_t i) { return std::stoul(w.at(i)); };
    return std::make_unique<FloorTask>(Sizes{number(0), number(1), number(2), number(3)});
  });
}
