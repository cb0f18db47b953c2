// A corpus that stays in its file, of as many pairs as asked for, made by repetition: how long it takes to
// open, vocabularies among it, until the first batch was trained on, and how much memory that needs. Under
// mpirun, or alone.
//
//   benchmark_data PAIRS.tsv COUNT FOLDER [by_length]
//
// Rank 0 makes FOLDER/pairs.tsv, unless it is there; all train on it for a few batches.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/distributed/mpi.hpp>

namespace bd = bahdanau;

namespace {

/// The lines of a file, again and again.
void repeat(const std::filesystem::path& from, std::size_t count, const std::filesystem::path& to) {
  std::ifstream in(from);
  std::stringstream lines;
  lines << in.rdbuf();
  std::string text = lines.str();
  if (!text.ends_with('\n')) text += '\n';
  const auto each = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  std::ofstream out(to);
  for (std::size_t done = 0; done < count;) {
    std::size_t end = text.size();
    if (count - done < each)
      for (std::size_t left = count - done, at = end = 0; left > 0; --left, at = end)
        end = text.find('\n', at) + 1;
    out.write(text.data(), static_cast<std::streamsize>(end));
    done += std::min(each, count - done);
  }
}

double peak_megabytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  bd::Mpi mpi(argc, argv);
  if (argc < 4 || argc > 5) return 2;
  const auto grouping = argc == 5 ? bd::Grouping::by_length : bd::Grouping::random;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const std::filesystem::path file = std::filesystem::path(argv[3]) / "pairs.tsv";
  const std::size_t count = std::strtoul(argv[2], nullptr, 10);
  if (mpi.rank() == 0 && !std::filesystem::exists(file)) repeat(argv[1], count, file);
  bd::barrier(mpi);

  const double before = peak_megabytes();
  const auto start = Clock::now();
  const auto corpus = bd::CorpusFile::open(file, {.min_frequency = 2}, mpi);
  const double opened = since(start), open_memory = peak_megabytes();
  bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
      {.embed = 64, .hidden = 64, .layers = 1}, corpus.vocabularies(), 1);
  const std::size_t replicas = std::max<std::size_t>(2, mpi.size());
  const bd::detail::Replicas whose{replicas, mpi.rank(), mpi.size()};  // as the trainer reads
  const auto order_start = Clock::now();
  const bd::EpochPlan plan(corpus, 64, grouping, bd::random::Key{1}, whose);
  const double ordered = since(order_start), order_memory = peak_megabytes();
  bd::Training training(model, bd::Adam{}, {.replicas = replicas, .communicator = mpi});
  double first = 0, reading = 0;
  constexpr std::size_t batches = 50;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto begin = Clock::now();
    const bd::Batch batch =
        make_batch(corpus, plan.pairs(b), bd::BatchPart{plan.rows(b), whose.own_rows(plan.rows(b)), mpi});
    reading += since(begin);
    training.loss(batch);
    training.backward();
    training.step();
    if (b == 0) first = since(start);
  }
  const auto largest = [&](double mine) {
    return bd::ordered_sum(mpi, mine, [](double a, double b) { return std::max(a, b); });
  };
  const double peaks[] = {largest(before), largest(open_memory), largest(order_memory),
                          largest(peak_megabytes())};
  if (mpi.rank() == 0)
    std::printf(
        "%zu pairs, %zu processes: open after %.2f s, an epoch ordered in %.2f s, the first batch trained on "
        "after %.2f s, %.2f ms to read a batch of 64; peak of the largest process %.0f MB before, %.0f when "
        "open, %.0f with the model and the order of an epoch, %.0f in training\n",
        corpus.size(), mpi.size(), opened, ordered, first, 1000 * reading / batches, peaks[0], peaks[1],
        peaks[2], peaks[3]);
}
