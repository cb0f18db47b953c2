// The batches of an epoch: which pairs come together, and in what order.
// The order is a function of seed and epoch alone, so that a resumed training sees the same batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/text/corpus.hpp>

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
  /// `data` models TrainingData (train/trainable.hpp).
  template <class Data>
  EpochPlan(const Data& data, std::size_t batch, Grouping grouping, random::Key key)
      : batch_(std::min(batch, data.size())), order_(Corpus::shuffled(data.size(), key)) {
    if (batch == 0) fail("batch", "at least 1 pair", "0");
    for (std::size_t begin = 0; begin < order_.size(); begin += batch_) starts_.push_back(begin);
    if (grouping == Grouping::by_length) group(data, key);
  }

  std::size_t batches() const { return starts_.size(); }
  /// The pairs of a batch; the one that holds the last pairs may be smaller.
  std::span<const std::size_t> pairs(std::size_t batch) const {
    if (batch >= starts_.size())
      fail("EpochPlan", "a batch below " + detail::text(starts_.size()), detail::text(batch));
    const std::size_t begin = starts_[batch];
    return {order_.data() + begin, std::min(batch_, order_.size() - begin)};
  }

 private:
  template <class Data>
  void group(const Data& data, random::Key key) {
    // Sorted within pools, so that which pairs meet still changes from epoch to epoch.
    const std::size_t pool = 100 * batch_;
    using Length = decltype(length_of(data, std::size_t{}));
    std::vector<std::tuple<Length, std::size_t, std::size_t>> ranked;  // length, place, pair
    for (std::size_t begin = 0; begin < order_.size(); begin += pool) {
      ranked.clear();
      for (std::size_t i = begin; i < std::min(begin + pool, order_.size()); ++i)
        ranked.emplace_back(length_of(data, order_[i]), i, order_[i]);
      std::sort(ranked.begin(), ranked.end());
      for (std::size_t i = 0; i < ranked.size(); ++i) order_[begin + i] = std::get<2>(ranked[i]);
    }
    const auto shuffle = Corpus::shuffled(starts_.size(), key.derive(1));
    std::vector<std::size_t> starts;
    for (const std::size_t b : shuffle) starts.push_back(starts_[b]);
    starts_ = std::move(starts);
  }

  std::size_t batch_;
  std::vector<std::size_t> order_, starts_;
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
