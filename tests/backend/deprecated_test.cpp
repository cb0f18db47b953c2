// Names of 0.1 and 0.2 that are kept for one version, each with what to write instead; and the header that
// moved.
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

TEST_CASE("any_of of 0.2 is any_process", "[distributed][deprecated]") {
  CHECK(bahdanau::any_of(AnyCommunicator{}, true));
  CHECK_FALSE(bahdanau::any_of(AnyCommunicator{}, false));
}

#pragma GCC diagnostic pop
