// EncoderDecoder: a cell, a score, a backend and an encoder composed into one model.
// It holds weights and vocabularies, encodes, and decodes step by step or teacher-forced.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/model/attention_decoder.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/compose.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/decoder_state.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/model/search_options.hpp>
#include <bahdanau/model/sentences.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// What a teacher-forced pass gives; rows beyond a target's length are 0.
template <class Scalar>
struct Decoded {
  Array<Scalar, 3> logits;     // [sentences, target steps, vocabulary]
  Array<Scalar, 3> attention;  // [sentences, target steps, source steps], or keys where those are others
  std::vector<Index> keys;     // how many of them are a sentence's; its tokens, as a rule
};

namespace detail {

/// What `translate` calls: decode/translate.hpp has it for every model. This one only says so.
template <class Model>
struct TextDecoding {
  static_assert(sizeof(Model) == 0,
                "bahdanau: `translate` is in decode/translate.hpp; include it, or bahdanau/bahdanau.hpp");
  static Translation one(...);
  static std::vector<Translation> all(...);
};

/// What `save`, `load` and `load_weights` call: io/model_file.hpp has it for every model. This one only says
/// so.
template <class Model>
struct ModelFile {
  static_assert(sizeof(Model) == 0,
                "bahdanau: `save` and `load` are in io/model_file.hpp; include it, or bahdanau/bahdanau.hpp");
  static void save(...);
  static Model load(...);
  static void load_weights(...);
};

}  // namespace detail

/// A recurrent encoder-decoder with attention. `Cell`: `Gru`, `Lstm`; `Score`: `Additive`, `ScaledDot`;
/// `Backend`: `Xtensor<T>`, `Thrust<T>`; `Encoder`: `Unidirectional`, `Bidirectional`; or types of one's own
/// that model the concepts of the same names.
///
/// A const model may be used from many threads at once.
template <class Cell, class Score, class Backend, class Encoder = Unidirectional>
class EncoderDecoder : detail::CheckedComposition<Cell, Score, Backend, Encoder> {
 public:
  // Only so that a wrong combination prints its one sentence and no more.
  EncoderDecoder(const Config&, const Vocabularies&, std::uint64_t = 0) {}
};

template <class CellPolicy, class ScorePolicy, class BackendPolicy, class EncoderPolicy>
requires detail::Composes<CellPolicy, ScorePolicy, BackendPolicy, EncoderPolicy>
class EncoderDecoder<CellPolicy, ScorePolicy, BackendPolicy, EncoderPolicy> {
 public:
  using Cell = CellPolicy;
  using Score = ScorePolicy;
  using Backend = BackendPolicy;
  using Encoder = EncoderPolicy;
  using Scalar = typename Backend::Scalar;
  using Encoded = bahdanau::Encoded<Cell, Backend>;
  using State = DecoderState<Cell, Backend>;
  using Decoder = detail::RecurrentDecoder<Cell, Score>;

