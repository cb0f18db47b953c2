// The batches of an epoch: which pairs come together, and in what order.
// The order is a function of seed and epoch alone, so that a resumed training sees the same batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/core/shuffle.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/replicas.hpp>

namespace bahdanau {

/// How pairs are put into batches.
enum class Grouping {
  random,     // any pairs together, as d2l has it
  by_length,  // pairs of similar lengths together; the batches still come in random order
};

/// By what pairs are sorted.
inline std::pair<std::size_t, std::size_t> length_of(const Corpus& corpus, std::size_t pair) {
  return {corpus.target()[pair].size(), corpus.source()[pair].size()};
}

/// The order of all pairs in one epoch; batches are runs of it.
class EpochPlan {
 public:
  /// `data` models TrainingData (train/trainable.hpp). With several processes it has those rows of each batch
  /// that are this one's, in memory for these.
  template <class Data>
  EpochPlan(const Data& data, std::size_t batch, Grouping grouping, random::Key key,
            detail::Replicas whose = {})
      : size_(data.size()), batch_(std::min(batch, size_)), whose_(whose) {
    if (batch == 0) fail("batch", "at least 1 pair", "0");
    if (size_ == 0) return;
    const auto length = [&](std::size_t pair) { return length_of(data, pair); };
    if (whose_.processes == 1) {
      order_ = detail::shuffled(size_, key);
      if (grouping == Grouping::by_length) sort_pools(order_, 0, length);
    } else if (grouping == Grouping::by_length) {
      draw_pools(key, length);
    } else {
      draw(key);
    }
    if (grouping == Grouping::by_length) batches_ = detail::shuffled(batches(), key.derive(1));
  }

  std::size_t batches() const { return size_ == 0 ? 0 : (size_ - 1) / batch_ + 1; }
  /// The rows of a batch, of all processes together; the one that holds the last pairs may be smaller.
  std::size_t rows(std::size_t batch) const { return rows_of(run(batch)); }
  /// The pairs of a batch that are in this process's rows: all, where there is one.
  std::span<const std::size_t> pairs(std::size_t batch) const {
    const std::size_t r = run(batch);
    return {order_.data() + r * whose_.own_rows(batch_).count, whose_.own_rows(rows_of(r)).count};
  }
  /// Bytes that it takes.
  std::size_t bytes() const { return (order_.capacity() + batches_.capacity()) * sizeof(std::size_t); }

 private:
  std::size_t run(std::size_t batch) const {
    if (batch >= batches())
      fail("EpochPlan", "a batch below " + detail::text(batches()), detail::text(batch));
    return batches_.empty() ? batch : batches_[batch];
  }
  std::size_t rows_of(std::size_t run) const { return std::min(batch_, size_ - run * batch_); }

  /// Pairs of some pools, from a place on, sorted within pools, so that which pairs meet still changes from
  /// epoch to epoch.
  template <class LengthOf>
  void sort_pools(std::vector<std::size_t>& pairs, std::size_t place, LengthOf length) const {
    using Length = decltype(length(std::size_t{}));
    std::vector<std::tuple<Length, std::size_t, std::size_t>> ranked;  // length, place, pair
    for (std::size_t begin = 0; begin < pairs.size(); begin += pool()) {
      ranked.clear();
      for (std::size_t i = begin; i < std::min(begin + pool(), pairs.size()); ++i)
        ranked.emplace_back(length(pairs[i]), place + i, pairs[i]);
      std::sort(ranked.begin(), ranked.end());
      for (std::size_t i = 0; i < ranked.size(); ++i) pairs[begin + i] = std::get<2>(ranked[i]);
    }
  }
  std::size_t pool() const { return 100 * batch_; }

