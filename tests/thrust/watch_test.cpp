// What a Thrust backend asks of its device: copies, launches and memory of training and decoding, counted;
// and what becomes of a device that refuses. All on OMP, with memory that host code cannot reach: what read
// or wrote an array past the backend would end the program here, as it would on a GPU.
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <thrust/system/omp/execution_policy.h>
#include <unistd.h>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace bd = bahdanau;

struct Counts {
  std::size_t uploads = 0, downloads = 0, launches = 0, allocations = 0;
  std::size_t uploaded = 0, downloaded = 0;  // bytes
};

/// Counts, and refuses memory or fails when it is told to.
struct Counting {
  static inline Counts counts;
  static inline bool refuse = false, broken = false;

  static void upload(std::size_t bytes) {
    work();
    ++counts.uploads;
    counts.uploaded += bytes;
  }
  static void download(std::size_t bytes) {
    work();
    ++counts.downloads;
    counts.downloaded += bytes;
  }
  static void launch() {
    work();
    ++counts.launches;
  }
  static void allocation(std::size_t) {
    ++counts.allocations;
    if (refuse) throw std::bad_alloc();
  }

  template <class F>
  static Counts of(F f) {
    counts = {};
    f();
    return counts;
  }

 private:
  static void work() {
    if (broken) throw std::runtime_error("an illegal memory access");
  }
};

/// Memory that only work on the device reaches, as on a GPU: at all other times it is shut.
class Fence {
 public:
  struct Open {
    Open() { protect(PROT_READ | PROT_WRITE); }
    ~Open() { protect(PROT_NONE); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };
  static void* allocate(std::size_t bytes) {
    if (used_ + bytes > room) throw std::bad_alloc();
    void* place = begin() + used_;
    used_ += (bytes + 63) / 64 * 64;
    return place;
  }
  static void require_inside(const void* place) {
    const auto* p = static_cast<const char*>(place);
    if (p != nullptr && (p < begin() || p >= begin() + room))
      throw std::logic_error("the device was given a pointer to the host's memory");
  }
  /// A kernel goes to the device as bytes: where they are the address of anything, it is of the device's.
  template <class Kernel>
  static void require_inside_all(Kernel kernel) {
    static_assert(std::is_trivially_copy_constructible_v<Kernel> && std::is_trivially_destructible_v<Kernel>);
#if __has_builtin(__builtin_clear_padding)  // between the members there may be old addresses
    __builtin_clear_padding(&kernel);
    std::array<char*, sizeof(Kernel) / sizeof(char*)> words{};
    std::memcpy(words.data(), &kernel, words.size() * sizeof(char*));
    for (char* word : words)
      if (is_mapped(word)) require_inside(word);
#endif
  }

 private:
  static constexpr std::size_t room = std::size_t{1} << 28U, page = 4096;
  static inline std::size_t used_ = 0;

  static char* begin() {
    static char* const memory = [] {
      void* place = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (place == MAP_FAILED) throw std::bad_alloc();
      return static_cast<char*>(place);
    }();
    return memory;
  }
  static void protect(int how) {
    if (::mprotect(begin(), room, how) != 0) std::abort();
  }
  static bool is_mapped(char* place) {
    unsigned char in_core = 0;
    return ::mincore(place - std::bit_cast<std::uintptr_t>(place) % page, page, &in_core) == 0;
  }
};

/// OMP with its memory behind the fence.
struct Fenced : thrust::omp::execution_policy<Fenced> {};

}  // namespace

template <>
struct bahdanau::detail::ThrustSystem<Fenced> {
  using Omp = ThrustSystem<thrust::omp::tag>;
  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    Fence::require_inside(device);
    const Fence::Open open;
    Omp::upload(host, n, device);
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    Fence::require_inside(device);
    const Fence::Open open;
    Omp::download(device, n, host);
  }
  template <class F>
  static void with_policy(std::size_t n, F f) {
    const Fence::Open open;
    Omp::with_policy(n, f);
  }
  static bool available() { return true; }
  static void* allocate(std::size_t bytes) { return Fence::allocate(bytes); }
  static void free(void*) {}
  template <class T, class Kernel>
  static void launch(std::size_t n, const Kernel& kernel) {
    Fence::require_inside_all(kernel);
    const Fence::Open open;
    Omp::launch<T>(n, kernel);
  }
  template <class T, class... Rest>
  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, std::size_t stride_a, const T* b, std::size_t ldb,
                   std::size_t stride_b, T beta, T* c, Rest... rest) {
    for (const T* matrix : {a, b, static_cast<const T*>(c)}) Fence::require_inside(matrix);
    const Fence::Open open;
    Omp::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, rest...);
  }
};

