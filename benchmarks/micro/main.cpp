// The kernels that matter, one by one and on one thread: each is checked against a plain loop, then timed.
#include "micro.hpp"

int main() {
  using namespace benchmark;
  bd::blas::use_one_thread();  // as in a shard of a training batch
  measure_gemm();
  measure_gates();
  measure_additive();
  measure_cross_entropy();
  measure_adam();
}
