// Recurrent encoders: embedding, then stacked cells, in one direction or in both.
// They work on ragged rows: nothing is computed for padding, except where a model asks for d2l's rule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/model/bridge.hpp>
#include <bahdanau/model/encoder.hpp>

namespace bahdanau {

namespace detail {

/// Embedding and stacked cells; with two directions, the second reads each sentence from its end.
template <class C, std::size_t Directions>
class RecurrentEncoder {
 public:
  RecurrentEncoder(Scope root, std::size_t vocabulary, const Config& config)
      : hidden_(config.hidden), residual_(config.residual), bridge_rule_(config.bridge) {
    Scope scope = root.in("encoder.");
    embedding_ = scope.add("embedding.weight", {vocabulary, config.embed}, Initializer::standard_normal());
    for (std::size_t l = 0; l < config.layers; ++l) {
      const std::size_t inputs = l == 0 ? config.embed : Directions * config.hidden;
      for (std::size_t d = 0; d < Directions; ++d)
        layers_.push_back(
            C::declare(scope.in("rnn.", "_l" + text(l) + (d == 0 ? "" : "_reverse")), inputs, config.hidden));
    }
    if constexpr (Directions == 1) {
      if (bridge_rule_ != Bridge::both)
        fail("Config.bridge",
             "\"both\" for an encoder of one direction, whose states the decoder takes as they are",
             quote(bahdanau::name(bridge_rule_)), "use Bidirectional");
    } else {
      bridge_ = BridgeLayers<C>(root, (bridge_rule_ == Bridge::backward ? 1 : 2) * config.hidden, config);
    }
  }

  /// Runs over the sentences and fills `out`: outputs [valid tokens, directions · hidden] and last states.
  template <Backend B>
  void run(Tape<B>& tape, const EncoderInput& input, Encoding<C, B>& out) const {
    const bool keys = input.keys || (Directions == 2 && bridge_rule_ == Bridge::mean);
    pack(input, keys, out);
    const Index* ids = tape.stage(out.ids);
    const Index* names = input.dropout.active() ? tape.stage(out.names) : nullptr;
    const Index* reversal = Directions == 2 ? tape.stage(out.reversal) : nullptr;
    const Index* rows = keys ? tape.stage(out.rows) : nullptr;
    const PackingLists lists = PackingLists::stage(tape, out.packing, out.lists);
    if constexpr (Directions == 2)
      if (bridge_rule_ == Bridge::mean) bridge_.stage_spans(tape, out);
    tape.send();
    const std::size_t tokens = out.packing.tokens(), layers = layers_.size() / Directions;
    Variable<B> x =
        dropout(gather_rows(tape[embedding_], ids, tokens), input.dropout.source_embedding(), names);
    out.last.clear();
    for (std::size_t l = 0; l < layers; ++l) {
      const Variable<B> below = x;
      if (l > 0) x = dropout(x, input.dropout.encoder(l), names);
      const auto forward = run_layer<C, B>(layers_[l * Directions], hidden_, x, out.packing, lists);
      if constexpr (Directions == 1) {
        x = forward.outputs;
        out.last.push_back(forward.last);
      } else {
        const auto backward = run_layer<C, B>(layers_[l * Directions + 1], hidden_,
                                              gather_rows(x, reversal, tokens), out.packing, lists);
        if (keys || l + 1 < layers)
          x = concat_columns<B>({forward.outputs, gather_rows(backward.outputs, reversal, tokens)});
        if (bridge_rule_ == Bridge::both)
          out.last.push_back(bridge_.template cross<B>(l, [&](std::size_t p) {
            return concat_columns<B>({forward.last[p], backward.last[p]});
          }));
        if (bridge_rule_ == Bridge::backward)
          out.last.push_back(bridge_.template cross<B>(l, [&](std::size_t p) { return backward.last[p]; }));
      }
      if (residual_ && l > 0 && (keys || l + 1 < layers))
        x = residual_sum(x, below);  // what came in before dropout: that way stays open
    }
    if (keys) out.outputs = gather_rows(x, rows, out.rows.size());
    if constexpr (Directions == 2)
      if (bridge_rule_ == Bridge::mean) bridge_.cross_mean(out);
  }

 private:
  /// Lays the sentences out; what lies beyond a valid length enters only under `FinalState::padded`, as
  /// `<pad>`.
  template <Backend B>
  static void pack(const EncoderInput& input, bool keys, Encoding<C, B>& out) {
    const SequenceRows& sentences = input.sentences;
    const bool padded = input.rule == FinalState::padded;
    out.length.assign(sentences.lengths, sentences.lengths + sentences.count);
    out.lengths = out.length;
    if (padded) {
      for (std::size_t r = 0; r < sentences.count; ++r)
        if (sentences.length(r) > input.max_length)
          fail("encode, row " + text(sentences.first + r),
               "a source of at most max_length = " + text(input.max_length) + " tokens",
               text(sentences.length(r)), "this model was made with final_state 'padded'");
      out.lengths.assign(sentences.count, static_cast<Index>(input.max_length));
    }
    out.packing.assign(out.lengths);
    const Packing& packing = out.packing;
    out.ids.resize(packing.tokens());
    out.names.resize(packing.tokens());
    if constexpr (Directions == 2) packing.reversal(out.reversal);
    // Positions run beyond a row's width under `FinalState::padded`; each still has a name of its own, unless
    // all of a sentence have one.
    const std::size_t stride = padded ? std::max(sentences.stride, input.max_length) : sentences.stride;
    packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      out.ids[row] = t < sentences.length(sentence) ? sentences.at(sentence, t) : reserved::pad;
      const std::size_t number = sentences.first + sentence;
      out.names[row] = static_cast<Index>(input.dropout.per_sequence() ? number : number * stride + t);
    });
    // outputs: sentence after sentence, valid tokens only
    out.begin.clear();
    out.rows.clear();
    for (std::size_t b = 0; keys && b < sentences.count; ++b) {
      out.begin.push_back(static_cast<Index>(out.rows.size()));
      for (std::size_t t = 0; t < sentences.length(b); ++t)
        out.rows.push_back(static_cast<Index>(packing.start(t)) + packing.rank()[b]);
    }
  }

  std::size_t hidden_;
  bool residual_;
  Bridge bridge_rule_;
  Parameter embedding_;
  std::vector<typename C::Weights> layers_;  // layer by layer, forward before backward
  BridgeLayers<C> bridge_;                   // of two directions
};

}  // namespace detail

/// Reads each sentence once, from its start: keys are as wide as the hidden state.
struct Unidirectional {
  static constexpr std::string_view name = "unidirectional";
  static constexpr std::size_t directions = 1;
  template <class C>
  using Network = detail::RecurrentEncoder<C, 1>;
};

/// Reads each sentence in both directions: keys are twice as wide as the hidden state, forward first.
struct Bidirectional {
  static constexpr std::string_view name = "bidirectional";
  static constexpr std::size_t directions = 2;
  template <class C>
  using Network = detail::RecurrentEncoder<C, 2>;
};

static_assert(Encoder<Unidirectional> && Encoder<Bidirectional>);

}  // namespace bahdanau
