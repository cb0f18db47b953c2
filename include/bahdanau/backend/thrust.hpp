// The Thrust backend: the same model on a GPU, or on Thrust's OMP, TBB and CPP systems without one.
// The only file that names Thrust, CUDA or cuBLAS. Include it beside bahdanau.hpp, and link bahdanau::thrust.
#pragma once

#include <thrust/copy.h>
#include <thrust/detail/config.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/memory.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/tabulate.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#ifndef __CUDACC__
#error "bahdanau: Thrust<T> on CUDA needs nvcc; else link bahdanau::thrust, or define THRUST_DEVICE_SYSTEM"
#endif
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/blas.hpp>
#include <bahdanau/backend/block_cache.hpp>
#include <bahdanau/backend/group_lanes.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Sees what a Thrust backend asks of its device. This one looks away; a test hands in one that counts, or
/// one whose `allocation` throws `std::bad_alloc` as a full device does.
struct Unwatched {
  static void upload(std::size_t /*bytes*/) {}
  static void download(std::size_t /*bytes*/) {}
  static void launch() {}
  static void allocation(std::size_t /*bytes*/) {}  // from the device itself, not of what is kept
};

namespace detail {

[[noreturn]] inline void fail_on_device(std::string_view doing, std::string_view what) {
  fail("Thrust, " + std::string(doing), "success", what);
}

/// Runs f; what Thrust throws becomes an `Error` that says what was being done.
template <class F>
auto on_device(std::string_view doing, F f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail("Thrust, " + std::string(doing), "enough device memory", "none left",
         "use smaller batches or a smaller model");
  } catch (const std::exception& error) {
    fail_on_device(doing, error.what());
  }
}

/// One thread that has a row for itself, on a system of the host.
template <class System>
struct HostThread {
  static constexpr std::size_t rank() { return 0; }
  static constexpr std::size_t size() { return 1; }
  template <class T>
  BAHDANAU_HOST_DEVICE static T sum(T value) {
    return value;
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static T max(T value) {
    return value;
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static void add_shared(T* place, T value) {
    if constexpr (std::same_as<System, thrust::cpp::tag>)
      *place += value;
    else
      std::atomic_ref<T>(*place).fetch_add(value, std::memory_order_relaxed);  // rows run side by side
  }
};

template <class T, class Group, class Kernel>
struct RowCall {
  Kernel kernel;
  BAHDANAU_HOST_DEVICE void operator()(std::size_t row) const { kernel(GroupLanes<T, Group>{}, row); }
};

/// How work reaches a device; this, for the systems that run on the host.
template <class System>
struct ThrustSystem {
  static System policy() { return {}; }
  static bool available() { return true; }

  static void* allocate(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
  static void free(void* place) { ::operator delete (place, std::align_val_t{64}); }

  template <class T, class Kernel>
  static void launch(std::size_t rows, const Kernel& kernel) {
    thrust::for_each_n(policy(), thrust::counting_iterator<std::size_t>(0), rows,
                       RowCall<T, HostThread<System>, Kernel>{kernel});
  }
  template <class T>
  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, std::size_t stride_a, const T* b, std::size_t ldb,
                   std::size_t stride_b, T beta, T* c, std::size_t ldc, std::size_t stride_c,
                   std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      blas::gemm(transpose_a, transpose_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,
                 c + i * stride_c, ldc);
  }
};

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA

inline void check_cuda(cudaError_t status, std::string_view doing) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or it would be reported again by whoever comes next
  fail_on_device(doing, std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")");
}

inline void check_cublas(cublasStatus_t status, std::string_view doing) {
  if (status != CUBLAS_STATUS_SUCCESS) fail_on_device(doing, cublasGetStatusString(status));
}

/// The threads of a block, which share a row.
struct CudaBlock {
  static constexpr unsigned threads = 128;

  BAHDANAU_HOST_DEVICE static std::size_t rank() {
#ifdef __CUDA_ARCH__
    return threadIdx.x;
#else
    return 0;
#endif
  }
  BAHDANAU_HOST_DEVICE static constexpr std::size_t size() { return threads; }