  /// A new model with weights drawn from `seed`. Throws for sizes of 0, and for `FinalState::padded` without
  /// a `max_length`.
  EncoderDecoder(const Config& config, Vocabularies vocabularies, std::uint64_t seed = 0)
      : config_(checked(config)),
        vocabularies_(std::move(vocabularies)),
        encoder_(Scope(parameters_), vocabularies_.source.size(), config_),
        decoder_(Scope(parameters_), vocabularies_.target.size(), Encoder::directions * config_.hidden,
                 config_),
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
    detail::Encoding<Cell, Backend> encoding;
    encoder_.run(tape, encoder_input(detail::SequenceRows::of(source)), encoding);
    detail::require_sentence_keys("encode", encoding, source.rows());
    const Index* rows = tape.keep(encoding.packing.rank());  // states back in the order of the sentences
    typename Encoded::Data data;
    for (const auto& layer : encoding.last) {
      CellState<Cell, Backend> ordered;
      for (std::size_t p = 0; p < Cell::parts; ++p) ordered[p] = gather_rows(layer[p], rows, source.rows());
      data.last.push_back(detail::owned<Cell, Backend>(ordered));
    }
    data.outputs = detail::DeviceMatrix<Backend>::copy_of(encoding.outputs);
    data.prepared = detail::DeviceMatrix<Backend>::copy_of(decoder_.remember(encoding.outputs).keys);
    data.begin = encoding.begin;
    data.length = encoding.length;
    // The width of the rows, unless the encoder makes keys of another number.
    data.steps = data.length == source.lengths
                     ? source.width()
                     : static_cast<std::size_t>(*std::max_element(data.length.begin(), data.length.end()));
    data.score = Score::name;
    return Encoded(std::move(data));
  }

  /// The decoder's state before its first step. Throws for what a model of other sizes has encoded.
  State init_state(const Encoded& encoded) const {
    State state(encoded);
    require_fitting("init_state", state);
    return state;
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
    auto layers = detail::on_tape<Cell, Backend>(tape, state.layers());
    const Variable<Backend> embedded = decoder_.embed(tape, tape.keep(tokens), tokens.size());
    const Variable<Backend> weights = decoder_.step(memory(tape, source), spans.view(), embedded, layers);
    const Variable<Backend> logits = decoder_.logits(hidden(layers.back()));
    for (std::size_t l = 0; l < layers.size(); ++l)
      state.layers()[l] = detail::owned<Cell, Backend>(layers[l]);
    auto attention = Array<Scalar, 2>::from_shape({state.rows(), source.steps});
    std::fill(attention.begin(), attention.end(), Scalar(0));
    scatter_weights(weights, source.length,
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
    return decode_checked(detail::SequenceRows::of(inputs), inputs.width(), Decoder::Inputs::as_given, state);
  }

  /// Encodes the sources and decodes the targets, each shifted right behind `<bos>`: logits for every target
  /// token and the attention behind them.
  Decoded<Scalar> forward(const Batch& batch) const {
    batch.check(vocabularies_.source.size(), vocabularies_.target.size());
    State state = init_state(encode(batch.source));
    return decode_checked(detail::SequenceRows::of(batch.target), batch.target.width(),
                          Decoder::Inputs::shifted, state);
  }

  /// Translates text; include decode/translate.hpp. Nothing translates to nothing. Throws for text that is
  /// not UTF-8, for options out of range, and beyond `options.limits`.
  Translation translate(std::string_view sentence, const Greedy& options = {}) const {
    return detail::TextDecoding<EncoderDecoder>::one(*this, sentence, options);
  }
  Translation translate(std::string_view sentence, const Beam& options) const {
    return detail::TextDecoding<EncoderDecoder>::one(*this, sentence, options);
  }
  /// Several sentences, in their order: `{"go .", "i lost ."}`, or a range of strings, views or literals.
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Greedy& options = {}) const {
    return detail::TextDecoding<EncoderDecoder>::all(*this, sentences, options);
  }
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Beam& options) const {
    return detail::TextDecoding<EncoderDecoder>::all(*this, sentences, options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Greedy& options = {}) const {
    return detail::TextDecoding<EncoderDecoder>::all(*this, detail::views_of(sentences), options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Beam& options) const {
    return detail::TextDecoding<EncoderDecoder>::all(*this, detail::views_of(sentences), options);
  }

  /// Writes the model file: weights, sizes, vocabularies; atomically. Include io/model_file.hpp.
  void save(const std::filesystem::path& path) const { detail::ModelFile<EncoderDecoder>::save(*this, path); }
  /// Reads a model file that was made for these policies. Include io/model_file.hpp.
  static EncoderDecoder load(const std::filesystem::path& path) {
    return detail::ModelFile<EncoderDecoder>::load(path);
  }
  /// Fills the weights from a file that has just these tensors, by name. Include io/model_file.hpp.
  void load_weights(const std::filesystem::path& path) {
    detail::ModelFile<EncoderDecoder>::load_weights(*this, path);
  }

  // It models TrainableModel (train/trainable.hpp).
  using Batch = bahdanau::Batch;
  struct Scratch {
    detail::Encoding<Cell, Backend> encoding;
    detail::DecoderPass<Cell, Backend> pass;
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
    const auto source = detail::SequenceRows::of(batch.source, rows.first, rows.count);
    const auto target = detail::SequenceRows::of(batch.target, rows.first, rows.count);
    detail::Encoding<Cell, Backend>& encoding = scratch.encoding;
    detail::DecoderPass<Cell, Backend>& pass = scratch.pass;
    std::vector<Index>& labels = scratch.labels;  // no bindings: clang++ 14 does not capture them
    encoder_.run(tape, encoder_input(source, plan), encoding);
    detail::require_sentence_keys("loss", encoding, source.count);
    decoder_.run(tape,
                 {decoder_.remember(encoding.outputs), encoding.begin, encoding.length, encoding.last,
                  encoding.packing.rank()},
                 target, Decoder::Inputs::shifted, plan, pass);
    labels.resize(pass.packing.tokens());
    pass.packing.for_tokens(
        [&](std::size_t row, std::size_t sentence, std::size_t t) { labels[row] = target.at(sentence, t); });
    return Classification<Backend>{pass.outputs, decoder_.dense(), labels,
                                   1.0 / static_cast<double>(loss_divisor())};
  }
  /// What decides how weights are laid out.
  struct Sizes {
    std::size_t embed, hidden, layers, source, target, weights;
    bool operator==(const Sizes&) const = default;
    std::string text() const {
      const auto number = [](std::size_t n) { return detail::text(n); };
      return "embed " + number(embed) + ", hidden " + number(hidden) + ", layers " + number(layers) +
             ", vocabularies of " + number(source) + " and " + number(target) + ", " + number(weights) +
             " weights";
    }
  };
  Sizes sizes() const {
    return {config_.embed,
            config_.hidden,
            config_.layers,
            vocabularies_.source.size(),
            vocabularies_.target.size(),
            weights_.size()};
  }
  /// What a checkpoint must agree with.
  std::map<std::string, std::string> settings() const {
    const TextOptions& tokens = vocabularies_.text;
    return {{"cell", std::string(Cell::name)},
            {"score", std::string(Score::name)},
            {"encoder", std::string(Encoder::name)},
            {"final_state", std::string(name(config_.final_state))},
            {"text", std::string(name(tokens.tokens)) + (tokens.lowercase ? ", lower case, " : ", ") +
                         (tokens.max_length == 0 ? "uncut" : detail::text(tokens.max_length) + " tokens")}};
  }

  using EncoderNetwork = typename Encoder::template Network<Cell>;
  const EncoderNetwork& encoder_network() const { return encoder_; }
  const Decoder& decoder_network() const { return decoder_; }
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
  detail::EncoderInput encoder_input(const detail::SequenceRows& rows, const DropoutPlan& plan = {}) const {
    return {rows, config_.final_state, max_length(), plan};
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

  /// Throws for a state that a model of other sizes has made: its type does not show them.
  void require_fitting(std::string_view where, const State& state) const {
    constexpr std::string_view hint = "encode and decode with one model";
    const auto sizes = [](std::size_t layers, std::size_t hidden) {
      return detail::text(layers) + (layers == 1 ? " layer of " : " layers of ") + detail::text(hidden);
    };
    const auto& layers = state.layers();
    const std::size_t hidden = layers.empty() ? 0 : layers[0][0].cols;
    if (layers.size() != config_.layers || hidden != config_.hidden)
      fail(where, "a state of " + sizes(config_.layers, config_.hidden), sizes(layers.size(), hidden), hint);
    const auto& source = state.source().data();
    if (const std::size_t width = Encoder::directions * config_.hidden; source.outputs.cols != width)
      fail(where, "keys of width " + detail::text(width), detail::text(source.outputs.cols), hint);
    if (source.score != Score::name)  // of equal sizes, and so of equal widths, but with other keys
      fail(where, "keys for the score " + detail::quote(Score::name), detail::quote(source.score), hint);
  }

  static detail::Memory<Backend> memory(Tape<Backend>& tape, const typename Encoded::Data& source) {
    return {source.prepared.on(tape), source.outputs.on(tape)};
  }

  // Weights [pairs], query after query, each to where `place(query)` says.
  template <class Place>
  static void scatter_weights(const Variable<Backend>& weights, std::span<const Index> length, Place place) {
    std::vector<Scalar> host(weights.size());
    Backend::download(weights.value, host.size(), host.data());
    auto from = host.begin();
    for (std::size_t query = 0; from != host.end(); ++query) {
      std::copy_n(from, length[query], place(query));
      from += length[query];
    }
  }

  Decoded<Scalar> decode_checked(const detail::SequenceRows& rows, std::size_t width,
                                 typename Decoder::Inputs inputs, State& state) const {
    Tape<Backend> tape = inference();
    const auto& source = state.source().data();
    const auto first = detail::on_tape<Cell, Backend>(tape, state.layers());
    std::vector<Index> identity(rows.count);
    for (std::size_t r = 0; r < rows.count; ++r) identity[r] = static_cast<Index>(r);
    detail::DecoderPass<Cell, Backend> pass;
    decoder_.run(tape, {memory(tape, source), source.begin, source.length, first, identity}, rows, inputs, {},
                 pass);
    const std::size_t vocabulary = vocabularies_.target.size();
    auto result =
        Decoded<Scalar>{Array<Scalar, 3>::from_shape({rows.count, width, vocabulary}),
                        Array<Scalar, 3>::from_shape({rows.count, width, source.steps}), source.length};
    std::fill(result.logits.begin(), result.logits.end(), Scalar(0));
    std::fill(result.attention.begin(), result.attention.end(), Scalar(0));
    // from packed rows, longest target first, back to the order of the sentences
    const Array<Scalar, 2> logits = value<2>(decoder_.logits(pass.outputs));
    pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      std::copy_n(logits.data() + row * vocabulary, vocabulary,
                  result.logits.data() + (sentence * width + t) * vocabulary);
    });
    const auto order = pass.packing.order();
    for (std::size_t t = 0; t < pass.packing.steps(); ++t)
      scatter_weights(pass.weights[t], pass.length, [&](std::size_t query) {
        return result.attention.data() + (static_cast<std::size_t>(order[query]) * width + t) * source.steps;
      });
    for (std::size_t t = 0; t < width; ++t) {
      auto weights = Array<Scalar, 2>::from_shape({rows.count, source.steps});
      for (std::size_t b = 0; b < rows.count; ++b)
        std::copy_n(result.attention.data() + (b * width + t) * source.steps, source.steps,
                    weights.data() + b * source.steps);
      state.add_attention(std::move(weights));
    }
    const Index* rank = tape.keep(pass.packing.rank());
    for (std::size_t l = 0; l < pass.ended.size(); ++l)
      for (std::size_t p = 0; p < Cell::parts; ++p)
        state.layers()[l][p] =
            detail::DeviceMatrix<Backend>::copy_of(gather_rows(pass.ended[l][p], rank, rows.count));
    return result;
  }

  Config config_;
  Vocabularies vocabularies_;
  ParameterList parameters_;
  EncoderNetwork encoder_;
  Decoder decoder_;
  ParameterBlock<Backend> weights_;
  mutable WeightPanels<Backend> panels_;
};

}  // namespace bahdanau
