// The Thrust backend: the same model on a GPU, or on Thrust's OMP, TBB and CPP systems without one.
// Only this file and thrust/ name Thrust, CUDA and cuBLAS. Include it and link bahdanau::thrust.
#pragma once

#if !__has_include(<thrust/version.h>)
#error "bahdanau: Thrust was not found; link bahdanau::thrust, and install the CUDA toolkit or libthrust-dev"
#endif

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/memory.h>
#include <thrust/tabulate.h>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/thrust/cuda.hpp>
#include <bahdanau/backend/thrust/kernels.hpp>
#include <bahdanau/backend/thrust/memory.hpp>
#include <bahdanau/backend/thrust/system.hpp>

namespace bahdanau {

/// Sees what a Thrust backend asks of its device. This one records nothing; a test hands in one that counts,
/// or one that throws as a device that is full or fails does.
struct NoObserver {
  static void upload(std::size_t /*bytes*/) {}
  static void download(std::size_t /*bytes*/) {}
  static void launch() {}
  static void allocation(std::size_t /*bytes*/) {}  // from the device itself, not of what is kept
};

/// The backend on Thrust's device system, with scalars of type `T`: CUDA with nvcc, else what the definition
/// `THRUST_DEVICE_SYSTEM` chooses. `System` names another one by its tag, e.g. `thrust::omp::tag`.
///
/// Errors of the device are `Error`s with its message. Kernels run on while the program goes on, so the
/// message of one that fails comes with a later call; `CUDA_LAUNCH_BLOCKING=1` brings it at once.
template <class T, class System = thrust::device_system_tag, class Observer = NoObserver>
struct Thrust {
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "bahdanau: Thrust<T> needs T = float or T = double");
  using Scalar = T;
  static constexpr std::string_view name = "Thrust";
  static constexpr bool spreads_calls = true;

  /// Uninitialised elements on the device; memory comes from a cache.
  template <class U>
  class Storage {
   public:
    using value_type = U;
    Storage() = default;
    // Memory, not elements: to make those Thrust would launch a kernel of its own, and wait for it.
    explicit Storage(std::size_t n) : size_(n) { memory_.reserve(n); }
    Storage(const Storage& other) : Storage(other.size()) { copy(other.data(), size_, data()); }
    // Elements stay where they are: others point to them.
    Storage(Storage&& other) noexcept { swap(other); }
    Storage& operator=(const Storage& other) {
      if (size_ == other.size_)
        copy(other.data(), size_, data());
      else
        *this = Storage(other);
      return *this;
    }
    Storage& operator=(Storage&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Storage() = default;

    U* data() { return thrust::raw_pointer_cast(memory_.data()); }
    const U* data() const { return thrust::raw_pointer_cast(memory_.data()); }
    std::size_t size() const { return size_; }

   private:
    void swap(Storage& other) noexcept {
      memory_.swap(other.memory_);
      std::swap(size_, other.size_);
    }

    thrust::device_vector<U, detail::DeviceAllocator<U, System, Observer>> memory_;
    std::size_t size_ = 0;
  };

  /// Whether there is a device to run on.
  static bool available() { return Device::available(); }
  /// Gives memory that is kept for later arrays back to the device.
  static void release_memory() { detail::DeviceResource<System, Observer>::cache().release(); }

  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    if (n == 0) return;
    detail::on_device("copying to the device", [&] {
      Observer::upload(n * sizeof(U));
      Device::upload(host, n, device);
    });
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    if (n == 0) return;
    detail::on_device("copying from the device", [&] {
      Observer::download(n * sizeof(U));
      Device::download(device, n, host);
    });
  }
  template <class U>
  static void copy(const U* from, std::size_t n, U* to) {
    spread("copying on the device", n, [&](const auto& policy) { thrust::copy_n(policy, from, n, to); });
  }
  static void fill(T* out, std::size_t n, T value) {
    spread("filling an array", n, [&](const auto& policy) { thrust::fill_n(policy, out, n, value); });
  }

  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, const T* b, std::size_t ldb, T beta, T* c,
                   std::size_t ldc) {
    gemm_batched(transpose_a, transpose_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
  }
  static void gemm_batched(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                           std::size_t k, T alpha, const T* a, std::size_t lda, std::size_t stride_a,
                           const T* b, std::size_t ldb, std::size_t stride_b, T beta, T* c, std::size_t ldc,
                           std::size_t stride_c, std::size_t count) {
    if (m == 0 || n == 0 || count == 0) return;
    detail::on_device("a matrix product", [&] {
      Observer::launch();
      Device::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                   stride_c, count);
    });
  }
  static void add_product_of_rows(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                                  const T* b, std::size_t ldb, const Index* rows, T* c, std::size_t ldc) {
    Storage<T> gathered(k * n);
    for_rows(k, detail::GatherRows<T>{b, ldb, rows, n, gathered.data()});
    gemm(Transpose::yes, Transpose::no, m, n, k, T(1), a, lda, gathered.data(), n, T(1), c, ldc);
  }

  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel) {
    if (rows == 0) return;
    detail::on_device("launching a kernel", [&] {
      Observer::launch();
      Device::template launch<T>(rows, kernel);
    });
  }

  static void column_sum(std::size_t rows, std::size_t cols, const T* x, std::size_t stride, T* out) {
    using Kernel = detail::ColumnSum<T>;
    for_rows((rows + Kernel::part - 1) / Kernel::part, Kernel{x, rows, cols, stride, out});
  }
  static void scatter_add(std::size_t rows, std::size_t cols, const T* x, const Index* index, T* out) {
    for_rows(rows, detail::ScatterAdd<T>{x, index, cols, out});
  }
  template <class F>
  static void tabulate(std::size_t rows, std::size_t cols, F f, T* out) {
    const std::size_t n = rows * cols;
    const detail::TableEntry<T, F> entry{f, cols};
    spread("filling a table", n, [&](const auto& policy) { thrust::tabulate(policy, out, out + n, entry); });
  }

  static double sum(std::size_t n, const T* x) { return add_up<pointwise::Identity>(n, x); }
  static double sum_of_squares(std::size_t n, const T* x) { return add_up<detail::Square>(n, x); }

 private:
  using Device = detail::ThrustSystem<System>;

  /// One algorithm of Thrust over n elements.
  template <class F>
  static void spread(std::string_view doing, std::size_t n, F f) {
    if (n == 0) return;
    detail::on_device(doing, [&] {
      Observer::launch();
      Device::with_policy(n, f);
    });
  }

  /// One launch that leaves a few partial sums, one copy of them, and the rest on the host.
  template <class F>
  static double add_up(std::size_t n, const T* x) {
    using Kernel = detail::PartialSum<T, F>;
    const std::size_t parts = (n + Kernel::part - 1) / Kernel::part;
    Storage<double> partial(parts);
    for_rows(parts, Kernel{x, n, partial.data()});
    thread_local std::vector<double> host;
    host.resize(parts);
    download(static_cast<const double*>(partial.data()), parts, host.data());
    double total = 0;
    for (const double part : host) total += part;
    return total;
  }
};

static_assert(SpreadingBackend<Thrust<float>> && SpreadingBackend<Thrust<double>>);

}  // namespace bahdanau
