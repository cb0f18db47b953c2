// Does it scale? benchmark_scaling [PAIRS]: without a file of sentence pairs, the checks that need one are
// left out.
#include <cstdio>

#include "trainings.hpp"

int main(int count, char** words) {
  using namespace benchmark;
  bool good = true;
  if (count > 1) {
    good = check_memory(words[1]) && good;  // first, while nothing else has used memory
    good = check_pairs(words[1]) && good;
  } else {
    std::puts("pairs and memory: skipped, no file of sentence pairs\n");
  }
  good = check_layers() && good;
  good = check_lengths() && good;
  good = check_threads() && good;
  return good ? 0 : 1;
}
