// BLAS keeps to one thread where we ask it to, and the caller's own setting comes back.
#include <memory>

#include <bahdanau/backend/blas.hpp>

#include "support/catch.hpp"

using bahdanau::blas::SingleThreaded;

namespace {

/// Asks for two threads, and puts back what was there before the test. A BLAS built without threads stays at
/// one.
class TwoThreads {
 public:
  TwoThreads() : before_(openblas_get_num_threads()) { openblas_set_num_threads(2); }
  ~TwoThreads() { openblas_set_num_threads(before_); }
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

 private:
  int before_;
};

}  // namespace

TEST_CASE("the caller's number of BLAS threads comes back", "[blas]") {
  const TwoThreads setting;
  const int own = openblas_get_num_threads();
  {
    const SingleThreaded quiet;
    CHECK(openblas_get_num_threads() == 1);
  }
  CHECK(openblas_get_num_threads() == own);
}

TEST_CASE("overlapping uses keep BLAS on one thread until the last one ends", "[blas]") {
  const TwoThreads setting;
  const int own = openblas_get_num_threads();
  {
    auto first = std::make_unique<SingleThreaded>();
    auto second = std::make_unique<SingleThreaded>();
    CHECK(openblas_get_num_threads() == 1);
    first.reset();  // not the order in which they came
    CHECK(openblas_get_num_threads() == 1);
  }
  CHECK(openblas_get_num_threads() == own);
  {
    const SingleThreaded again;
    CHECK(openblas_get_num_threads() == 1);
  }
  CHECK(openblas_get_num_threads() == own);
}