namespace {

using Backend = bd::Thrust<float, Fenced, Counting>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

constexpr std::size_t rows = 70, width = 9;

Model model() {
  return Model({.embed = 12, .hidden = 16, .layers = 2, .dropout = 0.1F}, bd::test::numbered(30, 40, width),
               1);
}
bd::Batch batch(std::uint64_t seed = 0) {
  return {bd::test::random_sequences(rows, width, 30, seed),
          bd::test::random_sequences(rows, width, 40, seed + 9)};
}

struct Reader {
  const float* place;
  template <class Lanes>
  void operator()(Lanes, std::size_t) const {}
};

/// It never ends by itself.
void make_endless(Model& m) {
  for (const auto& entry : m.parameters().entries())
    if (entry.name == "decoder.dense.bias") {
      auto bias = m.weights().read(entry.parameter);
      bias[bd::reserved::eos] = -1e9F;
      m.weights().write(entry.parameter, bias);
    }
}

}  // namespace

TEST_CASE("a training step copies token numbers in, a loss and a norm out, and nothing else",
          "[thrust][transfer]") {
  Model m = model();
  bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
  const bd::Batch b = batch();
  const auto forward = [&] { training.loss(b); };
  const auto rest = [&] {
    training.backward();
    training.step();
  };
  forward();
  rest();  // finds its memory too small
  const auto loss = Counting::of(forward), step = Counting::of(rest);
  // Source, target with spans, and labels: numbers of tokens and of rows, a few for each token.
  CHECK(loss.uploads <= 3);
  CHECK(loss.uploaded < 40 * rows * width * sizeof(bd::Index));
  CHECK(loss.downloads == 1);
  CHECK(loss.downloaded == sizeof(double));
  CHECK(step.uploads == 0);
  CHECK(step.downloads == 1);
  CHECK(step.downloaded == sizeof(double));
  const auto evaluation = Counting::of([&] { training.evaluate(b); });
  CHECK(evaluation.uploads <= 3);
  CHECK(evaluation.downloads == 1);
}

TEST_CASE("the kernels of a training step are few, and as many for any number of sentences",
          "[thrust][launch]") {
  const auto launches = [](std::size_t sentences, std::size_t steps) {
    Model m = model();
    bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
    // All of one length, so that the number of steps does not depend on the number of sentences.
    const std::vector<std::vector<bd::Token>> sources(sentences, std::vector<bd::Token>(steps, 5));
    const bd::Batch b{bd::Sequences::from_rows(sources), bd::Sequences::from_rows(sources)};
    const auto step = [&] {
      training.loss(b);
      training.backward();
      training.step();
    };
    step();
    return Counting::of(step).launches;
  };
  const std::size_t many = launches(64, width), fewer_steps = launches(64, width - 1);
  std::printf(
      "kernels and products in one training step (2 layers, %zu source and %zu target steps): %zu, "
      "of them %zu for each source and target step\n",
      width, width, many, many - fewer_steps);
  CHECK(launches(4, width) == many);
  // Forwards, each of the four layers: a product onto its bias, and the cell. Before the decoder's: the
  // query's product, scores, softmax, dropout, and the context beside the input. Backwards about twice as
  // many: a product has two factors.
  CHECK(many - fewer_steps <= 50);
  CHECK(many <= 50 * (width + 1));
}

