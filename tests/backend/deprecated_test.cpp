// Names of 0.1 that are kept for one version, each with what to write instead; and the header that moved.
#include <type_traits>

#include <bahdanau/backend/pointwise.hpp>
#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"

// Whoever uses them is told so, but for here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace bahdanau;

TEST_CASE("blas::SingleThreaded of 0.1 sets OpenBLAS to one thread", "[blas][deprecated]") {
  const blas::SingleThreaded alone;
  CHECK(openblas_get_num_threads() == 1);
}

TEST_CASE("Result::fresh of 0.1 is a result that is kept", "[tape][deprecated]") {
  CHECK(Result::fresh == Result::kept);
}

TEST_CASE("backend/pointwise.hpp of 0.1 has the maths of kernel/pointwise.hpp", "[kernel][deprecated]") {
  STATIC_REQUIRE(std::is_empty_v<pointwise::Identity>);
}

#pragma GCC diagnostic pop
