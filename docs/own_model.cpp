// The program of the page "A model of one's own".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

// f = σ(x_f + U_f h + b_f), n = tanh(x_n + f ⊙ (U_n h + b_n)), h' = (1 − f) ⊙ h + f ⊙ n
struct MinimalGated {
  static constexpr std::string_view name = "minimal_gated";              // what a model file calls it
  static constexpr std::size_t parts = 1;                                // arrays in its state,
  static constexpr std::array<std::string_view, parts> part_names{"h"};  // and their names: h is the first
  using Weights = bd::RecurrentWeights;  // weight_ih, weight_hh, bias_ih, bias_hh

  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, /*gates=*/2, inputs, hidden);  // rows stacked f, n
  }

  // projected = W_ih x + b_ih [rows, 2 · hidden], state {h [rows, hidden]} to {h'}
  template <bd::Backend B>
  static bd::CellState<MinimalGated, B> step(const Weights& w, const bd::Variable<B>& projected,
                                             const bd::CellState<MinimalGated, B>& state) {
    const bd::Variable<B>& h = state[0];
    const std::size_t width = h.cols();
    const auto u = linear(h, w.weight_hh, w.bias_hh);
    const auto f = sigmoid(slice_columns(projected, 0, width) + slice_columns(u, 0, width));
    const auto n = tanh(slice_columns(projected, width, width) + f * slice_columns(u, width, width));
    return {h + f * (n - h)};
  }
};
static_assert(bd::Cell<MinimalGated>);

// a(q, k) = w_vᵀ tanh(W_q q + W_k k + m w_m), where m is the sum of the earlier α of key k
struct Coverage {
  static constexpr std::string_view name = "coverage";
  static constexpr bool needs_equal_widths = false;  // of queries and keys
  struct Weights {
    bd::Parameter W_q, W_k, w_m, w_v;
  };

  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    return {scope.matrix("W_q.weight", widths.hidden, widths.query),
            scope.matrix("W_k.weight", widths.hidden, widths.key),
            scope.matrix("w_m.weight", widths.hidden, 1), scope.matrix("w_v.weight", 1, widths.hidden)};
  }

  // Once for a sentence: keys [keys, key] to W_k k [keys, hidden].
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights& w, const bd::Variable<B>& keys) {
    return linear(keys, w.W_k);
  }

  // What goes from step to step, and its first value.
  template <bd::Backend B>
  struct State {
    bd::Variable<B> covered;  // m [pairs]
    template <class F>
    void each_pair(F f) {
      f(covered);
    }
  };
  template <bd::Backend B>
  static State<B> start(const Weights&, bd::Tape<B>& tape, const bd::SpanView<B>& spans) {
    return {tape.zeros({spans.pairs})};
  }

  // One round of attention: contexts and α; the state moves on.
  template <bd::Backend B>
  static bd::Attended<B> attend(const Weights& w, const bd::AttentionStep<B>& step, State<B>& state) {
    const bd::SpanView<B>& spans = step.spans;
    const std::size_t pairs = spans.pairs;
    const auto q = gather_rows(linear(step.query, w.W_q), spans.query_of_pair, pairs);  // [pairs, hidden]
    const auto k = gather_rows(step.memory.keys, spans.key_of_pair, pairs);
    const auto m = linear(state.covered.reshape({pairs, 1}), w.w_m);
    const auto scores = linear(tanh(q + k + m), w.w_v).reshape({pairs});
    const auto alpha = softmax(scores, spans);  // over the keys of each query
    state.covered = state.covered + alpha;
    return {span_sum(step.drop(alpha), step.memory.values, spans), alpha};
  }
};
static_assert(bd::Score<Coverage>);

// x = word + position, then stacked cells; keys are the top layer's outputs h, values are [h ; x]
template <std::size_t Positions>
struct Positional {
  // A size of its own is part of the type, and of the name.
  static inline const std::string name = "positional(" + std::to_string(Positions) + ")";
  static std::size_t key_width(const bd::Config& config) { return config.hidden; }
  static std::size_t value_width(const bd::Config& config) { return config.hidden + config.embed; }

