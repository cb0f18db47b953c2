// What decoding keeps between calls: encoded sentences, and the decoder's state over them.
// Arrays stay on the device; the accessors copy them out as ordinary arrays.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/cell/cell.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau {

namespace detail {

/// A matrix on the device that outlives a tape.
template <Backend B>
struct DeviceMatrix {
  using Scalar = typename B::Scalar;
  typename B::template Storage<Scalar> storage{};
  std::size_t rows = 0, cols = 0;

  static DeviceMatrix copy_of(const Variable<B>& v) {
    DeviceMatrix m{typename B::template Storage<Scalar>(v.size()), v.rows(), v.cols()};
    B::copy(v.value, v.size(), m.storage.data());
    return m;
  }
  Variable<B> on(Tape<B>& tape) const { return tape.borrow(storage.data(), {rows, cols}); }
  Array<Scalar, 2> to_array() const { return host_copy<2, B>(storage.data(), {rows, cols}); }
};

/// A cell's state that outlives a tape: its parts, each [rows, hidden].
template <class C, Backend B>
using OwnedState = std::array<DeviceMatrix<B>, C::parts>;

/// A copy that outlives the tape.
template <class C, Backend B>
OwnedState<C, B> owned_state(const CellState<C, B>& state) {
  OwnedState<C, B> out;
  for (std::size_t p = 0; p < C::parts; ++p) out[p] = DeviceMatrix<B>::copy_of(state[p]);
  return out;
}

/// The states of all layers as constants on a tape, which must not outlive them.
template <class C, Backend B>
std::vector<CellState<C, B>> on_tape(Tape<B>& tape, const std::vector<OwnedState<C, B>>& layers) {
  std::vector<CellState<C, B>> out(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t p = 0; p < C::parts; ++p) out[l][p] = layers[l][p].on(tape);
  return out;
}

}  // namespace detail

/// Encoded source sentences: what `encode` gives and `init_state` takes. Cheap to copy, never changed.
template <class C, Backend B>
class Encoded {
 public:
  using Scalar = typename B::Scalar;

  struct Data {
    detail::DeviceMatrix<B> outputs;             // keys [keys, width], sentence after sentence
    detail::DeviceMatrix<B> prepared;            // [keys, any]
    detail::DeviceMatrix<B> values;              // [keys, any]; without rows: the keys are the values
    std::vector<Index> begin, length;            // the rows of each sentence
    std::vector<detail::OwnedState<C, B>> last;  // one per layer, parts of [sentences, hidden]
    std::size_t steps = 0;                       // of the rows that were encoded, or the most keys
    bool reversed = false;                       // whether keys are in the reverse order of the source
    std::string_view score;                      // the name of the one that prepared the keys
    std::string_view decoder, encoder;           // and of these

    /// Keys and values as the score wants them.
    Memory<B> remembered(Tape<B>& tape) const {
      return {prepared.on(tape), (values.rows == 0 ? outputs : values).on(tape)};
    }
  };

  explicit Encoded(Data data) : data_(std::make_shared<const Data>(std::move(data))) {}

  std::size_t rows() const { return data_->length.size(); }
  const std::vector<Index>& valid_lengths() const { return data_->length; }
  const Data& data() const { return *data_; }

  /// The top layer's outputs [sentences, steps, width], in the order of the source; 0 beyond a valid length.
  Array<Scalar, 3> outputs() const {
    const std::size_t width = data_->outputs.cols;
    const Array<Scalar, 2> rows_of_tokens = data_->outputs.to_array();
    auto out = Array<Scalar, 3>::from_shape({rows(), data_->steps, width});
    std::fill(out.begin(), out.end(), Scalar(0));
    for (std::size_t b = 0; b < rows(); ++b) {
      const auto begin = static_cast<std::size_t>(data_->begin[b]),
                 length = static_cast<std::size_t>(data_->length[b]);
      for (std::size_t t = 0; t < length; ++t)
        std::copy_n(rows_of_tokens.data() + (begin + t) * width, width,
                    out.data() + (b * data_->steps + (data_->reversed ? length - 1 - t : t)) * width);
    }
    return out;
  }

 private:
  std::shared_ptr<const Data> data_;
};

/// The decoder's state, in three parts as d2l has it: encoder outputs, hidden state of every layer, valid
/// lengths. `auto [outputs, hidden, lengths] = state;` copies them out. What else a decoder or a score
/// carries from step to step is in it too.
template <class C, Backend B>
class DecoderState {
 public:
  using Scalar = typename B::Scalar;

  /// What goes from step to step: arrays [sentences, any], of which the layers' states are the first, and
  /// [pairs].
  struct Arrays {
    std::vector<detail::DeviceMatrix<B>> rows, pairs;
  };

  DecoderState(Encoded<C, B> source, Arrays arrays)
      : source_(std::move(source)), arrays_(std::move(arrays)) {}

  std::size_t rows() const { return source_.rows(); }
  const Encoded<C, B>& source() const { return source_; }

  /// [sentences, steps, width]
  Array<Scalar, 3> encoder_outputs() const { return source_.outputs(); }
  /// Part `part` of every layer's state (0 is h, for the LSTM 1 is c), each [sentences, hidden].
  std::vector<Array<Scalar, 2>> hidden(std::size_t part = 0) const {
    if (part >= C::parts)
      fail("DecoderState::hidden", "a part below " + detail::text(C::parts), detail::text(part));
    std::vector<Array<Scalar, 2>> out;
    const std::size_t layers = source_.data().last.size();
    if (arrays_.rows.size() < layers * C::parts)
      fail("DecoderState::hidden", "a decoder whose state begins with those of its layers", "another one");
    for (std::size_t l = 0; l < layers; ++l) out.push_back(arrays_.rows[l * C::parts + part].to_array());
    return out;
  }
  const std::vector<Index>& valid_lengths() const { return source_.valid_lengths(); }

  /// The attention weights of every step so far, each [sentences, steps]; 0 beyond a valid length. Of a
  /// model that does not attend each is [sentences, 0].
  const std::vector<Array<Scalar, 2>>& attention_weights() const { return attention_; }

  template <std::size_t Part>
  auto get() const {
    if constexpr (Part == 0)
      return encoder_outputs();
    else if constexpr (Part == 1)
      return hidden();
    else
      return valid_lengths();
  }

  // For the model, which moves the state on.
  const Arrays& arrays() const { return arrays_; }
  void move_on(Arrays arrays) { arrays_ = std::move(arrays); }
  void add_attention(Array<Scalar, 2> weights) { attention_.push_back(std::move(weights)); }

 private:
  Encoded<C, B> source_;
  Arrays arrays_;
  std::vector<Array<Scalar, 2>> attention_;
};

}  // namespace bahdanau

template <class C, class B>
struct std::tuple_size<bahdanau::DecoderState<C, B>> : std::integral_constant<std::size_t, 3> {};
template <std::size_t Part, class C, class B>
struct std::tuple_element<Part, bahdanau::DecoderState<C, B>> {
  using type =
      std::decay_t<decltype(std::declval<const bahdanau::DecoderState<C, B>&>().template get<Part>())>;
};
