// The values of a model's parameters: one flat block on the device, with access by name.
// Gradients and optimizer moments are blocks of the same layout, so updating all of them is one launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/backend/backend.hpp>
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
  /// To write through: ask again for each change, or what was derived from the numbers will not notice it.
  Scalar* data() {
    version_ = next_version();
    return storage_.data();
  }
  const Scalar* data() const { return storage_.data(); }
  /// Another one after every change, in no other block unless it was copied.
  std::uint64_t version() const { return version_; }
  void clear() { B::fill(data(), size(), Scalar(0)); }

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
    B::upload(host.data(), host.size(), data() + p.offset);
  }

 private:
  static std::uint64_t next_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  typename B::template Storage<Scalar> storage_;
  std::uint64_t version_ = 0;
};

}  // namespace bahdanau
