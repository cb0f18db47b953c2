// What the micro-benchmarks share: check an answer against a plain loop, then time it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/core/random.hpp>

namespace benchmark {

namespace bd = bahdanau;
using Cpu = bd::Xtensor<float>;

inline std::vector<float> random_numbers(std::size_t n, std::uint64_t seed) {
  std::vector<float> out(n);
  const bd::random::Key key{seed};
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(2 * key.uniform(i) - 1);
  return out;
}

/// Ends the program unless the numbers agree within `tolerance` of the largest.
inline void require_close(const std::string& what, const float* got, const std::vector<double>& expected,
                          double tolerance = 2e-5) {
  double largest = 1e-30, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
  }
  if (worst <= tolerance * largest) return;
  std::printf("%s: WRONG, off by %g where the largest is %g\n", what.c_str(), worst, largest);
  std::exit(1);
}

/// Nanoseconds of a call: the median of runs that each take a few milliseconds.
template <class F>
double nanoseconds(F f) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&](std::size_t times) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < times; ++i) f();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  run(1);
  const auto times = static_cast<std::size_t>(std::max(1.0, 5e6 / std::max(run(1), 1.0)));
  std::vector<double> all;
  for (int i = 0; i < 11; ++i) all.push_back(run(times) / static_cast<double>(times));
  std::nth_element(all.begin(), all.begin() + 5, all.end());
  return all[5];
}

inline void print_row(const std::string& what, const std::string& shape, double value, const char* unit) {
  std::printf("%-34s %-22s %9.3g %s\n", what.c_str(), shape.c_str(), value, unit);
}

// One function a file.
void measure_gemm();
void measure_gates();
void measure_additive();
void measure_cross_entropy();
void measure_adam();

}  // namespace benchmark
