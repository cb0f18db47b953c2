// Inference on tokens: encoding, decoding step by step or teacher-forced, for models and for frozen ones.
// States stay on the device between calls. Searches are above it: decode/session.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/model/architecture.hpp>
#include <bahdanau/model/compose.hpp>
#include <bahdanau/model/decoded.hpp>
#include <bahdanau/model/frozen_model.hpp>

namespace bahdanau {

/// Adds them to `Base`, which has `architecture()`; `Self`, what derives from this, has `frozen_model()`.
template <class Self, class Base>
class TokenInference : public Base {
 public:
  using Cell = typename Base::Cell;
  using Score = typename Base::Score;
  using Backend = typename Base::Backend;
  using Encoder = typename Base::Encoder;
  using Decoder = typename Base::Decoder;
  using Scalar = typename Base::Scalar;
  using Encoded = typename Base::Encoded;
  using State = typename Base::State;
  using DecoderNetwork = typename Base::DecoderNetwork;
  using Base::Base;

  /// Encodes source sentences. Throws for a token outside of the vocabulary or a length that does not fit.
  Encoded encode(const Sequences& source) const {
    source.check("encode", this->vocabularies().source.size());
    const auto frozen = self().frozen_model();
    Tape<Backend> tape(frozen->binding());
    Encoding<Cell, Backend> encoding;
    this->architecture().run_encoder("encode", tape, SequenceRows::of(source), {}, encoding, /*keys=*/true);
    const Index* rows = tape.keep(encoding.packing.rank());  // states back in the order of the sentences
    typename Encoded::Data data;
    for (const auto& layer : encoding.last) {
      CellState<Cell, Backend> ordered;
      for (std::size_t p = 0; p < Cell::parts; ++p) ordered[p] = gather_rows(layer[p], rows, source.rows());
      data.last.push_back(detail::owned_state<Cell, Backend>(ordered));
    }
    data.outputs = detail::DeviceMatrix<Backend>::copy_of(encoding.outputs);
    if constexpr (DecoderNetwork::attends) {
      const Memory<Backend> memory = decoder().remember(encoding.outputs, encoding.summed());
      data.prepared = detail::DeviceMatrix<Backend>::copy_of(memory.keys);
      if (memory.values.value != encoding.outputs.value)
        data.values = detail::DeviceMatrix<Backend>::copy_of(memory.values);
    }
    data.begin = encoding.begin;
    data.length = encoding.length;
    // The width of the rows, unless the encoder makes keys of another number.
    data.steps = data.length == source.lengths
                     ? source.width()
                     : static_cast<std::size_t>(*std::max_element(data.length.begin(), data.length.end()));
    data.reversed = this->architecture().reverses_source();
    data.score = Score::name;
    data.decoder = Decoder::name;
    data.encoder = Encoder::name;
    return Encoded(std::move(data));
  }

  /// The decoder's state before its first step. Throws for what a model of other sizes has encoded.
  State init_state(const Encoded& encoded) const {
    require_fitting("init_state", encoded);
    const auto frozen = self().frozen_model();
    Tape<Backend> tape(frozen->binding());
    const auto& source = encoded.data();
    Spans<Backend> spans;
    assign(tape, source, spans);
    auto running = first_state(tape, source, spans.view());
    return State(encoded, detail::owned_arrays<Cell, Backend>(running));
  }
  template <class OtherCell, class OtherBackend>
  State init_state(const bahdanau::Encoded<OtherCell, OtherBackend>&) const {
    detail::refuse_foreign<Cell, Backend, OtherCell, OtherBackend>();
  }

  /// Feeds one token a sentence and moves the state on; returns the logits [sentences, vocabulary].
  Array<Scalar, 2> step(std::span<const Token> tokens, State& state) const {
    require_fitting("step", state);
    detail::require_equal("step", "tokens, one per sentence:", state.rows(), tokens.size());
    for (const Token id : tokens) require_token("step", id);
    const auto frozen = self().frozen_model();
    Tape<Backend> tape(frozen->binding());
    const auto& source = state.source().data();
    Spans<Backend> spans;
    assign(tape, source, spans);
    auto running = first_state(tape, source, spans.view());
    detail::restore_arrays<Cell, Backend>(tape, state.arrays(), running);
    const auto stepped = decoder().step(remembered(tape, source), spans.view(),
                                        decoder().tokens(tape, tape.keep(tokens), tokens.size()), running);
    const Variable<Backend> logits = decoder().logits(stepped.features);
    state.move_on(detail::owned_arrays<Cell, Backend>(running));
    auto attention = Array<Scalar, 2>::from_shape({state.rows(), DecoderNetwork::attends ? source.steps : 0});
    std::fill(attention.begin(), attention.end(), Scalar(0));
    if constexpr (DecoderNetwork::attends)
      detail::scatter_weights(stepped.attention, source.length, source.reversed,
                              [&](std::size_t r) { return attention.data() + r * source.steps; });
    state.add_attention(std::move(attention));
    return value<2>(logits);
  }
  template <class OtherCell, class OtherBackend>
  Array<Scalar, 2> step(std::span<const Token>, DecoderState<OtherCell, OtherBackend>&) const {
    detail::refuse_foreign<Cell, Backend, OtherCell, OtherBackend>();
  }

