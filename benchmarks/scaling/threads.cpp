// Two threads against one, at medium and large.
#include <cstdio>
#include <thread>

#include "trainings.hpp"

namespace benchmark {

bool check_threads() {
  if (std::thread::hardware_concurrency() < 2) {
    std::puts("threads: skipped, there is one core\n");
    return true;
  }
  const Setting medium{}, large{.embed = 512, .hidden = 512, .vocabulary = 10000, .source = 30, .target = 30};
  bool good = true;
  for (Setting s : {medium, large}) {
    s.threads = 1;
    Setting two = s;
    two.threads = 2;
    const auto ms = milliseconds_a_batch({s, two}, 7);
    std::printf("threads, hidden %zu: %.1f ms with one, %.1f ms with two\n", s.hidden, ms[0], ms[1]);
    good = verdict("speed-up", ms[0] / ms[1], "at least", 1.7) && good;
  }
  return good;
}

}  // namespace benchmark
