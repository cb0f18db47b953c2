// The encoder of Gehring et al., "A Convolutional Encoder Model for Neural Machine Translation", 2016: words
// and their positions, then two stacks of convolutions, one for keys and one for values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/autograd/ops/convolution.hpp>
#include <bahdanau/model/bridge.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/nn/fixed_name.hpp>

namespace bahdanau {

namespace detail {

/// Rows are laid out sentence after sentence, so that keys need no gathering, and nothing is computed for
/// padding: beyond a sentence's ends there are zeros, whatever lies beside it.
template <class C, std::size_t Layers, std::size_t Width>
class ConvolutionalEncoder {
 public:
  static constexpr std::size_t positions = 1024;  // which have a row of their own; later ones use the last

  ConvolutionalEncoder(Scope root, std::size_t vocabulary, const Config& config) {
    if (config.bridge == Bridge::backward)
      fail("Config.bridge", "\"mean\" for a convolutional encoder, which has no last states",
           quote(bahdanau::name(config.bridge)), "use Bidirectional");
    if (config.final_state == FinalState::padded)
      fail("Config.final_state",
           "\"valid\" for a convolutional encoder, which has no last states that padding could change",
           quote(bahdanau::name(config.final_state)));
    Scope scope = root.in("encoder.");
    const std::size_t hidden = config.hidden;
    embedding_ = scope.add("embedding.weight", {vocabulary, config.embed}, Initializer::standard_normal());
    position_ = scope.add("position.weight", {positions, config.embed}, Initializer::standard_normal());
    project_ = {scope.matrix("project.weight", hidden, config.embed),
                scope.bias("project.bias", hidden, config.embed)};
    declare(scope, "keys.", hidden, keys_);
    declare(scope, "values.", hidden, values_);
    bridge_ = BridgeLayers<C>(root, hidden, config);
  }

  /// Runs over the sentences and fills `out`: keys and values [tokens, hidden], and first states.
  template <Backend B>
  void run(Tape<B>& tape, const EncoderInput& input, Encoding<C, B>& out) const {
    lay_out(input, out);
    const std::size_t tokens = out.ids.size();
    const Index *ids = tape.stage(out.ids), *places = tape.stage(out.positions);
    const SequenceBounds sentences{tape.stage(out.rows), tape.stage(out.ends)};
    const Index* names = input.dropout.active() ? tape.stage(out.names) : nullptr;
    bridge_.stage_spans(tape, out);
    tape.send();
    // x = P (word + position) + b [tokens, hidden]
    const Variable<B> placed =
        gather_rows(tape[embedding_], ids, tokens) + gather_rows(tape[position_], places, tokens);
    const Variable<B> x =
        linear(dropout(placed, input.dropout.source_embedding(), names), project_.weight, project_.bias);
    // One stack's masks follow the other's.
    const auto convolve = [&](const Stack& stack, std::size_t first_mask) {
      Variable<B> y = x;
      for (std::size_t l = 0; l < Layers; ++l) {
        if (l > 0) y = dropout(y, input.dropout.encoder(first_mask + l), names);
        // y ← tanh(conv(y) + y)
        y = tanh_sum(linear(windows<Width>(y, sentences), stack[l].weight, stack[l].bias, Result::given), y);
      }
      return y;
    };
    out.outputs = convolve(keys_, 0);
    out.values = convolve(values_, Layers);
    out.last.clear();
    bridge_.cross_mean(out);
  }

 private:
  using Stack = std::array<Dense, Layers>;

  /// nn.Conv1d's tensors. What is kept is the weight as products see it: [hidden, hidden · width].
  static void declare(Scope scope, std::string_view prefix, std::size_t hidden, Stack& stack) {
    for (std::size_t l = 0; l < Layers; ++l) {
      Scope layer = scope.in(std::string(prefix) + std::string(text(l)) + ".");
      const Parameter weight = layer.add("weight", {hidden, hidden, Width},
                                         Initializer::xavier_uniform(hidden * Width, hidden * Width));
      stack[l] = {{weight.offset, {hidden, hidden * Width}}, layer.bias("bias", hidden, hidden * Width)};
    }
  }

  /// Token t of a sentence is row `begin + t`; `rows` and `ends` are where each row's sentence begins and
  /// ends.
  template <Backend B>
  static void lay_out(const EncoderInput& input, Encoding<C, B>& out) {
    const SequenceRows& sentences = input.sentences;
    out.packing.assign({sentences.lengths, sentences.count});
    for (auto* list : {&out.begin, &out.length, &out.ids, &out.positions, &out.rows, &out.ends, &out.names})
      list->clear();
    for (std::size_t b = 0; b < sentences.count; ++b) {
      const std::size_t begin = out.ids.size(), length = sentences.length(b);
      out.begin.push_back(static_cast<Index>(begin));
      out.length.push_back(static_cast<Index>(length));
      for (std::size_t t = 0; t < length; ++t) {
        out.ids.push_back(sentences.at(b, t));
        out.positions.push_back(static_cast<Index>(std::min(t, positions - 1)));
        out.rows.push_back(static_cast<Index>(begin));
        out.ends.push_back(static_cast<Index>(begin + length));
        const std::size_t number = sentences.first + b;
        out.names.push_back(
            static_cast<Index>(input.dropout.per_sequence() ? number : number * sentences.stride + t));
      }
    }
  }

  Parameter embedding_, position_;
  Dense project_;
  Stack keys_, values_;
  BridgeLayers<C> bridge_;
};

}  // namespace detail

/// x = P (word + position) + b; then x ← tanh(conv(x) + x), `Layers` times with weights for keys, and
/// `Layers` times with others for values. The decoder starts from the mean of a sentence's values, as
/// `Bridge::mean` does. `Config::layers` are the decoder's.
template <std::size_t Layers, std::size_t Width>
struct Convolutional {
  static_assert(
      Layers > 0 && Width % 2 == 1,
      "bahdanau: a Convolutional encoder has at least one layer and an odd width, so that each window "
      "has a middle; use Convolutional<6, 3>, say");
  static constexpr auto spelled = fixed_name("convolutional(", Layers, ",", Width, ")");
  static constexpr std::string_view name = spelled;
  static std::size_t key_width(const Config& config) { return config.hidden; }

  template <class C>
  using Network = detail::ConvolutionalEncoder<C, Layers, Width>;
};

static_assert(Encoder<Convolutional<6, 3>>);

}  // namespace bahdanau
