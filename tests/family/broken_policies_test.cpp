// Policies that fit their concepts and break their contracts: an error that names them, and never a wrong
// number.
#include <span>
#include <string>
#include <vector>

#include "../docs/own_policies.hpp"
#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using B = TestBackend<double>;

namespace {

enum class Mistake {
  none,
  packing,
  layer,
  rows,
  narrow_values,
  wide_context,
  wide_weights,
  no_attend,
  twice,
  part,
  wide_part,
  pairs_as_rows,
  rows_as_pairs,
  first_rows,
  no_first,
  first_column,
};
Mistake mistake = Mistake::none;

struct BrokenEncoder : own::Skipping {
  static constexpr std::string_view name = "broken";
  template <class Cell>
  class Network : public own::Skipping::Network<Cell> {
   public:
    using own::Skipping::Network<Cell>::Network;
    template <bd::Backend B>
    void run(bd::Tape<B>& tape, const bd::EncoderInput& input, bd::Encoding<Cell, B>& out) const {
      own::Skipping::Network<Cell>::run(tape, input, out);
      if (mistake == Mistake::packing) out.packing.assign({});
      if (mistake == Mistake::layer) out.last.pop_back();
      if (mistake == Mistake::rows)
        for (auto& state : out.last) state.fill(state[0].row_range(0, 1));
      if (mistake == Mistake::narrow_values) out.values = slice_columns(out.values, 0, 3);
    }
  };
};

struct BrokenCell : bd::Lstm {
  static constexpr std::string_view name = "broken";
  template <bd::Backend B>
  static bd::CellState<BrokenCell, B> step(const Weights& w, const bd::Variable<B>& projected,
                                           const bd::CellState<BrokenCell, B>& state) {
    const auto next = bd::Lstm::step(w, projected, state);
    if (mistake == Mistake::part) return {next[0]};
    if (mistake == Mistake::wide_part) return {next[0], bd::concat_columns<B>({next[1], next[1]})};
    return next;
  }
};

struct BrokenMemory : own::Forgetful {
  static constexpr std::string_view name = "broken";
  template <bd::Backend B>
  struct State {
    bd::Variable<B> attended, position;
    template <class F>
    void each_pair(F f) {
      f(mistake == Mistake::pairs_as_rows ? position : attended);
    }
    template <class F>
    void each_row(F f) {
      f(mistake == Mistake::pairs_as_rows ? attended : position);
    }
  };
  template <bd::Backend B>
  static State<B> start(const Weights&, bd::Tape<B>& tape, const bd::SpanView<B>& spans) {
    const auto pairs = tape.zeros({spans.pairs}), rows = tape.zeros({spans.queries, 1});
    return {mistake == Mistake::rows_as_pairs ? rows : pairs, rows};
  }
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step, State<B>& state) {
    own::Forgetful::State<B> forgetful{state.attended};
    const auto attended = own::Forgetful::attend(w, step, forgetful);
    state.attended = forgetful.attended;
    return attended;
  }
};

// It reads the token, and does not say so.
struct BrokenReadout : bd::ConcatReadout {
  static constexpr std::string_view name = "broken";
  static constexpr bd::ReadoutInputs reads{.context = true};
};

struct BrokenScore : bd::Additive {
  static constexpr std::string_view name = "broken";
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step) {
    const auto alpha = softmax(scores(w, step.query, step.memory.keys, step.spans), step.spans);
    const auto context = span_sum(alpha, step.memory.values, step.spans);
    if (mistake == Mistake::wide_context) return {bd::concat_columns<B>({context, context}), alpha};
    if (mistake == Mistake::wide_weights) {
      const auto column = alpha.reshape({alpha.size(), 1});
      return {context, bd::concat_columns<B>({column, column})};
    }
    return {context, alpha};
  }
};

