// The model on tokens: weights and vocabularies, encoding, decoding step by step or teacher-forced, and what
// training makes small. Text and files are above it: encoder_decoder.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/compose.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/decoded.hpp>
#include <bahdanau/model/decoder_network.hpp>
#include <bahdanau/model/decoder_state.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/model/settings.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// Policies composed into a model on tokens: `EncoderDecoder` is this with text and files. They fit together.
template <class CellPolicy, class ScorePolicy, class BackendPolicy, class EncoderPolicy, class DecoderPolicy,
          class ReadoutPolicy>
class SequenceModel {
 public:
  using Cell = CellPolicy;
  using Score = ScorePolicy;
  using Backend = BackendPolicy;
  using Encoder = EncoderPolicy;
  using Decoder = DecoderPolicy;
  using Readout = ReadoutPolicy;
  using Scalar = typename Backend::Scalar;
  using Encoded = bahdanau::Encoded<Cell, Backend>;
  using State = DecoderState<Cell, Backend>;
  using EncoderNetwork = typename Encoder::template Network<Cell>;
  using DecoderNetwork = detail::DecoderNetwork<Cell, Score, Decoder, Readout>;

  /// A new model with weights drawn from `seed`. Throws for sizes of 0, and for `FinalState::padded` without
  /// a `max_length`.
  SequenceModel(const Config& config, Vocabularies vocabularies, std::uint64_t seed = 0)
      : config_(checked(config)),
        vocabularies_(std::move(vocabularies)),
        encoder_(Scope(parameters_), vocabularies_.source.size(), config_),
        decoder_(Scope(parameters_), vocabularies_.target.size(), detail::key_width<Encoder>(config_),
                 detail::value_width<Encoder>(config_), config_),
        weights_(parameters_) {
    vocabularies_.text.check("EncoderDecoder");
    detail::require_row_width("EncoderDecoder", config_.final_state, max_length());
    weights_.initialize(parameters_, seed);
  }

  const Config& config() const { return config_; }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  /// What training rows were cut to; 0: they were not cut.
  std::size_t max_length() const { return vocabularies_.text.max_length; }
  /// What a sentence's loss is divided by: `max_length`, or d2l's 10 without one.
  std::size_t loss_divisor() const { return vocabularies_.text.loss_divisor(); }
  const ParameterList& parameters() const { return parameters_; }
  const ParameterBlock<Backend>& weights() const { return weights_; }
  ParameterBlock<Backend>& weights() { return weights_; }
  /// A tape for inference with this model; `helpers` may share its work, and be null.
  Tape<Backend> inference(Workers* helpers = nullptr) const { return Tape<Backend>(binding(helpers)); }

  /// Encodes source sentences. Throws for a token outside of the vocabulary or a length that does not fit.
  Encoded encode(const Sequences& source) const {
    source.check("encode", vocabularies_.source.size());
    Tape<Backend> tape = inference();
    Encoding<Cell, Backend> encoding;
    run_encoder("encode", tape, SequenceRows::of(source), {}, encoding);
    const Index* rows = tape.keep(encoding.packing.rank());  // states back in the order of the sentences
    typename Encoded::Data data;
    for (const auto& layer : encoding.last) {
      CellState<Cell, Backend> ordered;
      for (std::size_t p = 0; p < Cell::parts; ++p) ordered[p] = gather_rows(layer[p], rows, source.rows());
      data.last.push_back(detail::owned_state<Cell, Backend>(ordered));
    }
    data.outputs = detail::DeviceMatrix<Backend>::copy_of(encoding.outputs);
    const Memory<Backend> memory = decoder_.remember(encoding.outputs, encoding.summed());
    data.prepared = detail::DeviceMatrix<Backend>::copy_of(memory.keys);
    if (memory.values.value != encoding.outputs.value)
      data.values = detail::DeviceMatrix<Backend>::copy_of(memory.values);
    data.begin = encoding.begin;
    data.length = encoding.length;
    // The width of the rows, unless the encoder makes keys of another number.
    data.steps = data.length == source.lengths
                     ? source.width()
                     : static_cast<std::size_t>(*std::max_element(data.length.begin(), data.length.end()));
    data.score = Score::name;
    data.decoder = Decoder::name;
    data.encoder = Encoder::name;
    return Encoded(std::move(data));
  }

