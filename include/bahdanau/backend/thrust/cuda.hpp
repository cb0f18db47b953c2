// Thrust's CUDA system: a block of threads for every row, cuBLAS for the products. Empty unless nvcc compiles
// for it. All work goes to one stream, so that memory may be reused as soon as it is given back.
#pragma once

#include <thrust/detail/config.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#ifndef __CUDACC__
#error "bahdanau: Thrust<T> on CUDA needs nvcc; else link bahdanau::thrust, or define THRUST_DEVICE_SYSTEM"
#endif

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <thrust/system/cuda/execution_policy.h>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/blas.hpp>
#include <bahdanau/kernel/group_lanes.hpp>
#include <bahdanau/backend/thrust/system.hpp>

namespace bahdanau::detail {

inline void check_cuda(cudaError_t status, std::string_view doing) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or it would be reported again by whoever comes next
  const std::string what = std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
  if (status == cudaErrorMemoryAllocation) fail_without_memory(doing, what);
  fail_on_device(doing, what);
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

template <>
struct ThrustSystem<thrust::cuda::tag> : DeviceCopies<thrust::cuda::tag> {
  template <class F>
  static void with_policy(std::size_t, F f) {
    f(thrust::cuda::par_nosync.on(cudaStreamLegacy));
  }
  static bool available() {
    int count = 0;
    const bool there = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    (void)cudaGetLastError();
    return there;
  }

  static void* allocate(std::size_t bytes) {
    void* place = nullptr;
    check_cuda(cudaMalloc(&place, bytes), "allocating " + text(bytes) + " bytes");
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

}  // namespace bahdanau::detail

#endif
