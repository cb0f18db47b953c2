// A decoding session: encoded sentences, and any number of hypotheses over them that move on step by step.
// States stay on the device; a step reads those that the last one has made and copies nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/model/encoder_decoder.hpp>

namespace bahdanau::detail {

/// What greedy and beam search share: rows of hypotheses, each over one of the encoded sentences.
template <class Model>
class DecodingSession {
 public:
  using B = typename Model::Backend;
  using C = typename Model::Cell;
  using Scalar = typename Model::Scalar;

  /// Whether several rows may continue one. It decides how sums are put together, and so their last bits: one
  /// search must not do it now this way and now that, as its batch happens to be.
  enum class Continuation : bool { one_by_one, branching };

  /// Encodes the sentences; there is one row for each, before its first step. `helpers` may be null.
  DecodingSession(const Model& model, const Sequences& source, Continuation continuation,
                  Workers* helpers = nullptr)
      : model_(&model),
        branching_(continuation == Continuation::branching),
        binding_(model.binding(helpers)),
        tape_(binding_) {
    source.check("translate", model.vocabularies().source.size());
    model.encoder_network().run(tape_, model.encoder_input(SequenceRows::of(source)), encoding_);
    require_sentence_keys("translate", encoding_, source.rows());
    memory_ = model.decoder_network().remember(encoding_.outputs);
    states_ = encoding_.last;
    first_rows_.assign(encoding_.packing.rank().begin(), encoding_.packing.rank().end());
    loop_.emplace(tape_);
  }

  /// How many keys a sentence has; as a rule as many as tokens, but that is up to the encoder.
  std::size_t keys(std::size_t sentence) const {
    return static_cast<std::size_t>(encoding_.length[sentence]);
  }

  /// One step for rows that continue the rows `parents` of the step before (sentences, at the first step),
  /// each over `sentences[row]`, with `tokens[row]` as input. Gives the `count` best tokens to follow.
  void step(std::span<const Index> parents, std::span<const Index> sentences, std::span<const Token> tokens,
            std::size_t count) {
    Tape<B>& tape = tape_;
    loop_->step();
    find_states(parents, sentences);
    spans_.assign(tape, begin_, length_);
    const Index* from = tape.stage(rows_);
    const Index* ids = tape.stage(tokens);
    const Continued continued{branching_ ? tape.stage(state_of_row_) : nullptr, parents.size()};
    tape.send();
    for (auto& layer : states_)
      for (auto& part : layer) part = gather_rows(part, from, rows_.size());
    const auto& decoder = model_->decoder_network();
    const Variable<B> embedded = decoder.embed_again(tape, tokens, ids);
    const Variable<B> weights =
        decoder.step(memory_, spans_.view(), embedded, states_, {}, nullptr, continued);
    count_ = count;
    fetch(tape, hidden(states_.back()), weights);
    offsets_.assign(1, 0);
    for (const Index n : length_) offsets_.push_back(offsets_.back() + static_cast<std::size_t>(n));
  }

  /// The best tokens to follow a row, best first, and ln p of each.
  std::span<const Index> next(std::size_t row) const { return {next_.data() + row * count_, count_}; }
  std::span<const Scalar> log_probs(std::size_t row) const {
    return {fetched_.data() + row * count_, count_};
  }
  /// The attention of the last step in a row.
  std::span<const Scalar> attention(std::size_t row) const {
    const auto state = static_cast<std::size_t>(state_of_row_[row]);
    return {weights_ + offsets_[state], offsets_[state + 1] - offsets_[state]};
  }

 private:
  /// Which states of the step before are continued, each once, and by which rows; and what they attend to.
  void find_states(std::span<const Index> parents, std::span<const Index> sentences) {
    rows_.clear();
    begin_.clear();
    length_.clear();
    state_of_row_.clear();
    constexpr Index none = -1;
    state_of_parent_.assign(static_cast<std::size_t>(*std::max_element(parents.begin(), parents.end())) + 1,
                            none);
    for (std::size_t r = 0; r < parents.size(); ++r) {
      const auto parent = static_cast<std::size_t>(parents[r]),
                 sentence = static_cast<std::size_t>(sentences[r]);
      Index& state = state_of_parent_[parent];
      if (state == none) {
        state = static_cast<Index>(rows_.size());
        // Encoders keep their rows in an order of their own.
        rows_.push_back(started_ ? parents[r] : first_rows_[parent]);
        begin_.push_back(encoding_.begin[sentence]);
        length_.push_back(encoding_.length[sentence]);
      }
      state_of_row_.push_back(state);
    }
    started_ = true;
  }

  /// Brings the best tokens, ln p of each and the attention to the host, in one copy: scalars in which the
  /// tokens' numbers lie last, as they are.
  void fetch(Tape<B>& tape, const Variable<B>& outputs, const Variable<B>& weights) {
    const std::size_t found = outputs.rows() * count_;
    const std::size_t size =
        found + weights.size() + (found * sizeof(Index) + sizeof(Scalar) - 1) / sizeof(Scalar);
    Scalar* packed = tape.constant({size}).value;
    Scalar* numbers = packed + found + weights.size();
    model_->decoder_network().best(outputs, count_, packed, reinterpret_cast<Index*>(numbers));
    B::copy(weights.value, weights.size(), packed + found);
    fetched_.resize(size);
    B::download(packed, size, fetched_.data());
    weights_ = fetched_.data() + found;
    next_.resize(found);
    std::memcpy(next_.data(), weights_ + weights.size(), found * sizeof(Index));
  }

  const Model* model_;
  bool branching_;
  WeightBinding<B> binding_;
  Tape<B> tape_;
  std::optional<OpenLoop<B>> loop_;
  bool started_ = false;
  Encoding<C, B> encoding_;
  Memory<B> memory_;
  std::vector<CellState<C, B>> states_;
  Spans<B> spans_;
  std::vector<Index> first_rows_, rows_, begin_, length_, next_, state_of_parent_, state_of_row_;
  std::vector<Scalar> fetched_;
  const Scalar* weights_ = nullptr;  // in what was fetched
  std::vector<std::size_t> offsets_;
  std::size_t count_ = 0;
};

}  // namespace bahdanau::detail