  template <class Cell>
  class Network {
   public:
    Network(bd::Scope root, std::size_t vocabulary, const bd::Config& config) : hidden_(config.hidden) {
      bd::Scope scope = root.in("encoder.");
      word_ = scope.add("embedding.weight", {vocabulary, config.embed}, bd::Initializer::standard_normal());
      position_ = scope.add("position.weight", {Positions, config.embed}, bd::Initializer::standard_normal());
      for (std::size_t l = 0; l < config.layers; ++l)
        layers_.push_back(Cell::declare(scope.in("rnn.", "_l" + std::to_string(l)),
                                        l == 0 ? config.embed : config.hidden, config.hidden));
    }

    template <bd::Backend B>
    void run(bd::Tape<B>& tape, const bd::EncoderInput& input, bd::Encoding<Cell, B>& out) const {
      const bd::SequenceRows& sentences = input.sentences;
      // Packed: step after step, the longest sentence first, without padding.
      out.packing.assign({sentences.lengths, sentences.count});
      const std::size_t tokens = out.packing.tokens();
      std::vector<bd::Index> words(tokens), positions(tokens), names(tokens);
      out.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
        words[row] = sentences.at(sentence, t);
        positions[row] = static_cast<bd::Index>(std::min(t, Positions - 1));  // later ones share the last
        names[row] = static_cast<bd::Index>((sentences.first + sentence) * sentences.stride + t);
      });
      const auto x = gather_rows(tape[word_], words) + gather_rows(tape[position_], positions);
      const bd::Index* const name_of_row = tape.keep(names);
      auto h = x;
      out.last.clear();
      for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (l > 0) h = dropout(h, input.dropout.encoder(l), name_of_row);  // between layers, while training
        const auto layer = bd::run_layer<Cell, B>(layers_[l], hidden_, h, out.packing);
        h = layer.outputs;               // [tokens, hidden], packed as x is
        out.last.push_back(layer.last);  // the decoder's first state, in the packing's order
      }
      // Keys: sentence after sentence. Token t of sentence b is packed row start(t) + rank()[b].
      std::vector<bd::Index> rows;
      out.begin.clear();
      out.length.clear();
      for (std::size_t b = 0; b < sentences.count; ++b) {
        out.begin.push_back(static_cast<bd::Index>(rows.size()));
        out.length.push_back(static_cast<bd::Index>(sentences.length(b)));
        for (std::size_t t = 0; t < sentences.length(b); ++t)
          rows.push_back(static_cast<bd::Index>(out.packing.start(t)) + out.packing.rank()[b]);
      }
      out.outputs = gather_rows(h, rows);
      out.values = bd::concat_columns<B>({out.outputs, gather_rows(x, rows)});
    }

   private:
    std::size_t hidden_;
    bd::Parameter word_, position_;
    std::vector<typename Cell::Weights> layers_;
  };
};
static_assert(bd::Encoder<Positional<20>>);

// s' = Cell([c ; y], s) with the context c of the step before; c' from query s'
struct ContextFeeding {
  static constexpr std::string_view name = "context_feeding";
  static constexpr bool attends_before_step = false;  // its query is known after the step

  template <class Cell>
  class Network {
   public:
    // What goes from step to step.
    template <bd::Backend B>
    struct State {
      bd::StackedState<Cell, B> cells;
      bd::Variable<B> context;  // [rows, context]
      template <class F>
      void each(F f) {
        cells.each(f);
        f(context);
      }
    };

    Network(bd::Scope scope, const bd::DecoderSizes& sizes)
        : cells_(scope, /*inputs=*/sizes.context + sizes.embed, sizes), sizes_(sizes) {}
    std::size_t output_width() const { return sizes_.hidden; }