  template <class T>
  BAHDANAU_HOST_DEVICE static T sum(T value) {
    return reduce(value, pointwise::Plus{});
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static T max(T value) {
    return reduce(value, Larger{});
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static void add_shared(T* place, T value) {
#ifdef __CUDA_ARCH__
    atomicAdd(place, value);
#else
    *place += value;
#endif
  }

 private:
  struct Larger {
    template <class T>
    BAHDANAU_HOST_DEVICE T operator()(T a, T b) const {
      return a < b ? b : a;
    }
  };

  // First within each warp, then over the warps' results; every thread gets the same value.
  template <class T, class Combine>
  BAHDANAU_HOST_DEVICE static T reduce(T value, [[maybe_unused]] Combine combine) {
#ifdef __CUDA_ARCH__
    constexpr unsigned warp = 32, all = 0xffffffffU;
    __shared__ T of_warp[threads / warp];
    for (unsigned distance = warp / 2; distance > 0; distance /= 2)
      value = combine(value, __shfl_xor_sync(all, value, distance));
    __syncthreads();  // nobody reads the reduction before this one any more
    if (threadIdx.x % warp == 0) of_warp[threadIdx.x / warp] = value;
    __syncthreads();
    value = of_warp[0];
    for (unsigned w = 1; w < threads / warp; ++w) value = combine(value, of_warp[w]);
#endif
    return value;
  }
};

template <class T, class Kernel>
__global__ void __launch_bounds__(CudaBlock::threads) run_rows(std::size_t rows, Kernel kernel) {
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) kernel(GroupLanes<T, CudaBlock>{}, row);
}

/// cuBLAS handles: made once, since that takes long, and used by one thread at a time.
class CublasHandles {
 public:
  /// A handle for as long as this lives.
  class Borrowed {
   public:
    Borrowed() : handle_(take()) {}
    ~Borrowed() {
      const std::lock_guard lock(mutex());
      idle().push_back(handle_);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    cublasHandle_t get() const { return handle_; }

   private:
    cublasHandle_t handle_;
  };

 private:
  static cublasHandle_t take() {
    {
      const std::lock_guard lock(mutex());
      if (!idle().empty()) {
        cublasHandle_t handle = idle().back();
        idle().pop_back();
        return handle;
      }
    }
    cublasHandle_t handle = nullptr;
    check_cublas(cublasCreate(&handle), "starting cuBLAS");
    check_cublas(cublasSetStream(handle, cudaStreamLegacy), "starting cuBLAS");
    return handle;
  }
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  // Never destroyed: at the end of a program CUDA may be gone before it.
  static std::vector<cublasHandle_t>& idle() {
    static auto& handles = *new std::vector<cublasHandle_t>;
    return handles;
  }
};

/// All work goes to one stream, so that memory may be reused as soon as it is given back.
template <>
struct ThrustSystem<thrust::cuda::tag> {
  static auto policy() { return thrust::cuda::par_nosync.on(cudaStreamLegacy); }
  static bool available() {
    int count = 0;
    const bool there = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    (void)cudaGetLastError();
    return there;
  }

  static void* allocate(std::size_t bytes) {
    void* place = nullptr;
    const cudaError_t status = cudaMalloc(&place, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw std::bad_alloc();
    }
    check_cuda(status, "allocating " + text(bytes) + " bytes");
    return place;
  }
  static void free(void* place) { (void)cudaFree(place); }

  template <class T, class Kernel>
  static void launch(std::size_t rows, const Kernel& kernel) {
    constexpr std::size_t most = (std::size_t{1} << 31U) - 1;  // blocks in a grid
    run_rows<T><<<static_cast<unsigned>(std::min(rows, most)), CudaBlock::threads, 0, cudaStreamLegacy>>>(
        rows, kernel);
    check_cuda(cudaGetLastError(), "launching a kernel");
  }