struct BrokenDecoder {
  static constexpr std::string_view name = "broken";
  static constexpr bool attends_before_step = true;
  template <class Cell>
  class Network : public bd::AttendThenStep::Network<Cell> {
   public:
    using Base = bd::AttendThenStep::Network<Cell>;
    using Base::Base;
    template <bd::Backend B>
    using State = bd::StackedState<Cell, B>;
    template <bd::Backend B>
    void start(bd::Tape<B>& tape, std::span<const bd::CellState<Cell, B>> first, State<B>& state) const {
      Base::start(tape, first, state);
      if (mistake == Mistake::first_rows) state.layers[0][0] = state.layers[0][0].row_range(0, 0);
      if (mistake == Mistake::no_first) state.layers[0][0] = {};
    }
    template <bd::Backend B>
    bd::Variable<B> known(const bd::TokenInput<B>& tokens) const {
      return mistake == Mistake::first_column ? this->cells_.known(tokens, 0) : Base::known(tokens);
    }
    template <class S, bd::Backend B>
    bd::StepOutput<B> step(bd::DecoderStep<S, B>& step, const bd::Variable<B>& known, State<B>& state) const {
      if (mistake == Mistake::no_attend) return {state.top(), state.top(), state.top()};
      if (mistake == Mistake::twice) step.attend(state.top());
      return Base::step(step, known, state);
    }
  };
};

/// What training, a pass, a step and a beam say of a mistake: all the same, or nothing.
template <class Model>
std::string said(Mistake which) {
  mistake = Mistake::none;
  Model model({.embed = 5, .hidden = 5, .layers = 2}, small_vocabularies(), 1);
  mistake = which;
  const bd::Batch batch = ragged_batch();
  const std::string training =
      message_of([&] { bd::Training<Model>(model, bd::Adam{}, {.threads = 1}).loss(batch); });
  const std::string pass = message_of([&] { model.forward(batch); });
  const std::string beam =
      message_of([&] { model.translate("4 5 6", bd::Beam{.width = 3, .max_length = 4}); });
  mistake = Mistake::none;
  INFO("training: " << training << "\npass: " << pass << "\nbeam: " << beam);
  CHECK_FALSE(training.empty());
  CHECK_FALSE(pass.empty());
  CHECK_FALSE(beam.empty());
  return training;
}

}  // namespace

TEST_CASE("an encoder that breaks its contract is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B, BrokenEncoder>;
  CHECK(said<Model>(Mistake::packing) == "loss: expected sentences in the encoder's packing: 4, got 0");
  CHECK(said<Model>(Mistake::layer) ==
        "loss: expected first states from the encoder, one per layer: 2, got 1");
  CHECK(said<Model>(Mistake::rows) == "loss: expected first states [4, 5] from the encoder, got [1, 5]");
  CHECK(said<Model>(Mistake::narrow_values) == "loss: expected values of width 6, got 3");
}

TEST_CASE("a cell that does not return its whole state is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<BrokenCell, bd::Additive, B>;
  CHECK(said<Model>(Mistake::part) ==
        "cell \"broken\": expected part \"c\" [4, 5], got none; step returns all parts of the state");
  CHECK(said<Model>(Mistake::wide_part) ==
        "cell \"broken\": expected part \"c\" [4, 5], got [4, 10]; step returns all parts of the state");
  // The encoder is another one, so the decoder's cells are the first to step.
  using Decoding = bd::EncoderDecoder<BrokenCell, bd::Additive, B, own::Skipping>;
  CHECK(said<Decoding>(Mistake::part) ==
        "cell \"broken\": expected part \"c\" [4, 5], got none; step returns all parts of the state");
}

TEST_CASE("a score that takes pairs for rows is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, BrokenMemory, B>;
  CHECK(said<Model>(Mistake::pairs_as_rows) ==
        "score \"broken\": expected a first state [4, any], got [15]; each_row wants arrays [queries, any], "
        "each_pair [pairs]");
  CHECK(said<Model>(Mistake::rows_as_pairs) ==
        "score \"broken\": expected a first state [15], got [4, 1]; each_row wants arrays [queries, any], "
        "each_pair [pairs]");
}