    // Before the first step; `first` is what the encoder left in `last`, in the order of these rows.
    template <bd::Backend B>
    void start(bd::Tape<B>& tape, std::span<const bd::CellState<Cell, B>> first, State<B>& state) const {
      state.cells.start(first);
      state.context = tape.zeros({hidden(first[0]).rows(), sizes_.context});
    }

    // What depends on the previous tokens alone, for all steps at once: y's part of W_ih [c ; y] + b_ih.
    template <bd::Backend B>
    bd::Variable<B> known(const bd::TokenInput<B>& tokens) const {
      return cells_.known(tokens, /*first column of y=*/sizes_.context);
    }

    template <class Score, bd::Backend B>
    bd::StepOutput<B> step(bd::DecoderStep<Score, B>& step, const bd::Variable<B>& known,
                           State<B>& state) const {
      cells_.add_input(known, state.context);  // the first columns' part
      const auto top = cells_.step(step, known, state.cells);
      state.context = step.attend(top);
      return {.output = top, .context = state.context, .before = {}};
    }

   private:
    bd::StackedCells<Cell> cells_;
    bd::DecoderSizes sizes_;
  };
};
static_assert(bd::Decoder<ContextFeeding>);

// t = tanh((1 − z) ⊙ s + z ⊙ C c), z = σ(W_s s + W_c c + W_y y + b)
struct ContextGate {
  static constexpr std::string_view name = "context_gate";
  static constexpr bd::ReadoutInputs reads{.context = true, .token = true};  // besides the decoder's output
  struct Weights {
    bd::Parameter state, context, token, bias, value;
  };

  static std::size_t width(const bd::ReadoutSizes& sizes) { return sizes.state; }
  static Weights declare(bd::Scope scope, const bd::ReadoutSizes& sizes) {
    bd::Scope gate = scope.in("gate.");
    return {gate.matrix("state.weight", sizes.state, sizes.state),
            gate.matrix("context.weight", sizes.state, sizes.context),
            gate.matrix("token.weight", sizes.state, sizes.embed),
            gate.bias("state.bias", sizes.state, sizes.state),
            scope.matrix("value.weight", sizes.state, sizes.context)};
  }

  // Each [rows, its width] to [rows, width]
  template <bd::Backend B>
  static bd::Variable<B> features(const Weights& w, const bd::Features<B>& in) {
    const auto z = sigmoid(linear(in.state, w.state, w.bias) + linear(in.context, w.context) +
                           linear(in.token, w.token));
    return tanh(in.state + z * (linear(in.context, w.value) - in.state));
  }
};
static_assert(bd::Readout<ContextGate>);

template <class Backend>
using Mine = bd::EncoderDecoder<MinimalGated, Coverage, Backend, Positional<20>, ContextFeeding, ContextGate>;
using Model = Mine<bd::Xtensor<double>>;

// Whether training's gradient is that of its loss: (L(w + ε) − L(w − ε)) / 2ε, for some weights of each
// parameter.
bool gradient_is_right(Model& model, const bd::Batch& batch) {
  bd::Training training(model, bd::Adam{}, {.checked = true});
  training.loss(batch);
  training.backward();
  bool right = true;
  for (const auto& entry : model.parameters().entries()) {
    const std::vector<double> gradient = training.gradients().read(entry.parameter);
    const std::vector<double> weights = model.weights().read(entry.parameter);
    // The five with the largest gradients, and some of the others: of an embedding most are 0.
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return std::abs(gradient[a]) > std::abs(gradient[b]); });
    if (gradient[order[0]] == 0) std::cout << entry.name << ": its gradient is 0, it is not used\n";
    for (std::size_t k = 0; k < order.size(); k += k < 4 ? 1 : 1 + order.size() / 5) {
      const std::size_t i = order[k];
      const auto loss_at = [&](double weight) {
        std::vector<double> changed = weights;
        changed[i] = weight;
        model.weights().write(entry.parameter, changed);
        return training.evaluate(batch).sum;
      };
      const double slope = (loss_at(weights[i] + 1e-5) - loss_at(weights[i] - 1e-5)) / 2e-5;
      if (std::abs(slope - gradient[i]) < 1e-7 * (1 + std::abs(slope))) continue;
      right = false;
      std::cout << entry.name << ", weight " << i << ": the loss's slope is " << slope << ", its gradient "
                << gradient[i] << '\n';
    }
    model.weights().write(entry.parameter, weights);
  }
  return right;
}