  /// Row-major C = op(A) op(B) is column-major Cᵀ = op(B)ᵀ op(A)ᵀ.
  template <class T>
  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, std::size_t stride_a, const T* b, std::size_t ldb,
                   std::size_t stride_b, T beta, T* c, std::size_t ldc, std::size_t stride_c,
                   std::size_t count) {
    using blas::detail::extent;
    const auto op = [](Transpose t) { return t == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto leading = [](std::size_t ld) { return extent(std::max<std::size_t>(ld, 1)); };
    const auto stride = [](std::size_t s) { return static_cast<long long>(s); };
    const CublasHandles::Borrowed handle;
    const auto run = [&](auto product) {
      check_cublas(product(handle.get(), op(transpose_b), op(transpose_a), extent(n), extent(m), extent(k),
                           &alpha, b, leading(ldb), stride(stride_b), a, leading(lda), stride(stride_a),
                           &beta, c, leading(ldc), stride(stride_c), extent(count)),
                   "a matrix product");
    };
    if constexpr (std::same_as<T, float>)
      run(cublasSgemmStridedBatched);
    else
      run(cublasDgemmStridedBatched);
  }
};

#endif

/// Where device arrays get their memory: from a cache that lives as long as the program.
template <class System, class Watch>
class DeviceResource final : public thrust::mr::memory_resource<thrust::pointer<void, System>> {
 public:
  using pointer = thrust::pointer<void, System>;
  pointer do_allocate(std::size_t bytes, std::size_t) override {
    return pointer(
        on_device("allocating " + text(bytes) + " bytes", [&] { return cache().allocate(bytes); }));
  }
  void do_deallocate(pointer place, std::size_t, std::size_t) override {
    cache().give_back(thrust::raw_pointer_cast(place));
  }

  struct Source {
    static void* allocate(std::size_t bytes) {
      Watch::allocation(bytes);
      return ThrustSystem<System>::allocate(bytes);
    }
    static void free(void* place) { ThrustSystem<System>::free(place); }
  };
  // Never destroyed: at the end of a program CUDA may be gone before it.
  static BlockCache<Source>& cache() {
    static auto& blocks = *new BlockCache<Source>;
    return blocks;
  }
};

/// Leaves new elements as they are.
template <class U, class System, class Watch>
struct UninitializedAllocator : thrust::mr::stateless_resource_allocator<U, DeviceResource<System, Watch>> {
  template <class V>
  struct rebind {
    using other = UninitializedAllocator<V, System, Watch>;
  };
  BAHDANAU_HOST_DEVICE void construct(U*) {}
};

/// Σ f(x) of one part of an array, in double.
template <class T, class F>
struct PartialSum {
  static constexpr std::size_t part = std::size_t{1} << 16U;
  const T* x;
  std::size_t n;
  double* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const T* first = x + row * part;
    const std::size_t count = n - row * part < part ? n - row * part : part;
    double total = 0;
    lanes.for_columns(count, [&](std::size_t c) { total += F{}(static_cast<double>(first[c])); });
    total = lanes.group().sum(total);
    if (lanes.owns(0)) out[row] = total;
  }
};
struct Square {
  BAHDANAU_HOST_DEVICE double operator()(double x) const { return x * x; }
};

/// out[c] += Σ x[r, c] over some of the rows.
template <class T>
struct ColumnSum {
  static constexpr std::size_t part = 64;  // rows
  const T* x;
  std::size_t rows, cols;
  T* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t begin = row * part, end = rows - begin < part ? rows : begin + part;
    lanes.for_columns(cols, [&](std::size_t c) {
      T total(0);
      for (std::size_t r = begin; r < end; ++r) total += x[r * cols + c];
      lanes.group().add_shared(out + c, total);
    });
  }
};

template <class T>
struct ScatterAdd {
  const T* x;
  const Index* index;
  std::size_t cols;
  T* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    lanes.map(cols, pointwise::Identity{}, AddShared<T>{out + static_cast<std::size_t>(index[row]) * cols},
              x + row * cols);
  }
};