TEST_CASE("a readout that reads what it does not name is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B, BrokenReadout>;
  CHECK(said<Model>(Mistake::none) ==
        "concat_columns: expected arrays on a tape, got one that was never made; a readout names what it "
        "reads in reads");
}

TEST_CASE("a score that breaks its contract is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, BrokenScore, B>;
  CHECK(said<Model>(Mistake::wide_context) == "score \"broken\": expected contexts [4, 5], got [4, 10]");
  CHECK(
      said<Model>(Mistake::wide_weights).starts_with("score \"broken\": expected weights [15], got [15, 2]"));
}

TEST_CASE("a decoder that breaks its contract is told so", "[policies][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B, BrokenDecoder>;
  CHECK(said<Model>(Mistake::no_attend) ==
        "decoder \"broken\": expected a step that calls attend, got none; it has no context otherwise");
  CHECK(said<Model>(Mistake::twice) == "DecoderStep::attend: expected one call per step, got another one");
  CHECK(said<Model>(Mistake::first_rows) ==
        "decoder \"broken\": expected a first state [4, any], got [0, 5]; start fills all that each calls f "
        "for");
  CHECK(said<Model>(Mistake::no_first) ==
        "decoder \"broken\": expected a first state [4, any], got none; start fills all that each calls f "
        "for");
  CHECK(said<Model>(Mistake::first_column) ==
        "StackedCells::known: expected the last 5 of the columns of an input of width 10, got those from 0 "
        "on");
}

TEST_CASE("what another model has encoded is refused, whatever is alike", "[policies][error]") {
  mistake = Mistake::none;
  using One = bd::EncoderDecoder<bd::Gru, bd::Additive, B, own::Skipping>;
  using Other = bd::EncoderDecoder<bd::Gru, bd::Additive, B, BrokenEncoder>;
  const bd::Config config{.embed = 5, .hidden = 5};
  const One one(config, small_vocabularies());
  const Other other(config, small_vocabularies());
  CHECK(message_of([&] { other.init_state(one.encode(ragged_batch().source)); }) ==
        "init_state: expected keys from the encoder \"broken\", got \"skipping\"; encode and decode with one "
        "model");
}

TEST_CASE("weights from a model file of other policies are refused, though their shapes fit",
          "[family][file]") {
  const TemporaryDirectory folder;
  using Before = bd::EncoderDecoder<bd::GruResetBefore, bd::Additive, B, bd::Bidirectional>;
  using Usual = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::Bidirectional>;
  const bd::Config config{.embed = 5, .hidden = 6, .layers = 1},
      mean{.embed = 5, .hidden = 6, .layers = 1, .bridge = bd::Bridge::mean};
  Before(config, small_vocabularies()).save(folder / "before");
  Usual(mean, small_vocabularies()).save(folder / "mean");
  Usual model(config, small_vocabularies());
  CHECK(message_of([&] { model.load_weights(folder / "before"); }) ==
        (folder / "before").string() +
            ": expected a model with cell \"gru\", got \"gru_reset_before\"; load it into an EncoderDecoder "
            "with that "
            "policy");
  CHECK(message_of([&] { model.load_weights(folder / "mean"); }) ==
        (folder / "mean").string() + ": expected a model with bridge \"both\", got \"mean\"");
  // Tensors are the same, and what is computed from them is not.
  bd::Config residual = config, padded = config;
  residual.residual = true;
  padded.final_state = bd::FinalState::padded;
  Usual(residual, small_vocabularies()).save(folder / "residual");
  Usual(padded, small_vocabularies()).save(folder / "padded");
  CHECK(message_of([&] { model.load_weights(folder / "residual"); }) ==
        (folder / "residual").string() + ": expected a model with residual \"false\", got \"true\"");
  CHECK(message_of([&] { model.load_weights(folder / "padded"); }) ==
        (folder / "padded").string() + ": expected a model with final_state \"valid\", got \"padded\"");
}
