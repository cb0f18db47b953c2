// A model without its numbers: policies, sizes, vocabularies and parameters, how rows are encoded and
// decoded, and the loss that training minimises. What has the numbers is above it: sequence_model.hpp,
// frozen_model.hpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/decoder_network.hpp>
#include <bahdanau/model/decoder_state.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/model/sampled_inputs.hpp>
#include <bahdanau/model/settings.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/nn/parameter.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// Policies composed. They fit together.
template <class CellPolicy, class ScorePolicy, class BackendPolicy, class EncoderPolicy, class DecoderPolicy,
          class ReadoutPolicy>
class Architecture {
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

  /// Throws for sizes of 0, and for `FinalState::padded` without a `max_length`.
  Architecture(const Config& config, Vocabularies vocabularies)
      : config_(checked(config)),
        vocabularies_(std::move(vocabularies)),
        encoder_(Scope(parameters_), vocabularies_.source.size(), config_),
        decoder_(Scope(parameters_), vocabularies_.target.size(), detail::key_width<Encoder>(config_),
                 detail::value_width<Encoder>(config_), config_) {
    vocabularies_.text.check("EncoderDecoder");
    detail::require_row_width("EncoderDecoder", config_.final_state, max_length());
  }

  const Architecture& architecture() const { return *this; }
  const Config& config() const { return config_; }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  /// What training rows were cut to; 0: they were not cut.
  std::size_t max_length() const { return vocabularies_.text.max_length; }
  /// What a sentence's loss is divided by: `max_length`, or d2l's 10 without one.
  std::size_t loss_divisor() const { return vocabularies_.text.loss_divisor(); }
  const ParameterList& parameters() const { return parameters_; }

  // It models TrainableModel (train/trainable.hpp).
  using Batch = bahdanau::Batch;
  struct Scratch {
    Encoding<Cell, Backend> encoding;
    detail::DecoderPass<DecoderNetwork, Backend> pass;
    std::vector<Index> labels;
    InputSampling<Backend> sampling;  // what training asks for; see point 5 of TrainableModel
    detail::SampledInputs<DecoderNetwork, Backend> sampled;
  };
  double dropout() const { return static_cast<double>(config_.dropout); }
  DropoutPlan dropout_plan(random::Key key) const {
    return {dropout(), key, static_cast<double>(config_.embedding_dropout), config_.dropout_masks};
  }
  /// The rows of a batch. Throws for one whose rows, lengths or tokens do not fit.
  std::size_t check(const Batch& batch) const {
    batch.check(vocabularies_.source.size(), vocabularies_.target.size());
    return batch.source.rows();
  }
  /// Teacher forcing: each target token from the source and the tokens before it, or, where
  /// `scratch.sampling` says so, those that were sampled in their place.
  Objective<Backend> objective(Tape<Backend>& tape, const Batch& batch, RowRange rows,
                               const DropoutPlan& plan, Scratch& scratch) const {
    const auto source = SequenceRows::of(batch.source, rows.first, rows.count);
    const auto target = SequenceRows::of(batch.target, rows.first, rows.count);
    Encoding<Cell, Backend>& encoding = scratch.encoding;
    detail::DecoderPass<DecoderNetwork, Backend>& pass = scratch.pass;
    std::vector<Index>& labels = scratch.labels;  // no bindings: clang++ 14 does not capture them
    run_encoder("loss", tape, source, plan, encoding);
    const Memory<Backend> memory = decoder_.remember(encoding.outputs, encoding.summed());
    const detail::DecoderSource<Cell, Backend> first{encoding.begin, encoding.length, encoding.last,
                                                     encoding.packing.rank()};
    if (scratch.sampling.tape != nullptr)
      decoder_.begin(tape, first,
                     scratch.sampled.choose(scratch.sampling, decoder_, first, memory, target, plan, pass),
                     DecoderNetwork::Inputs::as_given, plan, pass);
    else
      decoder_.begin(tape, first, target, DecoderNetwork::Inputs::shifted, plan, pass);
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
            parameters_.size()};
  }
  /// What a checkpoint must agree with.
  std::map<std::string, std::string> settings() const {
    return detail::model_settings({Cell::name, Score::name, Encoder::name, Decoder::name, Readout::name},
                                  config_, vocabularies_.text);
  }

  const EncoderNetwork& encoder_network() const { return encoder_; }
  const DecoderNetwork& decoder_network() const { return decoder_; }
  /// Whether the decoder attends to the source.
  static constexpr bool attends = DecoderNetwork::attends;
  /// Whether sources are read from their ends: keys are then in that order, and what is reported is not.
  bool reverses_source() const { return vocabularies_.text.reverse_source; }

  EncoderInput encoder_input(SequenceRows rows, const DropoutPlan& plan = {}, bool keys = attends) const {
    rows.reversed = reverses_source();
    return {rows, config_.final_state, max_length(), plan, keys};
  }
  /// Encodes rows that were checked; keys are made if somebody attends, or is shown them. Throws where the
  /// encoder does not keep to its contract.
  void run_encoder(std::string_view where, Tape<Backend>& tape, const SequenceRows& rows,
                   const DropoutPlan& plan, Encoding<Cell, Backend>& encoding, bool keys = attends) const {
    encoding.outputs = encoding.values = {};  // of an earlier pass
    encoder_.run(tape, encoder_input(rows, plan, keys), encoding);
    detail::require_encoding(where, encoding, rows.count,
                             {config_.layers, config_.hidden, detail::key_width<Encoder>(config_),
                              detail::value_width<Encoder>(config_), keys});
  }

 private:
  static const Config& checked(const Config& config) {
    config.check();
    return config;
  }

  Config config_;
  Vocabularies vocabularies_;
  ParameterList parameters_;
  EncoderNetwork encoder_;
  DecoderNetwork decoder_;
};

}  // namespace bahdanau