template <class T, class F>
struct TableEntry {
  F f;
  std::size_t cols;
  BAHDANAU_HOST_DEVICE T operator()(std::size_t i) const { return static_cast<T>(f(i / cols, i % cols)); }
};

}  // namespace detail

/// The backend on Thrust's device system, with scalars of type `T`: CUDA with nvcc, else what the definition
/// `THRUST_DEVICE_SYSTEM` chooses. `System` names another one by its tag, e.g. `thrust::omp::tag`.
///
/// Errors of the device are `Error`s with its message. Kernels run on while the program goes on, so the
/// message of one that fails comes with a later call; `CUDA_LAUNCH_BLOCKING=1` brings it at once.
template <class T, class System = thrust::device_system_tag, class Watch = Unwatched>
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
    explicit Storage(std::size_t n) : elements_(n) {}
    Storage(const Storage&) = default;
    Storage& operator=(const Storage&) = default;
    // Elements stay where they are: others point to them.
    Storage(Storage&& other) noexcept { elements_.swap(other.elements_); }
    Storage& operator=(Storage&& other) noexcept {
      elements_.swap(other.elements_);
      return *this;
    }
    ~Storage() = default;

    U* data() { return thrust::raw_pointer_cast(elements_.data()); }
    const U* data() const { return thrust::raw_pointer_cast(elements_.data()); }
    std::size_t size() const { return elements_.size(); }

   private:
    thrust::device_vector<U, detail::UninitializedAllocator<U, System, Watch>> elements_;
  };

  /// Whether there is a device to run on.
  static bool available() { return Device::available(); }
  /// Gives memory that is kept for later arrays back to the device.
  static void release_memory() { detail::DeviceResource<System, Watch>::cache().release(); }

  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    if (n == 0) return;
    Watch::upload(n * sizeof(U));
    detail::on_device("copying to the device",
                      [&] { thrust::copy_n(host, n, thrust::pointer<U, System>(device)); });
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    if (n == 0) return;
    Watch::download(n * sizeof(U));
    detail::on_device("copying from the device",
                      [&] { thrust::copy_n(thrust::pointer<const U, System>(device), n, host); });
  }
  static void copy(const T* from, std::size_t n, T* to) {
    if (n == 0) return;
    Watch::launch();
    detail::on_device("copying on the device", [&] { thrust::copy_n(Device::policy(), from, n, to); });
  }
  static void fill(T* out, std::size_t n, T value) {
    if (n == 0) return;
    Watch::launch();
    detail::on_device("filling an array", [&] { thrust::fill_n(Device::policy(), out, n, value); });
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
    Watch::launch();
    Device::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                 stride_c, count);
  }

  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel) {
    if (rows == 0) return;
    Watch::launch();
    detail::on_device("launching a kernel", [&] { Device::template launch<T>(rows, kernel); });
  }

  static void column_sum(std::size_t rows, std::size_t cols, const T* x, T* out) {
    using Kernel = detail::ColumnSum<T>;
    for_rows((rows + Kernel::part - 1) / Kernel::part, Kernel{x, rows, cols, out});
  }
  static void scatter_add(std::size_t rows, std::size_t cols, const T* x, const Index* index, T* out) {
    for_rows(rows, detail::ScatterAdd<T>{x, index, cols, out});
  }
  template <class F>
  static void tabulate(std::size_t rows, std::size_t cols, F f, T* out) {
    if (rows * cols == 0) return;
    Watch::launch();
    detail::on_device("filling a table", [&] {
      thrust::tabulate(Device::policy(), out, out + rows * cols, detail::TableEntry<T, F>{f, cols});
    });
  }

  static double sum(std::size_t n, const T* x) { return add_up<pointwise::Identity>(n, x); }
  static double sum_of_squares(std::size_t n, const T* x) { return add_up<detail::Square>(n, x); }

 private:
  using Device = detail::ThrustSystem<System>;

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

static_assert(Backend<Thrust<float>> && Backend<Thrust<double>>);

}  // namespace bahdanau
