// The main function of the suite on CUDA: without a device it says so, and runs nothing.
#define CATCH_CONFIG_RUNNER
#include <cstdio>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <bahdanau/backend/thrust.hpp>

int main(int argc, char* argv[]) {
  if (!bahdanau::Thrust<float>::available()) {
    std::puts("skipped: no CUDA device");
    return 0;
  }
  return Catch::Session().run(argc, argv);
}