TEST_CASE("a fused operation is one launch", "[thrust][launch]") {
  const auto launches = [](auto f) { return Counting::of(f).launches; };
  const std::vector<float> numbers(24, 0.5F);
  const auto step = [&]<class Cell>(Cell) {
    bd::test::BoundCell<Cell, Backend> cell(3, 2);
    auto x = cell.project(cell.tape.leaf({4, 3}, std::span(numbers).first(12)));
    x.given = true;  // as in a layer: nobody else needs the product
    bd::CellState<Cell, Backend> state;
    for (auto& part : state) part = cell.tape.leaf({4, 2}, std::span(numbers).first(8));
    return launches([&] { Cell::template step<Backend>(cell.w, x, state); });
  };
  CHECK(step(bd::Gru{}) == 3);   // a product onto its bias, and all gates
  CHECK(step(bd::Lstm{}) == 2);  // the same; the bias is added with the gates
  bd::Tape<Backend> tape;
  const auto query = tape.leaf({3, 2}, std::span(numbers).first(6)),
             keys = tape.leaf({4, 2}, std::span(numbers).first(8)),
             w = tape.leaf({1, 2}, std::span(numbers).first(2));
  const std::vector<bd::Index> begin = {0, 0, 2}, length = {2, 2, 2};
  const bd::Spans<Backend> spans(tape, begin, length);
  bd::Variable<Backend> scores;
  CHECK(launches([&] { scores = bd::additive_scores(query, keys, w, spans.view()); }) == 1);
  CHECK(launches([&] { bd::softmax(scores, spans.view()); }) == 1);
}

TEST_CASE("the device is asked for memory in the first steps only", "[thrust][memory]") {
  Model m = model();
  bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
  const auto epoch = [&] {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      training.loss(batch(seed));
      training.backward();
      training.step();
      training.evaluate(batch(seed));
    }
  };
  CHECK(Counting::of([&] {
          epoch();
          epoch();
        }).allocations > 0);
  CHECK(Counting::of(epoch).allocations == 0);
}

TEST_CASE("greedy decoding copies once in and once out a step", "[thrust][transfer][decode]") {
  Model m = model();
  make_endless(m);
  const std::vector<std::string> sentences(3, "4 5 6 7");
  const auto decode = [&](std::size_t length) {
    return Counting::of([&] { m.translate(sentences, bd::Greedy{.max_length = length}); });
  };
  decode(20);
  const auto shorter = decode(10), longer = decode(20);
  CHECK(longer.uploads - shorter.uploads == 10);
  CHECK(longer.downloads - shorter.downloads == 10);
  CHECK(longer.allocations == 0);
}

TEST_CASE("steps by hand copy logits and attention out, and leave states where they are",
          "[thrust][transfer][decode]") {
  const Model m = model();
  const bd::Batch b = batch();
  auto state = m.init_state(m.encode(b.source));
  const std::vector<bd::Token> tokens(rows, bd::reserved::bos);
  m.step(tokens, state);
  const auto step = Counting::of([&] { m.step(tokens, state); });
  std::size_t keys = 0;
  for (const bd::Index n : b.source.lengths) keys += static_cast<std::size_t>(n);
  CHECK(step.downloads == 2);
  CHECK(step.downloaded == (rows * m.vocabularies().target.size() + keys) * sizeof(float));
  CHECK(step.uploaded <= 8 * keys * sizeof(bd::Index));  // tokens, and which keys belong to whom

  bd::Session session(m.freeze());
  session.restart(b.source);
  std::vector<bd::Index> parents;
  for (std::size_t r = 0; r < rows; ++r) parents.push_back(static_cast<bd::Index>(r));
  session.step(parents, tokens, 2);
  const auto branching = Counting::of([&] { session.step(parents, tokens, 2); });
  CHECK(branching.uploads == 1);
  CHECK(branching.downloads == 1);
  CHECK(branching.downloaded <=
        (rows * 2 + keys) * sizeof(float) + rows * 2 * sizeof(bd::Index) + sizeof(float));
}

