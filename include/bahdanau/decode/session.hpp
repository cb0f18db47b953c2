// A decoding session: encoded sentences, and any number of hypotheses over them that move on step by step.
// States stay on the device; a step reads those that the last one has made. Sessions are used again and
// again: after the first sentences of a size nothing is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/decode/continuation.hpp>
#include <bahdanau/model/frozen_model.hpp>

namespace bahdanau {

namespace detail {

/// What all searches share: rows of hypotheses, each over one of the encoded sentences.
template <class Architecture>
class DecodingSession {
 public:
  using B = typename Architecture::Backend;
  using C = typename Architecture::Cell;
  using Scalar = typename Architecture::Scalar;
  using State = typename Architecture::DecoderNetwork::template State<B>;
  static constexpr bool attends = Architecture::attends;
  static constexpr bool attends_first = Architecture::Decoder::attends_before_step;
  static constexpr std::size_t heads = heads_of<typename Architecture::Score>();

  /// The model must outlive it.
  explicit DecodingSession(const FrozenModel<Architecture>& model)
      : model_(&model), tape_(model.binding(nullptr, &products_)) {}

  const Architecture& architecture() const { return model_->architecture(); }
  const Vocabularies& vocabularies() const { return architecture().vocabularies(); }
  std::size_t max_length() const { return architecture().max_length(); }

  /// Encodes other sentences; there is one row for each, before its first step. `helpers` may be null.
  void restart(const Sequences& source, Continuation continuation, Workers* helpers = nullptr) {
    source.check("translate", architecture().vocabularies().source.size());
    branching_ = continuation == Continuation::branching;
    started_ = false;
    loop_.reset();
    tape_.reset();
    tape_.bind(model_->binding(helpers, &products_));
    architecture().run_encoder("translate", tape_, SequenceRows::of(source), {}, encoding_);
    const auto& decoder = architecture().decoder_network();
    memory_ = decoder.remember(encoding_.outputs, encoding_.summed());
    first_rows_.assign(encoding_.packing.rank().begin(), encoding_.packing.rank().end());
    sentence_of_row_.resize(source.rows());
    for (std::size_t r = 0; r < source.rows(); ++r) sentence_of_row_[r] = static_cast<Index>(r);
    SpanView<B> spans{};
    if constexpr (StatefulScore<typename Architecture::Score, B>) {  // in the order of the encoder's rows
      begin_.clear();
      length_.clear();
      for (const Index sentence : encoding_.packing.order()) add_query(static_cast<std::size_t>(sentence));
      spans_.assign(tape_, begin_, length_);
      tape_.send();
      spans = spans_.view();
      length_of_row_ = length_;
    }
    decoder.template start<B>(tape_, encoding_.last, spans, state_);
    loop_.emplace(tape_);
  }

  /// Whether steps bring the attention of each head to the host too, where there are several.
  void fetch_heads(bool wanted) { heads_wanted_ = wanted && heads > 1; }
  bool fetches_heads() const { return heads_wanted_; }

  /// How many keys a sentence has; as a rule as many as tokens, but that is up to the encoder. None where
  /// nobody attends.
  std::size_t keys(std::size_t sentence) const {
    return attends ? static_cast<std::size_t>(encoding_.length[sentence]) : 0;
  }

