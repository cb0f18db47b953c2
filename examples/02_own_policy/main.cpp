// A score and a cell of one's own: each is one small struct, and its gradient comes from the tape.
// They go into EncoderDecoder beside the built-in ones, are checked against central differences, and learn.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// The bilinear score a(q, k) = qᵀ W k. It models bd::Score (score/score.hpp).
struct Bilinear {
  // What a model file calls it.
  static constexpr std::string_view name = "bilinear";
  // W turns keys of any width into queries' width, so a Bidirectional encoder is welcome.
  static constexpr bool needs_equal_widths = false;
  // The parameters: places in the model's block of weights, not numbers.
  struct Weights {
    bd::Parameter W;  // [query, key]
  };

  // Called once, when a model is made. The scope adds its prefix: this one is decoder.attention.W.weight.
  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    return {scope.matrix("W.weight", widths.query, widths.key)};
  }

  // What depends on the keys alone, once for a source sentence: W k. keys [keys, key] to [keys, query].
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights& weights, const bd::Variable<B>& keys) {
    return linear(keys, weights.W);
  }

  // At every step: q · W k. query [queries, query], prepared [keys, query] to one number per pair [pairs].
  // `spans` says which keys each query meets, so there is no padding, and no mask to forget.
  template <bd::Backend B>
  static bd::Variable<B> scores(const Weights&, const bd::Variable<B>& query, const bd::Variable<B>& prepared,
                                const bd::SpanView<B>& spans) {
    return span_dot(query, prepared, spans);
  }
};

/// The plain recurrent cell h' = tanh(W_ih x + b_ih + W_hh h + b_hh). It models bd::Cell (cell/cell.hpp).
struct TanhCell {
  // What a model file calls it.
  static constexpr std::string_view name = "tanh";
  // Its state is one array, h. An LSTM has two parts, "h" and "c"; h always is the first.
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  // weight_ih, weight_hh, bias_ih and bias_hh, as PyTorch names them. Any struct with the two _ih will do.
  using Weights = bd::RecurrentWeights;

  // Called for every layer and direction. One block of `hidden` rows; a GRU has three, one per gate.
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }

  // One step. `projected` is W_ih x + b_ih [rows, hidden], which the model computes for all steps at once;
  // the state goes from h [rows, hidden] to h'.
  template <bd::Backend B>
  static bd::CellState<TanhCell, B> step(const Weights& weights, const bd::Variable<B>& projected,
                                         const bd::CellState<TanhCell, B>& state) {
    return {tanh(projected + linear(state[0], weights.weight_hh, weights.bias_hh))};
  }
};

// What the contracts ask for and these types lack would show here, with the line of the concept.
static_assert(bd::Score<Bilinear> && bd::Cell<TanhCell>);

/// Sentences of 2 to 5 random symbols, and the same backwards.
bd::Batch reversals(std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<bd::Token>> sources, targets;
  for (std::size_t i = 0; i < count; ++i) {
    const bd::random::Key key = bd::random::Key{seed}.derive(i);
    std::vector<bd::Token> symbols(2 + static_cast<std::size_t>(4 * key.uniform(0)));
    for (std::size_t t = 0; t < symbols.size(); ++t)
      symbols[t] = 4 + static_cast<bd::Token>(6 * key.uniform(t + 1));  // ids 4 to 9: 0 to 3 are reserved
    std::vector<bd::Token> backwards(symbols.rbegin(), symbols.rend());
    symbols.push_back(bd::reserved::eos);
    backwards.push_back(bd::reserved::eos);
    sources.push_back(symbols);
    targets.push_back(backwards);
  }
  return {bd::Sequences::from_rows(sources), bd::Sequences::from_rows(targets)};
}

/// The largest difference between the tape's gradient of the loss and (L(w + ε) - L(w - ε)) / 2ε, over every
/// weight w of a small model, in units of the largest gradient.
template <class Model>
double gradient_error(const bd::Vocabularies& vocabularies) {
  Model model({.embed = 3, .hidden = 4, .layers = 2}, vocabularies, /*seed=*/1);
  bd::Training training(model);
  const bd::Batch batch = reversals(4, 1);
  training.loss(batch);
  training.backward();
  double error = 0, largest = 0;
  for (const auto& entry : model.parameters().entries()) {
    const std::vector<double> gradient = training.gradients().read(entry.parameter);
    std::vector<double> weights = model.weights().read(entry.parameter);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto loss_at = [&](double weight) {
        weights[i] = weight;
        model.weights().write(entry.parameter, weights);
        return training.evaluate(batch).sum;  // which leaves the gradients alone, as loss does not
      };
      const double here = weights[i], epsilon = 1e-5;
      const double difference = (loss_at(here + epsilon) - loss_at(here - epsilon)) / (2 * epsilon);
      loss_at(here);  // as it was
      error = std::max(error, std::abs(difference - gradient[i]));
      largest = std::max(largest, std::abs(difference));
    }
  }
  return error / largest;
}

/// Checks the gradient, then trains; prints a row of the table and says whether all is well.
template <class Cell, class Score, class Encoder = bd::Unidirectional>
bool try_out() {
  // In double, so that central differences have digits to agree on.
  using Model = bd::EncoderDecoder<Cell, Score, bd::Xtensor<double>, Encoder>;
  const bd::Vocabularies vocabularies{bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}};
  const double error = gradient_error<Model>(vocabularies);
  std::printf("%-5s %-9s %-15s %10.0e", Cell::name.data(), Score::name.data(), Encoder::name.data(), error);

  Model model({.embed = 16, .hidden = 32, .layers = 1}, vocabularies, /*seed=*/1);
  bd::Training training(model, bd::Adam{.rate = 0.005}, {.clip = 1});
  double loss = 0;
  for (std::uint64_t step = 0; step <= 200; ++step) {
    loss = training.loss(reversals(64, step)).nats_per_token();
    training.backward();
    training.step();
    if (step % 50 == 0) std::printf("%8.3f", loss);
  }
  std::puts("");
  return error <= 1e-6 && loss < 1;  // guessing among six symbols and <eos> costs about 2
}

int main() {
  std::puts("Policies of one's own learn to write a sentence backwards:\n");
  std::printf("%-32s%10s   %s\n", "", "error of", "nats per token after this many steps:");
  std::printf("%-5s %-9s %-15s %10s%8d%8d%8d%8d%8d\n", "cell", "score", "encoder", "gradient", 0, 50, 100,
              150, 200);
  bool well = try_out<TanhCell, Bilinear>();
  well &= try_out<TanhCell, Bilinear, bd::Bidirectional>();
  well &= try_out<TanhCell, bd::Additive, bd::Bidirectional>();
  well &= try_out<bd::Gru, Bilinear>();
  std::puts(well ? "\nAll gradients agree with central differences."
                 : "\nSomething is wrong: a gradient is off by more than 1e-6, or a model does not learn.");
  return well ? 0 : 1;
}
