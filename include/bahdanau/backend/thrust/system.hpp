// How work reaches one of Thrust's device systems: copies, launches, products, memory, and errors with what
// was being done. This, for the systems that run on the host; thrust/cuda.hpp has CUDA's.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <thrust/copy.h>
#include <thrust/detail/config.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/memory.h>
#include <thrust/system/cpp/execution_policy.h>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/blas.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/kernel/group_lanes.hpp>

namespace bahdanau::detail {

[[noreturn]] inline void fail_on_device(std::string_view doing, std::string_view what) {
  fail("Thrust, " + std::string(doing), "success", what);
}

[[noreturn]] inline void fail_without_memory(std::string_view doing, std::string_view what) {
  fail("Thrust, " + std::string(doing), "enough device memory", what,
       "use smaller batches or a smaller model");
}

/// Runs f; what Thrust throws becomes an `Error` that says what was being done.
template <class F>
auto on_device(std::string_view doing, F f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_without_memory(doing, "none left");
  } catch (const std::exception& error) {
    fail_on_device(doing, error.what());
  }
}

/// One thread that has a row for itself, on a system of the host. On CPP rows run one after the other, on the
/// others side by side.
template <class System>
struct HostThread : SingleThread {
  template <class T>
  BAHDANAU_HOST_DEVICE static void add_shared(T* place, T value) {
    if constexpr (std::same_as<System, thrust::cpp::tag>)
      SingleThread::add_shared(place, value);
    else
      std::atomic_ref<T>(*place).fetch_add(value, std::memory_order_relaxed);
  }
};

template <class T, class Group, class Kernel>
struct RowCall {
  Kernel kernel;
  BAHDANAU_HOST_DEVICE void operator()(std::size_t row) const { kernel(GroupLanes<T, Group>{}, row); }
};

/// Copies between host and device.
template <class System>
struct DeviceCopies {
  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    thrust::copy_n(host, n, thrust::pointer<U, System>(device));
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    thrust::copy_n(thrust::pointer<const U, System>(device), n, host);
  }
};

/// How work reaches a device; this, for the systems that run on the host.
template <class System>
struct ThrustSystem : DeviceCopies<System> {
  /// Calls f with the policy for n elements: few of them are done before other threads have woken up.
  template <class F>
  static void with_policy(std::size_t n, F f) {
    constexpr std::size_t serial_limit = std::size_t{1} << 14U;
    if (n < serial_limit)
      f(thrust::cpp::tag{});
    else
      f(System{});
  }
  static bool available() { return true; }

  static void* allocate(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
  static void free(void* place) { ::operator delete (place, std::align_val_t{64}); }

  template <class T, class Kernel>
  static void launch(std::size_t rows, const Kernel& kernel) {
    const RowCall<T, HostThread<System>, Kernel> call{kernel};
    if (rows == 1)
      call(0);
    else
      thrust::for_each_n(System{}, thrust::counting_iterator<std::size_t>(0), rows, call);
  }
  /// All calls come from one thread, so OpenBLAS divides a product among threads of its own, as the program
  /// has set it. Not once `blas::use_one_thread` was called, which `Xtensor` does before a product with
  /// another factor than 1.
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

}  // namespace bahdanau::detail
