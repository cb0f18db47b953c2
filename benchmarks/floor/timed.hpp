// Timed<Backend>: a backend that does what another one does and notes how long each kind of call took, over
// all threads. A policy like any other: the model that is profiled is the model that is trained, with this in
// its place.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include <cxxabi.h>

namespace benchmark {

/// The time spent in one kind of call.
struct Slot {
  explicit Slot(std::string what) : name(std::move(what)) {}
  std::string name;
  std::atomic<std::int64_t> nanoseconds{0}, calls{0};
};

inline std::vector<std::unique_ptr<Slot>>& all_slots() {
  static std::vector<std::unique_ptr<Slot>> slots;
  return slots;
}

inline Slot& make_slot(const std::string& name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (const auto& slot : all_slots())
    if (slot->name == name) return *slot;
  return *all_slots().emplace_back(std::make_unique<Slot>(name));
}

class Stopwatch {
 public:
  explicit Stopwatch(Slot& slot) : slot_(slot), start_(Clock::now()) {}
  ~Stopwatch() {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    slot_.nanoseconds.fetch_add(spent, std::memory_order_relaxed);
    slot_.calls.fetch_add(1, std::memory_order_relaxed);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Slot& slot_;
  Clock::time_point start_;
};

/// A kernel's name without namespaces and most template arguments: `GruRow`, `FlatKernel AdamStep`.
template <class Kernel>
std::string kernel_name() {
  int status = 0;
  char* demangled = abi::__cxa_demangle(typeid(Kernel).name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : typeid(Kernel).name();
  std::free(demangled);
  const auto last_word = [](std::string text) {
    text = text.substr(0, text.find_first_of("<,"));
    const auto colon = text.rfind(':');
    return colon == std::string::npos ? text : text.substr(colon + 1);
  };
  const std::string outer = last_word(name);
  const auto inner = name.find('<');
  return outer == "FlatKernel" && inner != std::string::npos ? outer + " " + last_word(name.substr(inner + 1))
                                                             : outer;
}

template <class Base>
struct Timed : Base {
  template <class... A>
  static void gemm(A... a) {
    static Slot& slot = make_slot("gemm");
    const Stopwatch watch(slot);
    Base::gemm(a...);
  }
  template <class... A>
  static void gemm_batched(A... a) {
    static Slot& slot = make_slot("gemm_batched");
    const Stopwatch watch(slot);
    Base::gemm_batched(a...);
  }
  template <class... A>
  static void gemm_packed(A... a) requires requires {
    Base::gemm_packed(a...);
  }
  {
    static Slot& slot = make_slot("gemm_packed");
    const Stopwatch watch(slot);
    Base::gemm_packed(a...);
  }
  template <class... A>
  static void gemm_once(A... a) requires requires {
    Base::gemm_once(a...);
  }
  {
    static Slot& slot = make_slot("gemm_once");
    const Stopwatch watch(slot);
    Base::gemm_once(a...);
  }
  template <class... A>
  static void pack(A... a) requires requires {
    Base::pack(a...);
  }
  {
    static Slot& slot = make_slot("pack");
    const Stopwatch watch(slot);
    Base::pack(a...);
  }
  template <class... A>
  static void add_product_of_rows(A... a) {
    static Slot& slot = make_slot("add_product_of_rows");
    const Stopwatch watch(slot);
    Base::add_product_of_rows(a...);
  }
  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel) {
    static Slot& slot = make_slot("for_rows " + kernel_name<Kernel>());
    const Stopwatch watch(slot);
    Base::for_rows(rows, kernel);
  }
  template <class... A>
  static void column_sum(A... a) {
    static Slot& slot = make_slot("column_sum");
    const Stopwatch watch(slot);
    Base::column_sum(a...);
  }
  template <class... A>
  static void scatter_add(A... a) {
    static Slot& slot = make_slot("scatter_add");
    const Stopwatch watch(slot);
    Base::scatter_add(a...);
  }
  template <class... A>
  static void tabulate(A... a) {
    static Slot& slot = make_slot("tabulate");
    const Stopwatch watch(slot);
    Base::tabulate(a...);
  }
  template <class... A>
  static void copy(A... a) {
    static Slot& slot = make_slot("copy");
    const Stopwatch watch(slot);
    Base::copy(a...);
  }
  template <class... A>
  static void fill(A... a) {
    static Slot& slot = make_slot("fill");
    const Stopwatch watch(slot);
    Base::fill(a...);
  }
  template <class... A>
  static double sum_of_squares(A... a) {
    static Slot& slot = make_slot("sum_of_squares");
    const Stopwatch watch(slot);
    return Base::sum_of_squares(a...);
  }
};

}  // namespace benchmark
