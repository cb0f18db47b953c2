// The main function of every test program where Catch2 is version 2, compiled once.
// Catch2 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
