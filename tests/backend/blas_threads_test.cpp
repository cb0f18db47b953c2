// OpenBLAS is set to one thread before our first product and never back: our own threads divide the work.
// What holds once in a process is tried in processes of its own, which run a hidden test of this program.
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/message.hpp"

using namespace bahdanau;
using namespace bahdanau::test;

namespace {

using Model = EncoderDecoder<Gru, Additive, Xtensor<float>>;

/// A product of OpenBLAS's: ours know no other factor than 1.
void multiply_by_blas(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b, float* c) {
  Xtensor<float>::gemm(Transpose::no, Transpose::no, m, n, k, 2.0F, a, k, b, n, 0.0F, c, n);
}

Model large_model(std::size_t width, std::size_t vocabulary) {
  return Model({.embed = width, .hidden = width},
               {Vocabulary::numbered(vocabulary),
                Vocabulary::numbered(vocabulary),
                {.tokens = Tokens::none, .lowercase = false}},
               1);
}

std::string sentence(const Model& model, std::size_t words) {
  std::string out;
  for (std::size_t i = 0; i < words; ++i) out += model.vocabularies().source.token(Token(5 + i)) + " ";
  return out;
}

void multiply_once() {
  const std::vector<float> a(64, 1);
  std::vector<float> c(64, 0);
  multiply_by_blas(8, 8, 8, a.data(), a.data(), c.data());
  CHECK(c[0] == 16);
}

/// Runs a hidden test in a process of its own.
int run_alone(const std::string& tag) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status =
      std::system(("OPENBLAS_NUM_THREADS=2 '" + self + "' '[" + tag + "]' > /dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Of the processor, on all threads: others may need the machine at the same time, and threads that wait for
/// each other inside BLAS do so busily.
double processor_seconds(auto work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("in a new process: the first product sets one thread", "[.][blas_first_product]") {
  openblas_set_num_threads(2);
  multiply_once();
  CHECK(openblas_get_num_threads() == 1);
  CHECK(message_of([] { blas::keep_threads(); }) ==
        "blas::keep_threads: expected a call before OpenBLAS was set to one thread, got one after it; call "
        "it first of all, in main");
}

TEST_CASE("in a new process: threads are kept where the program asks for it", "[.][blas_keep_threads]") {
  openblas_set_num_threads(2);
  const int own = openblas_get_num_threads();  // a BLAS built without threads stays at one
  blas::keep_threads();
  multiply_once();
  blas::keep_threads();  // again, which changes nothing
  CHECK(openblas_get_num_threads() == own);
}

TEST_CASE("the first product sets OpenBLAS to one thread, unless its threads are to be kept",
          "[blas][process]") {
  CHECK(run_alone("blas_first_product") == 0);
  CHECK(run_alone("blas_keep_threads") == 0);
}

TEST_CASE("nothing changes OpenBLAS's threads while a model translates and trains", "[blas]") {
  multiply_once();
  std::atomic<bool> done = false, changed = false;
  std::thread watch([&] {
    while (!done)
      if (openblas_get_num_threads() != 1) changed = true;
  });
  Model model = large_model(16, 40);
  const std::vector<std::string> many(70, sentence(model, 5));
  // Another thread translates with a model of its own all the while, and gets the same bits.
  const Model other = large_model(64, 300);
  const auto first = other.translate(sentence(other, 6), Greedy{.max_length = 6});
  std::atomic<bool> differs = false;
  std::thread serve([&] {
    while (!done)
      if (other.translate(sentence(other, 6), Greedy{.max_length = 6}).log_probs != first.log_probs)
        differs = true;
  });
  CHECK(model.translate(many, Greedy{.max_length = 5}).size() == 70);
  CHECK(model.translate(many[0], Greedy{.max_length = 5, .threads = 1}).target.size() <= 5);
  const std::vector<std::vector<Token>> rows(40, {5, 6, 7, reserved::eos});
  const Batch batch{Sequences::from_rows(rows), Sequences::from_rows(rows)};
  Training training(model, Adam{});
  for (int i = 0; i < 3; ++i) {
    training.loss(batch);
    training.backward();
    training.step();
  }
  done = true;
  watch.join();
  serve.join();
  CHECK_FALSE(changed);
  CHECK_FALSE(differs);
}

TEST_CASE("calls from four threads take no more of the processor than one after the other, in every build",
          "[blas][threads]") {
  // With threads of OpenBLAS's under ours this took ten times as much.
  const Model model = large_model(128, 1000);
  const std::string source = sentence(model, 10);
  const auto calls = [&] {
    for (int i = 0; i < 16; ++i) (void)model.translate(source, Greedy{.max_length = 10});
  };
  calls();
  const double alone = processor_seconds([&] {
    for (int i = 0; i < 4; ++i) calls();
  });
  const double together = processor_seconds([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(calls);
    for (std::thread& thread : threads) thread.join();
  });
  CAPTURE(alone, together);
  CHECK(together < 1.5 * alone + 0.02);
}

TEST_CASE("a sentence has the same bits for any number of threads where helpers share products",
          "[blas][threads]") {
  const Model model = large_model(320, 1500);  // products large enough for helpers
  const std::string source = sentence(model, 12);
  const Translation one = model.translate(source, Greedy{.max_length = 8, .threads = 1});
  for (const std::size_t threads : {std::size_t{2}, std::size_t{3}, std::size_t{8}}) {
    const Translation other = model.translate(source, Greedy{.max_length = 8, .threads = threads});
    CHECK(other.target == one.target);
    CHECK(other.log_probs == one.log_probs);
    CHECK(other.attention == one.attention);
  }
}

TEST_CASE("a fork waits for the products of other threads, so that the child can multiply",
          "[backend][blas][fork]") {
  // One long row and few columns: short products, and too long for buffers on the stack, so OpenBLAS's lock
  // is held for much of the time.
  const std::size_t k = 2000;
  const std::vector<float> row(k, 1), matrix(8 * k, 1);
  const auto first_of_product = [&] {
    float c[8];  // no allocation: a sanitizer's has locks of its own
    multiply_by_blas(1, 8, k, row.data(), matrix.data(), c);
    return c[0];
  };
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!stop) first_of_product();
    });
  int well = 0;
  for (int round = 0; round < 400 && well == round; ++round)
    well += exit_code_of_child([&] { return first_of_product() == float(2 * k) ? 0 : 1; }, 10) == 0;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(well == 400);
}