// Whether a sentence's probabilities are the same alone and among others, and in a search.
bool sentences_are_apart(const Model& model, const std::vector<bd::SentencePair>& pairs) {
  const auto alike = [](const bd::Translation& a, const bd::Translation& b) {
    return std::equal(a.log_probs.begin(), a.log_probs.end(), b.log_probs.begin(), b.log_probs.end(),
                      [](double p, double q) { return std::abs(p - q) < 1e-9; });
  };
  const auto score = [&](const bd::SentencePair& pair) {
    return bd::score_pairs(model, std::vector{pair})[0];
  };
  const auto together = bd::score_pairs(model, pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bd::Translation found = model.translate(pairs[i].source, bd::Beam{.width = 3});
    if (!alike(score(pairs[i]), together[i]) || !alike(found, score({pairs[i].source, found.text})))
      return false;
  }
  return true;
}

int main() {
  // Two subjects, six adjectives, and "very" up to three times; one sentence is kept for later.
  const std::string kept = "she is very very sad .";
  const std::vector<bd::SentencePair> subjects{{"he", "il"}, {"she", "elle"}};
  const std::vector<bd::SentencePair> adjectives{{"calm", "calme"}, {"sad", "triste"},  {"young", "jeune"},
                                                 {"rich", "riche"}, {"poor", "pauvre"}, {"quick", "rapide"}};
  std::vector<bd::SentencePair> pairs;
  for (const auto& [who, qui] : subjects)
    for (const auto& [adjective, adjectif] : adjectives)
      for (std::string very, tres; very.size() < 16; very += "very ", tres += "très ") {
        const std::string source = who + " is " + very + adjective + " .";
        if (source != kept) pairs.push_back({source, qui + " est " + tres + adjectif + " ."});
      }
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});

  Model small({.embed = 3, .hidden = 4, .layers = 2}, corpus.vocabularies(), /*seed=*/1);
  const std::vector<std::size_t> ragged{0, 3, 1, 10};  // pairs of different lengths, not sorted
  std::cout << (gradient_is_right(small, bd::make_batch(corpus, ragged)) ? "the gradient is right\n"
                                                                         : "the gradient is wrong\n");

  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.02},
                      {.epochs = 40, .batch = 12, .clip = 1, .progress = bd::Progress::silent});
  trainer.fit(corpus);
  std::cout << (sentences_are_apart(model, {pairs[0], pairs[3], pairs[1], pairs[10]})
                    ? "sentences are apart\n"
                    : "sentences are mixed up\n");

  model.save("own.safetensors");
  const auto file = bd::ModelDescription::read(bd::SafetensorsFile::open("own.safetensors"));
  std::cout << file.cell << ", " << file.score << ", " << file.encoder << ", " << file.decoder << ", "
            << file.readout << '\n';

  const Model loaded = Model::load("own.safetensors");
  for (const auto& t : loaded.translate({"he is poor .", "he is very very very quick ."}))
    std::cout << t.text << '\n';
  const bd::Translation t = loaded.translate(kept, bd::Beam{.width = 3});
  std::cout << t.text << '\n';

  const std::size_t last = 4;  // "triste", behind "elle est très très"
  std::size_t most = 0;
  for (std::size_t k = 0; k < t.source.size(); ++k)
    if (t.attention(last, k) > t.attention(last, most)) most = k;
  std::cout << t.target[last] << " looks at " << t.source[most] << '\n';
  bd::plot::heatmap("own.svg", t);
}
