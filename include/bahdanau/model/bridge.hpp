// From what an encoder leaves to the decoder's first state: one layer for each part of each state.
// What goes into them, an encoder decides.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/model/encoding.hpp>

namespace bahdanau::detail {

/// h = tanh(B x + b), and for what else a state has, c = C x + d, of each layer: `decoder.bridge.h.0.weight`
/// [hidden, inputs] and so on.
template <class C>
class BridgeLayers {
 public:
  BridgeLayers() = default;
  BridgeLayers(Scope root, std::size_t inputs, const Config& config) {
    for (std::size_t p = 0; p < C::parts; ++p)
      for (std::size_t l = 0; l < config.layers; ++l) {
        Scope scope = root.in("decoder.bridge." + std::string(C::part_names[p]) + "." + text(l) + ".");
        layers_[p].push_back(
            {scope.matrix("weight", config.hidden, inputs), scope.bias("bias", config.hidden, inputs)});
      }
  }

  /// The first state of a layer; `input(part)` is x [sentences, inputs].
  template <Backend B, class Input>
  CellState<C, B> cross(std::size_t layer, Input input) const {
    CellState<C, B> state;
    for (std::size_t p = 0; p < C::parts; ++p) {
      const Dense& dense = layers_[p][layer];
      const Variable<B> crossed = linear(input(p), dense.weight, dense.bias);
      state[p] = p == 0 ? tanh(crossed) : crossed;
    }
    return state;
  }

  /// `Bridge::mean`: the first states of all layers from the mean of what contexts are sums of, of the spans
  /// that `stage_spans` has staged.
  template <Backend B>
  void cross_mean(Encoding<C, B>& out) const {
    const Variable<B>& values = out.summed();
    // a softmax of equal scores is a mean's weights
    const SpanView<B>& spans = out.spans.view();
    const Variable<B> mean = span_sum(softmax(values.tape->zeros({spans.pairs}), spans), values, spans);
    for (std::size_t l = 0; l < layers_[0].size(); ++l)
      out.last.push_back(cross<B>(l, [&](std::size_t) { return mean; }));
  }

  /// The keys of each sentence, in the order of the rows of `last`.
  template <Backend B>
  static void stage_spans(Tape<B>& tape, Encoding<C, B>& out) {
    out.lengths.clear();
    out.names.clear();
    for (const Index sentence : out.packing.order()) {
      out.names.push_back(out.begin[static_cast<std::size_t>(sentence)]);
      out.lengths.push_back(out.length[static_cast<std::size_t>(sentence)]);
    }
    out.spans.assign(tape, out.names, out.lengths);
  }

 private:
  std::array<std::vector<Dense>, C::parts> layers_;
};

}  // namespace bahdanau::detail