  /// One step for rows that continue the rows `parents` of the step before (sentences, at the first step),
  /// with `tokens[row]` as input. Gives the `count` best tokens to follow each; 0: ln p of all tokens.
  void step(std::span<const Index> parents, std::span<const Token> tokens, std::size_t count) {
    Tape<B>& tape = tape_;
    loop_->step();
    find_states(parents);
    if constexpr (attends) spans_.assign(tape, begin_, length_);
    const Index* from = tape.stage(rows_);
    const Index* ids = tape.stage(tokens);
    const Index* state_of_row = branching_ ? tape.stage(state_of_row_) : nullptr;
    const PairLists pairs = stage_pairs();
    tape.send();
    state_.each_row([&](Variable<B>& v) {
      v = gather_rows(v, from, rows_.size());
      if (branching_ && !attends_first) v = share_rows(v, state_of_row, parents.size());
    });
    state_.each_pair([&](Variable<B>& v) { v = gather_pairs(v, pairs.before, pairs_before_.size()); });
    const auto& decoder = architecture().decoder_network();
    const auto stepped =
        decoder.step(memory_, spans_.view(), decoder.tokens(tape, ids, tokens.size(), tokens), state_,
                     {attends_first ? state_of_row : nullptr, parents.size()});
    if (branching_ && attends_first) {  // the decoder has shared its own arrays
      if constexpr (requires { state_.score.each_row(AnyVisitor{}); })
        state_.score.each_row([&](Variable<B>& v) { v = gather_rows(v, state_of_row, parents.size()); });
      state_.each_pair([&](Variable<B>& v) { v = gather_pairs(v, pairs.after, pairs_after_.size()); });
    }
    count_ = count;
    fetch(tape, stepped.features, stepped.attention, heads_wanted_ ? stepped.heads : Variable<B>{});
    if constexpr (attends) {
      offsets_.assign(1, 0);
      for (const Index n : length_) offsets_.push_back(offsets_.back() + static_cast<std::size_t>(n));
      if (architecture().reverses_source()) reverse_attention();
      length_of_row_.clear();
      for (const Index sentence : sentence_of_row_)
        length_of_row_.push_back(encoding_.length[static_cast<std::size_t>(sentence)]);
    }
  }

  /// How many rows the last step had; before the first one, how many sentences there are.
  std::size_t rows() const { return sentence_of_row_.size(); }
  /// The sentence that a row is over.
  std::size_t sentence(std::size_t row) const { return static_cast<std::size_t>(sentence_of_row_[row]); }
  /// The best tokens to follow a row, best first, and ln p of each.
  std::span<const Index> next(std::size_t row) const {
    return next_.empty() ? std::span<const Index>()
                         : std::span<const Index>(next_).subspan(row * count_, count_);
  }
  std::span<const Scalar> log_probs(std::size_t row) const {
    return {fetched_.data() + row * count_, count_};
  }
  /// What it has allocated on the device.
  std::size_t bytes() const { return tape_.bytes() + products_.bytes(); }
  /// The attention of the last step in a row; empty where nobody attends.
  std::span<const Scalar> attention(std::size_t row) const {
    if constexpr (!attends) return {};
    const std::size_t query = query_of(row);
    return {weights_ + offsets_[query], offsets_[query + 1] - offsets_[query]};
  }
  /// The same of all heads, one after the other; none where they are not fetched.
  std::span<const Scalar> head_attention(std::size_t row) const {
    if (!heads_wanted_) return {};
    const std::size_t query = query_of(row), keys = offsets_[query + 1] - offsets_[query];
    return {weights_ + offsets_.back() + offsets_[query] * heads, keys * heads};
  }

 private:
  std::size_t query_of(std::size_t row) const {
    return attends_first ? static_cast<std::size_t>(state_of_row_[row]) : row;
  }

  /// From the order in which the encoder has read the source to the source's own.
  void reverse_attention() {
    for (std::size_t q = 0; q + 1 < offsets_.size(); ++q) {
      const std::size_t begin = offsets_[q], keys = offsets_[q + 1] - begin;
      std::reverse(weights_ + begin, weights_ + begin + keys);
      if (!heads_wanted_) continue;
      Scalar* head = weights_ + offsets_.back() + begin * heads;
      for (std::size_t h = 0; h < heads; ++h, head += keys) std::reverse(head, head + keys);
    }
  }

  /// Which states of the step before are continued, each once, and by which rows; and what they attend to.
  void find_states(std::span<const Index> parents) {
    std::swap(sentence_of_row_, sentence_of_parent_);
    sentence_of_row_.clear();
    rows_.clear();
    begin_.clear();
    length_.clear();
    state_of_row_.clear();
    constexpr Index none = -1;
    state_of_parent_.assign(static_cast<std::size_t>(*std::max_element(parents.begin(), parents.end())) + 1,
                            none);
    for (std::size_t r = 0; r < parents.size(); ++r) {
      const auto parent = static_cast<std::size_t>(parents[r]),
                 sentence = static_cast<std::size_t>(sentence_of_parent_[parent]);
      sentence_of_row_.push_back(sentence_of_parent_[parent]);
      Index& state = state_of_parent_[parent];
      if (state == none) {
        state = static_cast<Index>(rows_.size());
        // Encoders keep their rows in an order of their own.
        rows_.push_back(started_ ? parents[r] : first_rows_[parent]);
        if (attends && attends_first) add_query(sentence);
      }
      state_of_row_.push_back(state);
      if (attends && !attends_first) add_query(sentence);
    }
    started_ = true;
  }
  void add_query(std::size_t sentence) {
    begin_.push_back(encoding_.begin[sentence]);
    length_.push_back(encoding_.length[sentence]);
  }