  /// The attention weights of every step so far, each [sentences, source steps], or keys where
  /// the encoder makes another number of them; [sentences, 0] of a model that does not attend.
  const std::vector<Array<Scalar, 2>>& attention_weights(const State& state) const {
    return state.attention_weights();
  }

  /// Feeds whole rows of tokens, `inputs` being what the decoder reads (`<bos>` first), and moves the state
  /// on to each row's end.
  Decoded<Scalar> decode(const Sequences& inputs, State& state) const {
    require_fitting("decode", state);
    inputs.check("decode", this->vocabularies().target.size());
    detail::require_equal("decode", "rows, one per sentence:", state.rows(), inputs.rows());
    return decode(SequenceRows::of(inputs), inputs.width(), DecoderNetwork::Inputs::as_given, state);
  }

  /// Encodes the sources and decodes the targets, each shifted right behind `<bos>`: logits for every target
  /// token and the attention behind them.
  Decoded<Scalar> forward(const Batch& batch) const {
    batch.check(this->vocabularies().source.size(), this->vocabularies().target.size());
    State state = init_state(encode(batch.source));
    return decode(SequenceRows::of(batch.target), batch.target.width(), DecoderNetwork::Inputs::shifted,
                  state);
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  const DecoderNetwork& decoder() const { return this->architecture().decoder_network(); }

  void require_token(std::string_view where, Token id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= this->vocabularies().target.size())
      fail(where, "a token id from 0 to " + detail::text(this->vocabularies().target.size() - 1),
           detail::text(id));
  }

  /// Throws for what a model of other sizes has made: its type does not show them.
  void require_fitting(std::string_view where, const Encoded& encoded) const {
    constexpr std::string_view hint = "encode and decode with one model";
    const auto sizes = [](std::size_t layers, std::size_t hidden) {
      return detail::text(layers) + (layers == 1 ? " layer of " : " layers of ") + detail::text(hidden);
    };
    const auto& source = encoded.data();
    const std::size_t hidden = source.last.empty() ? 0 : source.last[0][0].cols;
    if (source.last.size() != this->config().layers || hidden != this->config().hidden)
      fail(where, "a state of " + sizes(this->config().layers, this->config().hidden),
           sizes(source.last.size(), hidden), hint);
    if (const std::size_t width = detail::key_width<Encoder>(this->config()); source.outputs.cols != width)
      fail(where, "keys of width " + detail::text(width), detail::text(source.outputs.cols), hint);
    if (source.score != Score::name)  // of equal sizes, and so of equal widths, but with other keys
      fail(where, "keys for the score " + detail::quote(Score::name), detail::quote(source.score), hint);
    if (source.encoder != Encoder::name)  // whose values may have another width
      fail(where, "keys from the encoder " + detail::quote(Encoder::name), detail::quote(source.encoder),
           hint);
    if (source.decoder != Decoder::name)
      fail(where, "a state for the decoder " + detail::quote(Decoder::name), detail::quote(source.decoder),
           hint);
  }
  void require_fitting(std::string_view where, const State& state) const {
    require_fitting(where, state.source());
  }

  /// The keys of each sentence, where somebody attends to them.
  static void assign(Tape<Backend>& tape, const typename Encoded::Data& source, Spans<Backend>& spans) {
    if constexpr (DecoderNetwork::attends) {
      spans.assign(tape, source.begin, source.length);
      tape.send();
    }
  }
  static Memory<Backend> remembered(Tape<Backend>& tape, const typename Encoded::Data& source) {
    if constexpr (DecoderNetwork::attends)
      return source.remembered(tape);
    else
      return {};
  }

  /// What goes into the first step.
  typename DecoderNetwork::template State<Backend> first_state(Tape<Backend>& tape,
                                                               const typename Encoded::Data& source,
                                                               const SpanView<Backend>& spans) const {
    typename DecoderNetwork::template State<Backend> running;
    decoder().template start<Backend>(tape, detail::on_tape<Cell, Backend>(tape, source.last), spans,
                                      running);
    return running;
  }

  Decoded<Scalar> decode(const SequenceRows& rows, std::size_t width, typename DecoderNetwork::Inputs inputs,
                         State& state) const {
    const auto frozen = self().frozen_model();
    Tape<Backend> tape(frozen->binding());
    return detail::decode_rows(tape, decoder(), this->vocabularies().target.size(), rows, width, inputs,
                               state);
  }
};

}  // namespace bahdanau