  /// How many places are followed at once: time is a pass over all for each of these windows.
  /// How many places are followed at once: each window goes through the whole shuffle.
  static std::size_t window(std::size_t places) { return std::max(std::size_t{1} << 16, places / 32); }
  void reserve() {
    const std::size_t last = batches() - 1;
    order_.reserve(last * whose_.own_rows(batch_).count + whose_.own_rows(rows_of(last)).count);
  }
  /// Calls f(place) for this process's rows of the runs from one place to another.
  template <class F>
  void for_own(std::size_t begin, std::size_t end, F f) const {
    for (; begin < end; begin += batch_) {
      const RowRange own = whose_.own_rows(std::min(batch_, end - begin));
      for (std::size_t i = 0; i < own.count; ++i) f(begin + own.first + i);
    }
  }
  void append(random::Key key, std::vector<std::size_t>& places) {
    const std::vector<std::size_t> found = detail::shuffled_at(size_, key, places);
    order_.insert(order_.end(), found.begin(), found.end());
    places.clear();
  }
  void draw(random::Key key) {
    reserve();
    const std::size_t most = window(size_ / whose_.processes);
    std::vector<std::size_t> places;
    for_own(0, size_, [&](std::size_t place) {
      places.push_back(place);
      if (places.size() == most) append(key, places);
    });
    append(key, places);
  }
  /// Whole pools at once, of which this process keeps its rows.
  template <class LengthOf>
  void draw_pools(random::Key key, LengthOf length) {
    reserve();
    const std::size_t step = (window(size_) - 1) / pool() * pool() + pool();
    for (std::size_t begin = 0; begin < size_; begin += step) {
      std::vector<std::size_t> places(std::min(step, size_ - begin));
      std::iota(places.begin(), places.end(), begin);
      std::vector<std::size_t> found = detail::shuffled_at(size_, key, places);
      sort_pools(found, begin, length);
      for_own(begin, begin + found.size(),
              [&](std::size_t place) { order_.push_back(found[place - begin]); });
    }
  }

  std::size_t size_, batch_;
  detail::Replicas whose_;
  std::vector<std::size_t> order_;    // of this process's rows, run by run
  std::vector<std::size_t> batches_;  // which run is which batch, where it is not the same one
};

/// Some pairs of a corpus as a batch, as wide as the longest of them.
inline Batch make_batch(const Corpus& corpus, std::span<const std::size_t> pairs) {
  const auto pick = [&](const Corpus::Rows& rows) {
    std::size_t width = 0;
    for (const std::size_t i : pairs) width = std::max(width, rows[i].size());
    auto ids = Array<Token, 2>::from_shape({pairs.size(), width});
    std::fill(ids.begin(), ids.end(), reserved::pad);
    std::vector<Index> lengths;
    for (std::size_t r = 0; r < pairs.size(); ++r) {
      std::copy(rows[pairs[r]].begin(), rows[pairs[r]].end(), ids.data() + r * width);
      lengths.push_back(static_cast<Index>(rows[pairs[r]].size()));
    }
    return Sequences(std::move(ids), std::move(lengths));
  };
  return {pick(corpus.source()), pick(corpus.target())};
}

/// The same for training: sides whose subwords are sampled are split as the key, and the pair's number,
/// decide.
inline Batch make_batch(const Corpus& corpus, std::span<const std::size_t> pairs, random::Key key) {
  if (!corpus.sampling().active()) return make_batch(corpus, pairs);
  Corpus::Rows source, target;
  for (const std::size_t i : pairs) {
    source.push_back(corpus.sampled_source(i, key.derive(2 * i)));
    target.push_back(corpus.sampled_target(i, key.derive(2 * i + 1)));
  }
  return {Sequences::from_rows(source), Sequences::from_rows(target)};
}

/// A number that is another one for other rows.
inline std::uint64_t fingerprint(std::span<const std::vector<Token>> rows, random::Key key = {}) {
  for (const auto& row : rows) {
    key = key.derive(row.size());
    for (const Token id : row) key = key.derive(static_cast<std::uint64_t>(id));
  }
  return key.state;
}

/// A number that is another one for other bytes.
inline std::uint64_t fingerprint(std::span<const std::byte> bytes, random::Key key = {}) {
  key = key.derive(bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), count);
    key = key.derive(word);
    bytes = bytes.subspan(count);
  }
  return key.state;
}

/// A number that is another one for other pairs or vocabularies.
inline std::uint64_t fingerprint(const Corpus& corpus) {
  random::Key key{corpus.size()};
  for (const auto* vocabulary : {&corpus.vocabularies().source, &corpus.vocabularies().target})
    for (const std::string& token : vocabulary->tokens())
      for (const char c : token + "\n") key = key.derive(static_cast<unsigned char>(c));
  const TextOptions& text = corpus.vocabularies().text;
  for (const TextSide& side : {text.source_side(), text.target_side()})
    if (side.subwords) key = {fingerprint(std::as_bytes(std::span(side.subwords->bytes())), key)};
  for (const auto* rows : {&corpus.source(), &corpus.target()})
    for (const auto& row : *rows)
      for (const Token id : row) key = key.derive(static_cast<std::uint64_t>(id));
  return key.state;
}

}  // namespace bahdanau