  /// The decoder's state before its first step. Throws for what a model of other sizes has encoded.
  State init_state(const Encoded& encoded) const {
    require_fitting("init_state", encoded);
    Tape<Backend> tape = inference();
    const auto& source = encoded.data();
    const Spans<Backend> spans(tape, source.begin, source.length);
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
    detail::require_equal("step", "tokens, one a sentence:", state.rows(), tokens.size());
    for (const Token id : tokens) require_token("step", id);
    Tape<Backend> tape = inference();
    const auto& source = state.source().data();
    const Spans<Backend> spans(tape, source.begin, source.length);
    auto running = first_state(tape, source, spans.view());
    detail::restore_arrays<Cell, Backend>(tape, state.arrays(), running);
    const auto stepped = decoder_.step(source.remembered(tape), spans.view(),
                                       decoder_.tokens(tape, tape.keep(tokens), tokens.size()), running);
    const Variable<Backend> logits = decoder_.logits(stepped.features);
    state.move_on(detail::owned_arrays<Cell, Backend>(running));
    auto attention = Array<Scalar, 2>::from_shape({state.rows(), source.steps});
    std::fill(attention.begin(), attention.end(), Scalar(0));
    detail::scatter_weights(stepped.attention, source.length,
                            [&](std::size_t r) { return attention.data() + r * source.steps; });
    state.add_attention(std::move(attention));
    return value<2>(logits);
  }
  template <class OtherCell, class OtherBackend>
  Array<Scalar, 2> step(std::span<const Token>, DecoderState<OtherCell, OtherBackend>&) const {
    detail::refuse_foreign<Cell, Backend, OtherCell, OtherBackend>();
  }

  /// The attention weights of every step so far, each [sentences, source steps], or keys where
  /// the encoder makes another number of them.
  const std::vector<Array<Scalar, 2>>& attention_weights(const State& state) const {
    return state.attention_weights();
  }

  /// Feeds whole rows of tokens, `inputs` being what the decoder reads (`<bos>` first), and moves the state
  /// on to each row's end.
  Decoded<Scalar> decode(const Sequences& inputs, State& state) const {
    require_fitting("decode", state);
    inputs.check("decode", vocabularies_.target.size());
    detail::require_equal("decode", "rows, one a sentence:", state.rows(), inputs.rows());
    return decode(SequenceRows::of(inputs), inputs.width(), DecoderNetwork::Inputs::as_given, state);
  }

  /// Encodes the sources and decodes the targets, each shifted right behind `<bos>`: logits for every target
  /// token and the attention behind them.
  Decoded<Scalar> forward(const Batch& batch) const {
    batch.check(vocabularies_.source.size(), vocabularies_.target.size());
    State state = init_state(encode(batch.source));
    return decode(SequenceRows::of(batch.target), batch.target.width(), DecoderNetwork::Inputs::shifted,
                  state);
  }

  // It models TrainableModel (train/trainable.hpp).
  using Batch = bahdanau::Batch;
  struct Scratch {
    Encoding<Cell, Backend> encoding;
    detail::DecoderPass<DecoderNetwork, Backend> pass;
    std::vector<Index> labels;
  };
  double dropout() const { return static_cast<double>(config_.dropout); }
  /// The rows of a batch. Throws for one whose rows, lengths or tokens do not fit.
  std::size_t check(const Batch& batch) const {
    batch.check(vocabularies_.source.size(), vocabularies_.target.size());
    return batch.source.rows();
  }
  /// Teacher forcing: each target token from the source and the tokens before it.
  Objective<Backend> objective(Tape<Backend>& tape, const Batch& batch, RowRange rows,
                               const DropoutPlan& plan, Scratch& scratch) const {
    const auto source = SequenceRows::of(batch.source, rows.first, rows.count);
    const auto target = SequenceRows::of(batch.target, rows.first, rows.count);
    Encoding<Cell, Backend>& encoding = scratch.encoding;
    detail::DecoderPass<DecoderNetwork, Backend>& pass = scratch.pass;
    std::vector<Index>& labels = scratch.labels;  // no bindings: clang++ 14 does not capture them
    run_encoder("loss", tape, source, plan, encoding);
    const Memory<Backend> memory = decoder_.remember(encoding.outputs, encoding.summed());
    decoder_.begin(tape,
                   detail::DecoderSource<Cell, Backend>{encoding.begin, encoding.length, encoding.last,
                                                        encoding.packing.rank()},
                   target, DecoderNetwork::Inputs::shifted, plan, pass);
    decoder_.run(tape, memory, plan, pass);
    labels.resize(pass.packing.tokens());
    pass.packing.for_tokens(
        [&](std::size_t row, std::size_t sentence, std::size_t t) { labels[row] = target.at(sentence, t); });
    return Classification<Backend>{pass.features, decoder_.dense(), labels,
                                   1.0 / static_cast<double>(loss_divisor())};
  }
  detail::ModelSizes sizes() const {
    return {config_.embed,
            config_.hidden,
            config_.layers,
            vocabularies_.source.size(),
            vocabularies_.target.size(),
            weights_.size()};
  }
  /// What a checkpoint must agree with.
  std::map<std::string, std::string> settings() const {
    return detail::model_settings({Cell::name, Score::name, Encoder::name, Decoder::name, Readout::name},
                                  config_, vocabularies_.text);
  }

