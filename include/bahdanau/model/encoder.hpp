// The Encoder concept and its models: embedding, then stacked cells, in one direction or in both.
// Encoders work on ragged rows: nothing is computed for padding, except where a model asks for d2l's rule.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/dropout_plan.hpp>

namespace bahdanau {

namespace detail {

/// How sentences enter an encoder.
struct EncoderInput {
  SequenceRows sentences;
  FinalState rule = FinalState::valid;
  std::size_t max_length = 0;  // how far `FinalState::padded` goes
  DropoutPlan dropout;
};

/// What an encoder makes of some sentences, with the lists that it reuses.
template <class C, Backend B>
struct Encoding {
  Variable<B> outputs;                // [keys, directions · hidden]; a key a token, or what an encoder makes
  std::vector<Index> begin, length;   // the rows of each sentence in `outputs`, at least one
  std::vector<CellState<C, B>> last;  // the decoder's first state: one a layer, parts of [sentences, hidden]
  Packing packing;                    // rows of `last` are in packing.order()

  std::vector<Index> lengths, ids, names, rows, reversal, lists;  // scratch
};

/// Throws unless each sentence has at least one key, and they are among the outputs: an encoder may make more
/// or fewer keys than there are tokens, but attention over none is no attention.
template <class C, Backend B>
void require_sentence_keys(std::string_view where, const Encoding<C, B>& encoding, std::size_t sentences) {
  require_equal(where, "spans of keys, one a sentence:", sentences, encoding.length.size());
  require_equal(where, "spans of keys, one a sentence:", sentences, encoding.begin.size());
  for (std::size_t b = 0; b < sentences; ++b) {
    const auto begin = encoding.begin[b], length = encoding.length[b];
    if (length < 1)
      fail(std::string(where) + ", sentence " + text(b), "at least one key from the encoder", text(length),
           "keep one where a sentence is short");
    if (begin < 0 ||
        static_cast<std::size_t>(begin) + static_cast<std::size_t>(length) > encoding.outputs.rows())
      fail(std::string(where) + ", sentence " + text(b),
           "keys among the encoder's " + text(encoding.outputs.rows()) + " outputs",
           text(length) + " from " + text(begin) + " on");
  }
}

/// Embedding and stacked cells; with two directions, the second reads each sentence from its end.
template <class C, std::size_t Directions>
class RecurrentEncoder {
 public:
  RecurrentEncoder(Scope root, std::size_t vocabulary, const Config& config) : hidden_(config.hidden) {
    Scope scope = root.in("encoder.");
    embedding_ = scope.add("embedding.weight", {vocabulary, config.embed}, Initializer::standard_normal());
    for (std::size_t l = 0; l < config.layers; ++l) {
      const std::size_t inputs = l == 0 ? config.embed : Directions * config.hidden;
      for (std::size_t d = 0; d < Directions; ++d)
        layers_.push_back(
            C::declare(scope.in("rnn.", "_l" + text(l) + (d == 0 ? "" : "_reverse")), inputs, config.hidden));
    }
    if constexpr (Directions == 2)
      for (std::size_t p = 0; p < C::parts; ++p)
        for (std::size_t l = 0; l < config.layers; ++l) {
          Scope bridge = root.in("decoder.bridge." + std::string(C::part_names[p]) + "." + text(l) + ".");
          bridge_[p].push_back({bridge.matrix("weight", config.hidden, 2 * config.hidden),
                                bridge.bias("bias", config.hidden, 2 * config.hidden)});
        }
  }

  /// Runs over the sentences and fills `out`: outputs [valid tokens, directions · hidden] and last states.
  template <Backend B>
  void run(Tape<B>& tape, const EncoderInput& input, Encoding<C, B>& out) const {
    pack(input, out);
    const Index* ids = tape.stage(out.ids);
    const Index* names = input.dropout.active() ? tape.stage(out.names) : nullptr;
    const Index* reversal = Directions == 2 ? tape.stage(out.reversal) : nullptr;
    const Index* rows = tape.stage(out.rows);
    const PackingLists lists = PackingLists::stage(tape, out.packing, out.lists);
    tape.send();
    const std::size_t tokens = out.packing.tokens(), layers = layers_.size() / Directions;
    Variable<B> x = gather_rows(tape[embedding_], ids, tokens);
    out.last.clear();
    for (std::size_t l = 0; l < layers; ++l) {
      if (l > 0) x = dropout(x, input.dropout.encoder(l), names);
      const auto forward = run_layer<C, B>(layers_[l * Directions], hidden_, x, out.packing, lists);
      if constexpr (Directions == 1) {
        x = forward.outputs;
        out.last.push_back(forward.last);
      } else {
        const auto backward = run_layer<C, B>(layers_[l * Directions + 1], hidden_,
                                              gather_rows(x, reversal, tokens), out.packing, lists);
        x = concat_columns<B>({forward.outputs, gather_rows(backward.outputs, reversal, tokens)});
        out.last.push_back(join(tape, l, forward.last, backward.last));
      }
    }
    out.outputs = gather_rows(x, rows, out.rows.size());
  }

