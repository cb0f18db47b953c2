// Policies of a stranger's, one of each kind and each as short as it can be: the page on policies shows them,
// and tests/family checks them in whole models.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace own {

namespace bd = bahdanau;

// A score that remembers what it has attended to: a(q, k) = w_vᵀ tanh(W_q q + W_k k) + v · (Σ of earlier α).
struct Forgetful {
  static constexpr std::string_view name = "forgetful";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    bd::Additive::Weights additive;
    bd::Parameter v;  // [1, 1]
  };
  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    return {bd::Additive::declare(scope, widths), scope.matrix("v.weight", 1, 1)};
  }
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights& w, const bd::Variable<B>& keys) {
    return bd::Additive::prepare(w.additive, keys);
  }

  template <bd::Backend B>
  struct State {
    bd::Variable<B> attended;  // [pairs]
    template <class F>
    void each_pair(F f) {
      f(attended);
    }
  };
  template <bd::Backend B>
  static State<B> start(const Weights&, bd::Tape<B>& tape, const bd::SpanView<B>& spans) {
    return {tape.zeros({spans.pairs})};
  }
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step, State<B>& state) {
    const std::size_t pairs = step.spans.pairs;
    const auto scores = bd::Additive::scores(w.additive, step.query, step.memory.keys, step.spans);
    const auto earlier = linear(state.attended.reshape({pairs, 1}), w.v);
    const auto alpha = softmax(scores + earlier.reshape({pairs}), step.spans);
    state.attended = state.attended + alpha;
    return {span_sum(step.drop(alpha), step.memory.values, step.spans), alpha};
  }
};

// A score with a number for each query that goes from step to step: p' = p + tanh(w q), a(q, k) = p' u·k.
struct Moving {
  static constexpr std::string_view name = "moving";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    bd::Parameter w, u;  // [1, query], [1, key]
  };
  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    return {scope.matrix("w.weight", 1, widths.query), scope.matrix("u.weight", 1, widths.key)};
  }
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights& w, const bd::Variable<B>& keys) {
    return linear(keys, w.u);  // [keys, 1]
  }

  template <bd::Backend B>
  struct State {
    bd::Variable<B> position;  // [queries, 1]
    template <class F>
    void each_row(F f) {
      f(position);
    }
  };
  template <bd::Backend B>
  static State<B> start(const Weights&, bd::Tape<B>& tape, const bd::SpanView<B>& spans) {
    return {tape.zeros({spans.queries, 1})};
  }
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step, State<B>& state) {
    state.position = state.position + tanh(linear(step.query, w.w));
    const auto alpha =
        softmax(span_dot(state.position, step.memory.keys, step.spans, typename B::Scalar(1)), step.spans);
    return {span_sum(step.drop(alpha), step.memory.values, step.spans), alpha};
  }
};

// A score whose contexts have a width of their own: two rounds of attention side by side.
struct Twofold {
  static constexpr std::string_view name = "twofold";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    bd::Additive::Weights first, second;
  };
  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    return {bd::Additive::declare(scope.in("first."), widths),
            bd::Additive::declare(scope.in("second."), {widths.query, widths.value, widths.hidden})};
  }
  static std::size_t context_width(const bd::ScoreWidths& widths) { return 2 * widths.value; }
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights& w, const bd::Variable<B>& keys) {
    return bd::Additive::prepare(w.first, keys);
  }
  /// What the second round compares, behind the values.
  template <bd::Backend B>
  static bd::Variable<B> prepare_values(const Weights& w, const bd::Variable<B>& values) {
    return bd::concat_columns<B>({values, bd::Additive::prepare(w.second, values)});
  }
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step) {
    const auto& both = step.memory.values;
    const std::size_t hidden = step.memory.keys.cols(), width = both.cols() - hidden;
    const auto values = slice_columns(both, 0, width), keys = slice_columns(both, width, hidden);
    const auto alpha =
        softmax(bd::Additive::scores(w.first, step.query, step.memory.keys, step.spans), step.spans);
    const auto beta = softmax(bd::Additive::scores(w.second, step.query, keys, step.spans), step.spans);
    return {bd::concat_columns<B>({span_sum(step.drop(alpha), values, step.spans),
                                   span_sum(step.drop(beta, 1), values, step.spans)}),
            alpha};
  }
};

// An encoder without recurrence: of every second token the embedding is a key, and what a layer makes of it a
// value of another width; the decoder starts from the sentence's first token.
struct Skipping {
  static constexpr std::string_view name = "skipping";
  static std::size_t key_width(const bd::Config& config) { return config.embed; }
  static std::size_t value_width(const bd::Config& config) { return config.hidden + 1; }

