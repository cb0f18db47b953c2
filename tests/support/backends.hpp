// The backend that tests run on, and arrays of numbers on its device.
// Compiled with BAHDANAU_TEST_THRUST, the same tests run on Thrust.
#pragma once

#include <cstddef>
#include <vector>

#ifdef BAHDANAU_TEST_THRUST
#include <bahdanau/backend/thrust.hpp>
#else
#include <bahdanau/backend/xtensor.hpp>
#endif
#include <bahdanau/nn/weights.hpp>

namespace bahdanau::test {

#ifdef BAHDANAU_TEST_THRUST
template <class T>
using TestBackend = Thrust<T>;
#else
template <class T>
using TestBackend = Xtensor<T>;
#endif

/// Numbers from the device.
template <Backend B, class U>
std::vector<U> on_host(const U* device, std::size_t n) {
  std::vector<U> host(n);
  B::download(device, n, host.data());
  return host;
}

/// The first number of an array on the device.
template <Backend B, class U>
U first_of(const U* device) {
  return on_host<B>(device, 1)[0];
}

/// Numbers on the device.
template <Backend B, class U = typename B::Scalar>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<U>& host) : storage_(host.size()) {
    B::upload(host.data(), host.size(), storage_.data());
  }
  U* data() { return storage_.data(); }
  const U* data() const { return storage_.data(); }
  std::vector<U> host() const { return on_host<B>(storage_.data(), storage_.size()); }

 private:
  typename B::template Storage<U> storage_;
};

/// All numbers of a block, on the host.
template <Backend B>
std::vector<typename B::Scalar> numbers_of(const ParameterBlock<B>& block) {
  return block.read();
}

/// Changes one number of a block.
template <Backend B>
void set_number(ParameterBlock<B>& block, std::size_t place, typename B::Scalar value) {
  block.write({place, {1}}, std::vector{value});
}

}  // namespace bahdanau::test

#define TEST_BACKENDS bahdanau::test::TestBackend<float>, bahdanau::test::TestBackend<double>
