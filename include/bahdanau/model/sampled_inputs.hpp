// The tokens that a decoder reads under scheduled sampling: the true ones, or what it would have said itself.
// They are chosen in a pass of their own, step by step, which nothing is recorded of: no gradient flows
// through the choice, so the recorded pass with these tokens has the exact gradient.
#pragma once

#include <cstddef>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/autograd/ops/draw.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/model/decoder_network.hpp>
#include <bahdanau/model/input_sampling.hpp>

namespace bahdanau {

namespace detail {

/// Chooses the tokens, with the lists that it reuses.
template <class Network, Backend B>
class SampledInputs {
 public:
  /// What the decoder reads at each position of the targets, `<bos>` first; for `Network::Inputs::as_given`.
  /// Encoder outputs and states may lie on another tape. Dropout has the masks of the pass that follows.
  SequenceRows choose(const InputSampling<B>& sampling, const Network& network,
                      const DecoderSource<typename Network::Cell, B>& source, const Memory<B>& memory,
                      const SequenceRows& target, const DropoutPlan& plan, DecoderPass<Network, B>& pass) {
    Tape<B>& tape = *sampling.tape;
    tokens_.assign(target.count * target.stride, reserved::pad);
    first_.assign(source.first.begin(), source.first.end());
    for (auto& state : first_)
      for (Variable<B>& part : state) part = tape.borrow(part.value, part.shape);
    Memory<B> borrowed;
    if constexpr (Network::attends)
      borrowed = {tape.borrow(memory.keys.value, memory.keys.shape),
                  tape.borrow(memory.values.value, memory.values.shape)};
    network.begin(tape, {source.begin, source.length, first_, source.row_of_sentence}, target,
                  Network::Inputs::shifted, plan, pass);
    const Packing& packing = pass.packing;
    auto& state = pass.state;
    drawing_.clear();
    OpenLoop<B> loop(tape);
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      const std::size_t running = packing.count(t);
      loop.step();
      take_tokens(target, packing, t);
      const Index* ids = tape.stage(read_);
      tape.send();
      const SpanView<B> spans = Network::attends ? pass.spans.prefix(running) : SpanView<B>{};
      state.each_row([&](Variable<B>& v) { v = v.row_range(0, running); });
      state.each_pair([&](Variable<B>& v) { v = first_pairs(v, spans.pairs); });
      const DropoutNames names = pass.token_names.from(packing.start(t));
      const Variable<B> features =
          network
              .step(borrowed, spans, network.tokens(tape, ids, running, plan, names), state, {}, plan, names)
              .features;
      find_drawing(sampling, target, packing, t + 1);
      if (!drawing_.empty()) draw(sampling, network, features);
    }
    return {tokens_.data(), target.stride, target.lengths, target.count, target.first};
  }

 private:
  /// The tokens of a step: `<bos>`, the true ones, or in the rows that draw what they have drawn.
  void take_tokens(const SequenceRows& target, const Packing& packing, std::size_t t) {
    read_.resize(packing.count(t));
    for (std::size_t r = 0; r < read_.size(); ++r)
      read_[r] = t == 0 ? reserved::bos : target.at(sentence(packing, r), t - 1);
    for (std::size_t i = 0; i < drawing_.size(); ++i)
      read_[static_cast<std::size_t>(drawing_[i])] = drawn_[i];
    for (std::size_t r = 0; r < read_.size(); ++r)
      tokens_[sentence(packing, r) * target.stride + t] = read_[r];
  }

  /// Which rows of a step read what the model says.
  void find_drawing(const InputSampling<B>& sampling, const SequenceRows& target, const Packing& packing,
                    std::size_t t) {
    drawing_.clear();
    shares_.clear();
    for (std::size_t r = 0; r < packing.count(t); ++r) {
      const random::Key key = sampling.key.derive((target.first + sentence(packing, r)) * target.stride + t);
      if (key.uniform(0) < sampling.teacher) continue;
      drawing_.push_back(static_cast<Index>(r));
      // 24 bits, which are below 1 in a float too
      shares_.push_back(static_cast<typename B::Scalar>(key.bits(1) >> 40U) *
                        static_cast<typename B::Scalar>(0x1.0p-24));
    }
  }

  void draw(const InputSampling<B>& sampling, const Network& network, const Variable<B>& features) {
    Tape<B>& tape = *sampling.tape;
    const std::size_t count = drawing_.size();
    const Variable<B> rows = gather_rows(features, tape.keep(drawing_), count);
    Index* ids = tape.allocate_indices(count);
    if (sampling.choice == ScheduledSampling::Choice::best)
      network.best(rows, 1, tape.constant({count}).value, ids);
    else
      draw_of_rows(network.logits(rows), tape.constant({count}, shares_), ids);
    drawn_.resize(count);
    B::download(ids, count, drawn_.data());
  }

  static std::size_t sentence(const Packing& packing, std::size_t row) {
    return static_cast<std::size_t>(packing.order()[row]);
  }

  std::vector<Token> tokens_;           // [sentences, stride]
  std::vector<Token> read_;             // of a step
  std::vector<Index> drawing_, drawn_;  // rows of the next step, and their tokens
  std::vector<typename B::Scalar> shares_;
  std::vector<CellState<typename Network::Cell, B>> first_;
};

}  // namespace detail
}  // namespace bahdanau