TEST_CASE("the host reaches no array, and kernels nothing of the host", "[thrust][memory]") {
  // The whole program would end here if it were otherwise. So it is with all tests of this file; beam search
  // is in no other.
  Model m = model();
  make_endless(m);
  CHECK(m.translate("4 5 6", bd::Beam{.width = 3, .max_length = 5}).target.size() == 5);
  // It would be seen:
  const Backend::Storage<float> numbers(4);
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  CHECK(::write(pipe[1], numbers.data(), 1) == -1);
  CHECK(errno == EFAULT);
  for (const int end : pipe) ::close(end);
  const float here = 0;
  CHECK(bd::test::message_of([&] { Backend::for_rows(1, Reader{&here}); }) ==
        "Thrust, launching a kernel: expected success, got the device was given a pointer to the host's "
        "memory");
  CHECK(bd::test::message_of([&] { Backend::for_rows(1, Reader{numbers.data()}); }) == "nothing was thrown");
}

TEST_CASE("a device without memory is an error, and the model file stays whole", "[thrust][error]") {
  const bd::test::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  Model m = model();
  m.save(path);
  const std::string before = bd::test::contents(path);
  Backend::release_memory();
  Counting::refuse = true;
  const std::string loading = bd::test::message_of([&] { Model::load(path); });
  bd::Training<Model>* none = nullptr;
  const std::string training = bd::test::message_of([&] {
    bd::Training<Model> t(m);
    none = &t;
  });
  const std::string translating = bd::test::message_of([&] { m.translate("4 5 6"); });
  Counting::refuse = false;
  for (const std::string& message : {loading, training, translating}) {
    INFO(message);
    CHECK(message.starts_with("Thrust, allocating "));
    CHECK(message.ends_with(
        "expected enough device memory, got none left; use smaller batches or a smaller model"));
  }
  CHECK(none == nullptr);
  CHECK(bd::test::contents(path) == before);
  CHECK(Model::load(path).translate("4 5 6").text == m.translate("4 5 6").text);  // and it goes on
}

TEST_CASE("a device that fails is an error that says what was being done, and the model file stays whole",
          "[thrust][error]") {
  const bd::test::TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  Model m = model();
  m.save(path);
  const std::string before = bd::test::contents(path);
  bd::Training<Model> training(m, bd::Adam{}, {.clip = 1});
  const bd::Batch b = batch();
  training.loss(b);
  training.backward();
  training.step();
  const auto says = [](auto f) {
    Counting::broken = true;
    const std::string message = bd::test::message_of(f);
    Counting::broken = false;
    return message;
  };
  const std::string failed = ": expected success, got an illegal memory access";
  CHECK(says([&] { training.loss(b); }) == "Thrust, copying to the device" + failed);
  CHECK(says([&] { m.save(path); }) == "Thrust, copying from the device" + failed);
  bd::ParameterBlock<Backend> block(m.parameters());
  CHECK(says([&] { block.clear(); }) == "Thrust, filling an array" + failed);
  const Backend::Storage<float> numbers(10);
  CHECK(says([&] { Backend::Storage<float> copy(numbers); }) == "Thrust, copying on the device" + failed);
  CHECK(says([] { Backend::for_rows(1, bd::detail::AnyRowKernel{}); }) ==
        "Thrust, launching a kernel" + failed);
  CHECK(bd::test::contents(path) == before);
}

TEST_CASE("an array takes room without work on the device, and its copy takes one launch",
          "[thrust][launch]") {
  using Numbers = Backend::Storage<float>;
  Backend::release_memory();
  Counting::of([] {
    Numbers first(1000);
    Backend::fill(first.data(), first.size(), 7);
  });
  const Counts made = Counting::of([] {
    Numbers second(1000);  // the same memory
    CHECK(bd::test::on_host<Backend>(second.data(), 1000) == std::vector<float>(1000, 7));
    Numbers copy(second), larger(2000);
    const float* place = copy.data();
    copy = second;
    CHECK(copy.data() == place);  // who points there sees the new elements
    copy = larger;
    CHECK(copy.size() == 2000);
  });
  CHECK(made.launches == 3);
}

TEST_CASE("memory that was given back is used again", "[thrust][memory]") {
  Backend::Storage<float> kept(1000);
  const auto again = Counting::of([] {
    for (int i = 0; i < 5; ++i) Backend::Storage<float> numbers(100'000);
  });
  CHECK(again.allocations <= 1);
  Backend::release_memory();
  CHECK(Counting::of([] { Backend::Storage<float> numbers(100'000); }).allocations == 1);
}