  template <class Cell>
  class Network {
   public:
    Network(bd::Scope root, std::size_t vocabulary, const bd::Config& config) : layers_(config.layers) {
      bd::Scope scope = root.in("encoder.");
      embedding_ =
          scope.add("embedding.weight", {vocabulary, config.embed}, bd::Initializer::standard_normal());
      value_ = {scope.matrix("value.weight", config.hidden + 1, config.embed),
                scope.bias("value.bias", config.hidden + 1, config.embed)};
      first_ = {scope.matrix("first.weight", config.hidden, config.embed),
                scope.bias("first.bias", config.hidden, config.embed)};
    }

    template <bd::Backend B>
    void run(bd::Tape<B>& tape, const bd::EncoderInput& input, bd::Encoding<Cell, B>& out) const {
      const bd::SequenceRows& sentences = input.sentences;
      out.packing.assign({sentences.lengths, sentences.count});
      std::vector<bd::Index> ids, firsts;
      out.begin.clear();
      out.length.clear();
      for (std::size_t b = 0; b < sentences.count; ++b) {
        out.begin.push_back(static_cast<bd::Index>(ids.size()));
        for (std::size_t t = 0; t < sentences.length(b); t += 2) ids.push_back(sentences.at(b, t));
        out.length.push_back(static_cast<bd::Index>(ids.size()) - out.begin.back());
      }
      for (const bd::Index b : out.packing.order())
        firsts.push_back(sentences.at(static_cast<std::size_t>(b), 0));
      const auto table = tape[embedding_];
      out.outputs = gather_rows(table, std::span<const bd::Index>(ids));
      out.values = tanh(linear(out.outputs, value_.weight, value_.bias));
      const auto first =
          tanh(linear(gather_rows(table, std::span<const bd::Index>(firsts)), first_.weight, first_.bias));
      out.last.assign(layers_, {});
      for (auto& state : out.last) state.fill(first);
    }

   private:
    std::size_t layers_;
    bd::Parameter embedding_;
    bd::Dense value_, first_;
  };
};

// A decoder with a state of its own: it hands on half of the contexts so far.
struct Fading {
  static constexpr std::string_view name = "fading";
  static constexpr bool attends_before_step = true;

  template <class Cell>
  class Network {
   public:
    template <bd::Backend B>
    struct State {
      bd::StackedState<Cell, B> cells;
      bd::Variable<B> faded;  // [rows, context]
      template <class F>
      void each(F f) {
        cells.each(f);
        f(faded);
      }
    };

    Network(bd::Scope scope, const bd::DecoderSizes& sizes)
        : cells_(scope, sizes.context + sizes.embed, sizes), sizes_(sizes) {}
    std::size_t output_width() const { return sizes_.hidden; }

    template <bd::Backend B>
    void start(bd::Tape<B>& tape, std::span<const bd::CellState<Cell, B>> first, State<B>& state) const {
      state.cells.start(first);
      state.faded = tape.zeros({hidden(first[0]).rows(), sizes_.context});
    }
    template <bd::Backend B>
    bd::Variable<B> known(const bd::TokenInput<B>& tokens) const {
      return cells_.known(tokens, sizes_.context);
    }
    template <class Score, bd::Backend B>
    bd::StepOutput<B> step(bd::DecoderStep<Score, B>& step, const bd::Variable<B>& known,
                           State<B>& state) const {
      const auto context = step.attend(state.cells.top());
      const auto before = state.cells.top();
      state.faded = typename B::Scalar(0.5) * (state.faded + context);
      cells_.add_input(known, state.faded);
      return {cells_.step(step, known, state.cells), state.faded, before};
    }

   private:
    bd::StackedCells<Cell> cells_;
    bd::DecoderSizes sizes_;
  };
};

// A readout that reads all there is: s ⊙ σ(W_b b + W_c c + W_y y), b the state before.
struct Gated {
  static constexpr std::string_view name = "gated";
  static constexpr bd::ReadoutInputs reads{.before = true, .context = true, .token = true};
  struct Weights {
    bd::Parameter before, context, token;
  };
  static std::size_t width(const bd::ReadoutSizes& sizes) { return sizes.state; }
  static Weights declare(bd::Scope scope, const bd::ReadoutSizes& sizes) {
    return {scope.matrix("gate.before.weight", sizes.state, sizes.hidden),
            scope.matrix("gate.context.weight", sizes.state, sizes.context),
            scope.matrix("gate.token.weight", sizes.state, sizes.embed)};
  }
  template <bd::Backend B>
  static bd::Variable<B> features(const Weights& w, const bd::Features<B>& in) {
    const auto gate = linear(in.before, w.before);
    add_linear(gate, in.context, w.context);
    add_linear(gate, in.token, w.token);
    return in.state * sigmoid(gate);
  }
};

static_assert(bd::Score<Forgetful> && bd::Score<Moving> && bd::Score<Twofold>);
static_assert(bd::Encoder<Skipping> && bd::Decoder<Fading> && bd::Readout<Gated>);

}  // namespace own
