// Where a training batch's time goes: `benchmark_breakdown MODEL BATCHES [BATCHES_TO_RUN]`.
// Times are sums over the threads, so they are compared with wall time × threads.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "models.hpp"
#include "timed.hpp"
#include "train_task.hpp"

int main(int count, char** words) {
  using namespace benchmark;
  using Backend = Timed<bd::Xtensor<float>>;
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;
  const std::size_t batches = count > 3 ? std::stoul(words[3]) : 3;
  TrainTask<Model> task(words[1], words[2]);
  task.run(1);
  for (const auto& slot : all_slots()) slot->nanoseconds = slot->calls = 0;
  const double start = milliseconds_now();
  task.run(batches);
  const double each = 1.0 / static_cast<double>(batches);
  const double threads = std::max(1U, std::thread::hardware_concurrency());
  const double wall = (milliseconds_now() - start) * each, total = wall * threads;

  auto& slots = all_slots();
  std::sort(slots.begin(), slots.end(),
            [](const auto& a, const auto& b) { return a->nanoseconds > b->nanoseconds; });
  std::printf("%.1f ms a batch on %.0f threads; milliseconds of threads, share, calls:\n", wall, threads);
  double products = 0, known = 0;
  for (const auto& slot : slots) {
    const double ms = static_cast<double>(slot->nanoseconds) * 1e-6 * each;
    known += ms;
    if (slot->name.starts_with("gemm")) products += ms;
    if (ms > 0.001 * total)
      std::printf("  %-40s %9.1f  %5.1f %%  %7.0f\n", slot->name.c_str(), ms, 100 * ms / total,
                  static_cast<double>(slot->calls) * each);
  }
  std::printf("  %-40s %9.1f  %5.1f %%\n", "all products", products, 100 * products / total);
  std::printf("  %-40s %9.1f  %5.1f %%\n", "none of these: bookkeeping, waiting", total - known,
              100 * (total - known) / total);
}
