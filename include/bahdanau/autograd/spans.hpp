// Spans: for every query, the run of key rows that it may attend to.
// Keys of all sentences lie below one another without padding, so nothing is ever masked or wasted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/core/device.hpp>

namespace bahdanau {

/// Query r meets keys key_begin[r], ..., key_begin[r] + length[r] - 1; these pairs are numbered
/// offset[r], offset[r] + 1, ... so that one score or weight per pair is a flat array [pairs].
///
/// Several queries may meet the same keys. The arrays are on a tape; a `prefix` shares them.
template <Backend B>
class Spans {
 public:
  Spans() = default;
  Spans(Tape<B>& tape, std::span<const Index> key_begin, std::span<const Index> length) {
    assign(tape, key_begin, length);
    tape.send();
  }

  /// Stages the spans of `key_begin.size()` queries on a tape; every length must be at least 1. Nothing may
  /// read them before `Tape::send`.
  void assign(Tape<B>& tape, std::span<const Index> key_begin, std::span<const Index> length) {
    detail::require_equal("Spans", "lengths:", key_begin.size(), length.size());
    // One index array: key_begin, length, offset (with the end), then query and key of each pair.
    const std::size_t queries = key_begin.size();
    std::size_t pairs = 0, keys = 0;
    for (std::size_t r = 0; r < queries; ++r) {
      if (length[r] < 1) fail("Spans", "lengths of at least 1", detail::text(length[r]));
      if (key_begin[r] < 0) fail("Spans", "spans that begin at 0 or later", detail::text(key_begin[r]));
      keys = std::max(keys, static_cast<std::size_t>(key_begin[r]) + static_cast<std::size_t>(length[r]));
      pairs += static_cast<std::size_t>(length[r]);
    }
    host_.reserve(3 * queries + 1 + 2 * pairs);
    host_.assign(key_begin.begin(), key_begin.end());
    host_.insert(host_.end(), length.begin(), length.end());
    Index offset = 0;
    for (std::size_t r = 0; r <= queries; ++r) {
      host_.push_back(offset);
      if (r < queries) offset += length[r];
    }
    for (std::size_t r = 0; r < queries; ++r)
      host_.insert(host_.end(), static_cast<std::size_t>(length[r]), static_cast<Index>(r));
    for (std::size_t r = 0; r < queries; ++r)
      for (Index i = 0; i < length[r]; ++i) host_.push_back(key_begin[r] + i);
    const Index* device = tape.stage(host_);
    view_ = {device,
             device + queries,
             device + 2 * queries,
             device + 3 * queries + 1,
             device + 3 * queries + 1 + pairs,
             queries,
             pairs,
             keys};
    offsets_ = host_.data() + 2 * queries;
  }

  Spans(const Spans&) = delete;
  Spans& operator=(const Spans&) = delete;

  /// What kernels and adjoints capture.
  struct View {
    const Index *key_begin, *length, *offset;  // [queries]
    const Index *query_of_pair, *key_of_pair;  // [pairs]; for `gather_rows`
    std::size_t queries, pairs;
    std::size_t keys;  // rows that there must be at least

    /// The first key and the first pair of a query, and how many of both it has. Keys are `key_step` rows
    /// apart.
    struct Span {
      std::size_t key, pair, count;
    };
    static constexpr std::size_t key_step = 1;
    BAHDANAU_HOST_DEVICE Span span(std::size_t query) const {
      return {static_cast<std::size_t>(key_begin[query]), static_cast<std::size_t>(offset[query]),
              static_cast<std::size_t>(length[query])};
    }
  };

  const View& view() const { return view_; }

  /// The spans of the first `queries` queries alone: what is left when shorter sentences have ended.
  View prefix(std::size_t queries) const {
    View v = view_;
    v.queries = queries;
    v.pairs = static_cast<std::size_t>(offsets_[queries]);
    return v;
  }

 private:
  std::vector<Index> host_;
  const Index* offsets_ = nullptr;
  View view_{};
};

/// What a score receives: which queries meet which keys.
template <Backend B>
using SpanView = typename Spans<B>::View;

namespace detail {

/// Throws unless the spans stay within the rows of `keys`.
template <Backend B>
void require_keys(std::string_view where, const SpanView<B>& spans, const Variable<B>& keys) {
  if (keys.rows() < spans.keys)
    fail(where, "at least " + text(spans.keys) + " rows, as the spans say", keys.shape.text());
}

}  // namespace detail
}  // namespace bahdanau
