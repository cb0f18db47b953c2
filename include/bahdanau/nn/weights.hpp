// The values of a model's parameters: one flat block on the device, with access by name.
// Gradients and optimizer moments are blocks of the same layout, so updating all of them is one launch.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

/// A block of numbers laid out by a `ParameterList`: weights, or gradients, or moments.
template <Backend B>
class ParameterBlock {
 public:
  using Scalar = typename B::Scalar;

  /// All zeros.
  explicit ParameterBlock(const ParameterList& list) : storage_(list.size()) { clear(); }

  std::size_t size() const { return storage_.size(); }
  const Scalar* data() const { return storage_.data(); }
  /// To write through, for as long as one likes: from now on the numbers are looked at before every use, to
  /// see whether what was derived from them still holds.
  Scalar* data() {
    exposed_.yes = true;
    return change();
  }
  /// To write through once, before anything else is done with the block.
  Scalar* change() {
    version_ = next_version();
    return storage_.data();
  }
  /// Another one after every change, and in no other block unless it was copied. For a block that was handed
  /// out it is made of the numbers themselves: threads that only read must agree on it.
  std::uint64_t version() const { return exposed_.yes ? fingerprint() : version_; }
  void clear() { B::fill(change(), size(), Scalar(0)); }

  /// Draws first values: each parameter from a stream of its own, so one more layer changes no other.
  void initialize(const ParameterList& list, std::uint64_t seed) {
    std::vector<Scalar> host;
    for (const ParameterList::Entry& entry : list.entries()) {
      random::Key key{random::mix(seed)};
      for (const char c : entry.name) key = key.derive(static_cast<unsigned char>(c));
      host.resize(entry.parameter.shape.size());
      for (std::size_t i = 0; i < host.size(); ++i)
        host[i] = static_cast<Scalar>(entry.initializer.draw(key, i));
      write(entry.parameter, host);
    }
  }

  /// A host copy of one parameter's numbers.
  std::vector<Scalar> read(const Parameter& p) const {
    std::vector<Scalar> host(p.shape.size());
    B::download(storage_.data() + p.offset, host.size(), host.data());
    return host;
  }
  void write(const Parameter& p, std::span<const Scalar> host) {
    detail::require_equal("ParameterBlock", "numbers for " + p.shape.text() + ":", p.shape.size(),
                          host.size());
    B::upload(host.data(), host.size(), change() + p.offset);
  }

 private:
  static std::uint64_t next_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::uint64_t fingerprint() const {
    std::vector<Scalar> host(size());
    B::download(storage_.data(), host.size(), host.data());
    random::Key key{host.size()};
    for (const Scalar number : host) {
      if constexpr (sizeof(Scalar) == sizeof(std::uint64_t))
        key = key.derive(std::bit_cast<std::uint64_t>(number));
      else
        key = key.derive(std::bit_cast<std::uint32_t>(number));
    }
    return key.state;
  }

  /// Who was given a pointer keeps it when other numbers are assigned.
  struct Exposed {
    bool yes = false;
    Exposed() = default;
    Exposed(const Exposed&) {}
    Exposed& operator=(const Exposed&) { return *this; }
  };

  typename B::template Storage<Scalar> storage_;
  std::uint64_t version_ = 0;
  Exposed exposed_;
};

}  // namespace bahdanau
