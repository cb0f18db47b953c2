// The cells of a decoder: layers on top of one another, and their states.
// `StackedDecoder` is what decoders that are made of them share of the Decoder contract.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/model/decoder.hpp>

namespace bahdanau {

/// The states of stacked cells: one per layer, parts of [rows, hidden].
template <class C, Backend B>
struct StackedState {
  std::vector<CellState<C, B>> layers;

  /// From the encoder's last states.
  void start(std::span<const CellState<C, B>> first) { layers.assign(first.begin(), first.end()); }
  /// Of the top layer.
  const Variable<B>& top() const { return hidden(layers.back()); }
  template <class F>
  void each(F f) {
    for (CellState<C, B>& state : layers)
      for (Variable<B>& part : state) f(part);
  }
};

/// Cells on top of one another, the first of which reads `inputs` numbers and the others the output below:
/// its hidden state h, or with residual connections (Wu et al., 2016) from the second layer on h plus what
/// the layer has read, before dropout.
template <class C>
class StackedCells {
 public:
  StackedCells(Scope scope, std::size_t inputs, const DecoderSizes& sizes)
      : inputs_(inputs), embed_(sizes.embed), residual_(sizes.residual) {
    for (std::size_t l = 0; l < sizes.layers; ++l)
      layers_.push_back(C::declare(scope.in("rnn.", "_l" + std::string(detail::text(l))),
                                   l == 0 ? inputs : sizes.hidden, sizes.hidden));
  }

  /// What the first layer makes of the previous tokens, which are the last columns of its input, from
  /// `first` on: W_ih y + b.
  template <Backend B>
  Variable<B> known(const TokenInput<B>& tokens, std::size_t first) const {
    if (first > inputs_ || inputs_ - first != embed_)
      fail("StackedCells::known",
           "the last " + detail::text(embed_) + " of the columns of an input of width " +
               detail::text(inputs_),
           "those from " + detail::text(first) + " on");
    return tokens.product(layers_[0].weight_ih, layers_[0].bias_ih, first, detail::input_product<C>());
  }

  /// What the first columns of the first layer's input contribute to `known`: W_ih x, without the bias.
  template <Backend B>
  Variable<B> input_product(const Variable<B>& x) const {
    return linear_columns(x, x.tape->weight(layers_[0].weight_ih), 0);
  }

  /// Adds what the first columns of the first layer's input contribute to `known`.
  template <Backend B>
  void add_input(const Variable<B>& known, const Variable<B>& x) const {
    add_linear(known, x, layers_[0].weight_ih);
  }

  /// One step of all layers, and the output of the top one [rows, hidden]: its h, which `state` has too,
  /// unless there are residual connections. `projected` is the first one's input product, and is used up.
  template <class S, Backend B>
  [[nodiscard]] Variable<B> step(const DecoderStep<S, B>& step, const Variable<B>& projected,
                                 StackedState<C, B>& state) const {
    step_first<B>(projected, state);
    return step_above<S, B>(step, state);
  }
  /// The same in two parts, for who has something to do between them: the first layer,
  template <Backend B>
  void step_first(const Variable<B>& projected, StackedState<C, B>& state) const {
    state.layers[0] = detail::step_cell<C, B>(layers_[0], projected, state.layers[0]);
  }
  /// and those above it, with the output.
  template <class S, Backend B>
  [[nodiscard]] Variable<B> step_above(const DecoderStep<S, B>& step, StackedState<C, B>& state) const {
    auto& layers = state.layers;
    Variable<B> output = hidden(layers[0]);
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      const Variable<B> product = linear(step.dropout(output, l), layers_[l].weight_ih, layers_[l].bias_ih,
                                         detail::input_product<C>());
      layers[l] = detail::step_cell<C, B>(layers_[l], product, layers[l]);
      output = residual_ ? detail::residual_sum(hidden(layers[l]), output) : hidden(layers[l]);
    }
    return output;
  }

  /// All steps, layer by layer, so that the input products of each layer are one: the top layer's outputs
  /// [rows of all steps, hidden]. Where the tape does not record, the state moves on to each row's end.
  template <Backend B>
  Variable<B> run(const PackedSteps<B>& steps, const Variable<B>& projected,
                  StackedState<C, B>& state) const {
    const bool wants_last = !projected.tape->recording();
    Variable<B> product = projected, outputs;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (l > 0)
        product = linear(steps.dropout(outputs, l), layers_[l].weight_ih, layers_[l].bias_ih,
                         detail::input_product<C>());
      const auto carried = [&](Loop<B>& loop, std::size_t p) { return loop.carry(state.layers[l][p]); };
      const LayerResult<C, B> layer =
          detail::run_cells<C, B>(layers_[l], product, carried, steps.packing(), steps.lists(), wants_last);
      outputs = residual_ && l > 0 ? detail::residual_sum(layer.outputs, outputs) : layer.outputs;
      if (wants_last) state.layers[l] = layer.last;
    }
    return outputs;
  }

 private:
  std::size_t inputs_, embed_;  // widths of the first layer's input, and of what ends it
  bool residual_;
  std::vector<typename C::Weights> layers_;
};

/// What decoders of stacked cells share of their contract. The first layer reads [x ; y]: `before` is how
/// wide x is, which the step adds, and y is the previous token's embedding.
template <class C>
class StackedDecoder {
 public:
  template <Backend B>
  using State = StackedState<C, B>;

  std::size_t output_width() const { return hidden_; }

  template <Backend B>
  void start(Tape<B>&, std::span<const CellState<C, B>> first, StackedState<C, B>& state) const {
    state.start(first);
  }

  /// y's part of the first layer's input product [rows, gates · hidden].
  template <Backend B>
  Variable<B> known(const TokenInput<B>& tokens) const {
    return cells_.known(tokens, before_);
  }

 protected:
  StackedDecoder(Scope scope, std::size_t before, const DecoderSizes& sizes)
      : cells_(scope, before + sizes.embed, sizes), before_(before), hidden_(sizes.hidden) {}

  StackedCells<C> cells_;

 private:
  std::size_t before_, hidden_;
};

}  // namespace bahdanau