 private:
  /// Lays the sentences out; what lies beyond a valid length enters only under `FinalState::padded`, as
  /// `<pad>`.
  template <Backend B>
  static void pack(const EncoderInput& input, Encoding<C, B>& out) {
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
    // Positions run beyond a row's width under `FinalState::padded`; each still has a name of its own.
    const std::size_t stride = padded ? std::max(sentences.stride, input.max_length) : sentences.stride;
    packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      out.ids[row] = t < sentences.length(sentence) ? sentences.at(sentence, t) : reserved::pad;
      out.names[row] = static_cast<Index>((sentences.first + sentence) * stride + t);
    });
    // outputs: sentence after sentence, valid tokens only
    out.begin.clear();
    out.rows.clear();
    for (std::size_t b = 0; b < sentences.count; ++b) {
      out.begin.push_back(static_cast<Index>(out.rows.size()));
      for (std::size_t t = 0; t < sentences.length(b); ++t)
        out.rows.push_back(static_cast<Index>(packing.start(t)) + packing.rank()[b]);
    }
  }

  /// h = tanh(B [h→ ; h←] + b), and for what else a state has, c = C [c→ ; c←] + d.
  template <Backend B>
  CellState<C, B> join(Tape<B>& tape, std::size_t layer, const CellState<C, B>& forward,
                       const CellState<C, B>& backward) const {
    CellState<C, B> state;
    for (std::size_t p = 0; p < C::parts; ++p) {
      const Dense& dense = bridge_[p][layer];
      const Variable<B> joined =
          linear(concat_columns<B>({forward[p], backward[p]}), tape[dense.weight], tape[dense.bias]);
      state[p] = p == 0 ? tanh(joined) : joined;
    }
    return state;
  }

  std::size_t hidden_;
  Parameter embedding_;
  std::vector<typename C::Weights> layers_;  // layer by layer, forward before backward
  std::array<std::vector<Dense>, C::parts> bridge_;
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

namespace detail {

/// A cell that is declared and nowhere defined: see AnyBackend.
struct AnyCell {
  static constexpr std::string_view name = "any";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = RecurrentWeights;
  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden);
  template <Backend B>
  static CellState<AnyCell, B> step(const Weights& weights, const Variable<B>& projected,
                                    const CellState<AnyCell, B>& state);
};
static_assert(Cell<AnyCell>);

/// Points 1 and 2 of the contract below.
template <class E>
concept DeclaresEncoder = requires {
  { E::name } -> std::convertible_to<std::string_view>;
  { E::directions } -> std::convertible_to<std::size_t>;
};

}  // namespace detail

/// How source sentences become keys and the decoder's first state. Models: `Unidirectional`, `Bidirectional`.
///
/// 1. `name` is what a model file calls it.
/// 2. Keys are `directions · hidden` wide, known when the model is compiled.
/// 3. `Network<Cell>` is constructed from (root scope, vocabulary, config), where it declares its parameters;
///    its `run(tape, input, encoding)` fills a `detail::Encoding`. There may be more or fewer keys than
///    tokens, but each sentence has at least one.
template <class E>
concept Encoder = detail::DeclaresEncoder<E> &&
    requires(const typename E::template Network<detail::AnyCell>& network, Tape<AnyBackend>& tape,
             const detail::EncoderInput& input, detail::Encoding<detail::AnyCell, AnyBackend>& encoding) {
  requires std::constructible_from<std::remove_cvref_t<decltype(network)>, Scope, std::size_t, Config>;
  network.run(tape, input, encoding);
};

/// The same with point 3 for one cell and one backend.
template <class E, class C, class B>
concept EncoderOn = detail::DeclaresEncoder<E> && Backend<B> &&
    requires(const typename E::template Network<C>& network, Tape<B>& tape, const detail::EncoderInput& input,
             detail::Encoding<C, B>& encoding) {
  requires std::constructible_from<std::remove_cvref_t<decltype(network)>, Scope, std::size_t, Config>;
  network.run(tape, input, encoding);
};

static_assert(Encoder<Unidirectional> && Encoder<Bidirectional>);

}  // namespace bahdanau
