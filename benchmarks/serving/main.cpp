// What a server gets from a frozen model: requests per second and their 99th percentile with 1, 8 and 64
// clients, one call per request beside a Translator; how long loading takes beside reading the file; memory.
//
//   benchmark_serving [rounds]
//
// Both ways take turns. Each client sends its next request when it has the answer to the last one.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "serve.hpp"

namespace {

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
using bd::Greedy;

struct Size {
  const char* name;
  std::size_t width, vocabulary, length;
};

bd::Vocabularies vocabularies(std::size_t size, std::size_t length) {
  std::vector<std::string> tokens{"<unk>", "<pad>", "<bos>", "<eos>"};
  for (std::size_t i = 4; i < size; ++i) tokens.push_back(std::string("w").append(std::to_string(i)));
  return {bd::Vocabulary(tokens), bd::Vocabulary(tokens),
          bd::TextOptions{.tokens = bd::Tokens::none, .max_length = length}};
}

std::vector<std::string> sentences(const Size& size) {
  std::vector<std::string> out(256);
  std::size_t state = 1;
  for (std::string& sentence : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::size_t length = size.length / 2 + (state >> 33) % (size.length / 2);
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      sentence.append("w").append(std::to_string(4 + (state >> 33) % (size.vocabulary - 4))).append(" ");
    }
  }
  return out;
}

struct Measured {
  double per_second = 0, p99 = 0;  // milliseconds
};

/// `ask(sentence)` from so many threads for some time.
template <class Ask>
Measured measure(std::size_t clients, double seconds, const std::vector<std::string>& lines, Ask ask) {
  std::vector<std::vector<double>> each(clients);
  std::vector<std::thread> threads;
  const double start = benchmark::milliseconds_now(), end = start + 1000 * seconds;
  for (std::size_t c = 0; c < clients; ++c)
    threads.emplace_back([&, c] {
      for (std::size_t i = c * 37; benchmark::milliseconds_now() < end; ++i) {
        const double before = benchmark::milliseconds_now();
        ask(lines[i % lines.size()]);
        each[c].push_back(benchmark::milliseconds_now() - before);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const double took = benchmark::milliseconds_now() - start;
  std::vector<double> all;
  for (const auto& some : each) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return {1000 * static_cast<double>(all.size()) / took, all[all.size() * 99 / 100]};
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

void serve(const Size& size, std::size_t rounds) {
  const Model model({.embed = size.width, .hidden = size.width, .layers = 2, .dropout = 0},
                    vocabularies(size.vocabulary, size.length), 1);
  const auto frozen = model.freeze();
  const auto lines = sentences(size);
  const Greedy alone{.max_length = size.length, .threads = 1};
  for (const std::size_t clients : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) {
    std::vector<double> single, queued, single_p99, queued_p99, ratio;
    for (std::size_t round = 0; round < rounds; ++round) {
      const Measured a =
          measure(clients, 1.5, lines, [&](const std::string& s) { frozen.translate(s, alone); });
      bd::Translator translator(frozen);
      const Measured b =
          measure(clients, 1.5, lines, [&](const std::string& s) { translator.submit(s, alone).get(); });
      single.push_back(a.per_second);
      queued.push_back(b.per_second);
      single_p99.push_back(a.p99);
      queued_p99.push_back(b.p99);
      ratio.push_back(b.per_second / a.per_second);
    }
    std::sort(ratio.begin(), ratio.end());
    std::printf(
        "%-6s %3zu clients   a call each %8.0f/s, 99 %% in %7.2f ms   Translator %8.0f/s, 99 %% in %7.2f ms"
        "   %.2f times (%.2f to %.2f)\n",
        size.name, clients, median(single), median(single_p99), median(queued), median(queued_p99),
        ratio[ratio.size() / 2], ratio.front(), ratio.back());
    std::fflush(stdout);
  }
}

double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  return 0;
}

void load(const Size& size, std::size_t rounds) {
  const auto path = std::filesystem::temp_directory_path() / "bahdanau_serving.safetensors";
  std::size_t weights = 0;
  {
    const Model model({.embed = size.width, .hidden = size.width, .layers = 2, .dropout = 0},
                      vocabularies(size.vocabulary, size.length), 1);
    model.save(path);
    weights = model.parameters().count() * sizeof(float);
  }
  const auto bytes = std::filesystem::file_size(path);
  std::vector<double> reading, loading, ratio;
  for (std::size_t round = 0; round < 2 * rounds; ++round) {
    double start = benchmark::milliseconds_now();
    {
      std::ifstream file(path, std::ios::binary);
      std::vector<char> all(bytes);
      file.read(all.data(), static_cast<std::streamsize>(bytes));
    }
    const double read = benchmark::milliseconds_now() - start;
    start = benchmark::milliseconds_now();
    const auto frozen = bd::Frozen<Model>::load(path);
    const double loaded = benchmark::milliseconds_now() - start;
    reading.push_back(read);
    loading.push_back(loaded);
    ratio.push_back(loaded / read);
  }
  const double before = resident_megabytes();
  const auto frozen = bd::Frozen<Model>::load(path);
  const double after = resident_megabytes(), full = static_cast<double>(weights) / 1e6;
  std::sort(ratio.begin(), ratio.end());
  std::printf(
      "%-6s loaded in %.1f ms, read in %.1f ms: %.2f times (%.2f to %.2f); memory %.1f MB for weights of "
      "%.1f MB:"
      " %.2f times\n",
      size.name, median(loading), median(reading), ratio[ratio.size() / 2], ratio.front(), ratio.back(),
      after - before, full, (after - before) / full);
  std::filesystem::remove(path);
}

}  // namespace

int main(int count, char** words) {
  const std::size_t rounds = count > 1 ? std::strtoul(words[1], nullptr, 10) : 3;
  const Size d2l{"d2l", 32, 200, 10}, medium{"medium", 256, 8000, 25}, large{"large", 512, 10000, 30};
  load(large, rounds);
  for (const Size& size : {d2l, medium, large}) serve(size, rounds);
}