  const EncoderNetwork& encoder_network() const { return encoder_; }
  const DecoderNetwork& decoder_network() const { return decoder_; }
  /// What tapes for inference are bound to, until the weights change.
  WeightBinding<Backend> binding(Workers* helpers = nullptr) const {
    return {.weights = detail::numbers(weights_), .panels = panels(), .helpers = helpers};
  }
  /// The weights as products use them.
  WeightPanels<Backend>* panels() const {
    if (detail::PackedProducts<Backend>::packs())
      panels_.begin(detail::numbers(weights_), weights_.size(), weights_.version());
    return &panels_;
  }
  EncoderInput encoder_input(const SequenceRows& rows, const DropoutPlan& plan = {}) const {
    return {rows, config_.final_state, max_length(), plan};
  }
  /// Encodes rows that were checked. Throws where the encoder does not keep to its contract.
  void run_encoder(std::string_view where, Tape<Backend>& tape, const SequenceRows& rows,
                   const DropoutPlan& plan, Encoding<Cell, Backend>& encoding) const {
    encoding.values = {};  // of an earlier pass
    encoder_.run(tape, encoder_input(rows, plan), encoding);
    detail::require_encoding(where, encoding, rows.count,
                             {config_.layers, config_.hidden, detail::key_width<Encoder>(config_),
                              detail::value_width<Encoder>(config_)});
  }

 private:
  static const Config& checked(const Config& config) {
    config.check();
    return config;
  }

  void require_token(std::string_view where, Token id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabularies_.target.size())
      fail(where, "a token id from 0 to " + detail::text(vocabularies_.target.size() - 1), detail::text(id));
  }

  /// Throws for what a model of other sizes has made: its type does not show them.
  void require_fitting(std::string_view where, const Encoded& encoded) const {
    constexpr std::string_view hint = "encode and decode with one model";
    const auto sizes = [](std::size_t layers, std::size_t hidden) {
      return detail::text(layers) + (layers == 1 ? " layer of " : " layers of ") + detail::text(hidden);
    };
    const auto& source = encoded.data();
    const std::size_t hidden = source.last.empty() ? 0 : source.last[0][0].cols;
    if (source.last.size() != config_.layers || hidden != config_.hidden)
      fail(where, "a state of " + sizes(config_.layers, config_.hidden), sizes(source.last.size(), hidden),
           hint);
    if (const std::size_t width = detail::key_width<Encoder>(config_); source.outputs.cols != width)
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

  /// What goes into the first step.
  typename DecoderNetwork::template State<Backend> first_state(Tape<Backend>& tape,
                                                               const typename Encoded::Data& source,
                                                               const SpanView<Backend>& spans) const {
    typename DecoderNetwork::template State<Backend> running;
    decoder_.template start<Backend>(tape, detail::on_tape<Cell, Backend>(tape, source.last), spans, running);
    return running;
  }

  Decoded<Scalar> decode(const SequenceRows& rows, std::size_t width, typename DecoderNetwork::Inputs inputs,
                         State& state) const {
    Tape<Backend> tape = inference();
    return detail::decode_rows(tape, decoder_, vocabularies_.target.size(), rows, width, inputs, state);
  }

  Config config_;
  Vocabularies vocabularies_;
  ParameterList parameters_;
  EncoderNetwork encoder_;
  DecoderNetwork decoder_;
  ParameterBlock<Backend> weights_;
  mutable WeightPanels<Backend> panels_;
};

}  // namespace bahdanau