  /// For what the score carries a number a pair of: which pairs go into the step, and, where rows share
  /// states, to which rows they go then.
  struct PairLists {
    const Index *before = nullptr, *after = nullptr;
  };
  PairLists stage_pairs() {
    PairLists lists;
    if constexpr (State::has_pairs) {
      pairs_before_.clear();
      if (attends_first) {
        add_pairs(rows_, length_of_row_, pairs_before_);
      } else {
        from_.clear();
        for (const Index state : state_of_row_) from_.push_back(rows_[static_cast<std::size_t>(state)]);
        add_pairs(from_, length_of_row_, pairs_before_);
      }
      lists.before = tape_.stage(pairs_before_);
      if (branching_ && attends_first) {
        pairs_after_.clear();
        add_pairs(state_of_row_, length_, pairs_after_);
        lists.after = tape_.stage(pairs_after_);
      }
    }
    return lists;
  }

  /// Brings the best tokens, ln p of each and the attention to the host, in one copy: scalars in which the
  /// tokens' numbers lie last, as they are. Attention of each head, where it is given, lies behind that of
  /// all.
  void fetch(Tape<B>& tape, const Variable<B>& outputs, const Variable<B>& weights,
             const Variable<B>& of_heads) {
    const auto& decoder = architecture().decoder_network();
    const std::size_t rows = outputs.rows(), vocabulary = architecture().vocabularies().target.size();
    const bool all = count_ == 0;
    const std::size_t best = rows * (all ? 1 : count_), logits = all ? rows * vocabulary : 0;
    const std::size_t attended =
        attends ? weights.size() + (of_heads.tape != nullptr ? of_heads.size() : 0) : 0;
    const std::size_t size =
        logits + best + attended + (best * sizeof(Index) + sizeof(Scalar) - 1) / sizeof(Scalar);
    Scalar* packed = tape.constant({size}).value;
    Scalar *log_probs = packed + logits, *attention = log_probs + best;
    auto* ids = reinterpret_cast<Index*>(attention + attended);
    if (all) {
      const Variable<B> each = decoder.logits(outputs);
      B::copy(each.value, logits, packed);
      best_of_rows(each, 1, log_probs, ids);
    } else {
      decoder.best(outputs, count_, log_probs, ids);
    }
    if constexpr (attends) {
      B::copy(weights.value, weights.size(), attention);
      if (of_heads.tape != nullptr) B::copy(of_heads.value, of_heads.size(), attention + weights.size());
    }
    fetched_.resize(size);
    B::download(packed, size, fetched_.data());
    weights_ = fetched_.data() + logits + best;
    next_.resize(best);
    std::memcpy(next_.data(), weights_ + attended, best * sizeof(Index));
    if (!all) return;
    for (std::size_t r = 0; r < rows; ++r) {
      // ln p = logit - ln Σ e^logit, of which that of the best one is there
      Scalar* row = fetched_.data() + r * vocabulary;
      const Scalar shift = row[next_[r]] - fetched_[logits + r];
      for (std::size_t v = 0; v < vocabulary; ++v) row[v] -= shift;
    }
    next_.clear();
    count_ = vocabulary;
  }

  const FrozenModel<Architecture>* model_;
  RowProducts<B> products_;  // of words that came before
  Tape<B> tape_;
  std::optional<OpenLoop<B>> loop_;
  bool branching_ = false;
  bool started_ = false;
  bool heads_wanted_ = false;
  Encoding<C, B> encoding_;
  Memory<B> memory_;
  State state_;
  Spans<B> spans_;
  std::vector<Index> first_rows_, rows_, begin_, length_, next_, state_of_parent_, state_of_row_;
  std::vector<Index> length_of_row_, pairs_before_, pairs_after_, from_, sentence_of_row_,
      sentence_of_parent_;
  std::vector<Scalar> fetched_;
  Scalar* weights_ = nullptr;  // in what was fetched
  std::vector<std::size_t> offsets_;
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace bahdanau
