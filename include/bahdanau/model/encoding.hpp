// What encoders take and give: sentences; then keys, values and the decoder's first state.
// An encoder of one's own fills an `Encoding`; `require_encoding` checks what no compiler can.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/autograd/spans.hpp>
#include <bahdanau/cell/cell.hpp>
#include <bahdanau/cell/packing.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/dropout_plan.hpp>

namespace bahdanau {

/// How sentences enter an encoder.
struct EncoderInput {
  SequenceRows sentences;
  FinalState rule = FinalState::valid;
  std::size_t max_length = 0;  // how far `FinalState::padded` goes
  DropoutPlan dropout = {};
  bool keys = true;  // whether anybody attends; if not, only `last` and `packing` of an encoding are read
};

/// What an encoder makes of some sentences, with the lists that it reuses.
template <class C, Backend B>
struct Encoding {
  Variable<B> outputs;                // keys [keys, key width]; one per token, or what an encoder makes
  Variable<B> values;                 // [keys, value width]; not set: the keys are the values
  std::vector<Index> begin, length;   // the rows of each sentence in `outputs`, at least one
  std::vector<CellState<C, B>> last;  // the decoder's first states, one per layer: parts [sentences, hidden]
  Packing packing;                    // rows of `last` are in packing.order()

  std::vector<Index> lengths, ids, names, rows, reversal, lists, positions, ends;  // scratch
  Spans<B> spans;

  /// What contexts are sums of.
  const Variable<B>& summed() const { return values.tape == nullptr ? outputs : values; }
};

namespace detail {

using bahdanau::EncoderInput;  // their names in 0.1
using bahdanau::Encoding;

/// What a model expects of its encoder, whose contract no compiler checks.
struct EncodingSizes {
  std::size_t layers, hidden, key, value;
  bool keys = true;  // whether anybody attends
};

template <class C, Backend B>
void require_keys(std::string_view where, const Encoding<C, B>& encoding, std::size_t sentences,
                  const EncodingSizes& sizes) {
  require_equal(where, "spans of keys, one per sentence:", sentences, encoding.length.size());
  require_equal(where, "spans of keys, one per sentence:", sentences, encoding.begin.size());
  require_equal(where, "values, one per key:", encoding.outputs.rows(), encoding.summed().rows());
  require_equal(where, "keys of width", sizes.key, encoding.outputs.cols());
  require_equal(where, "values of width", sizes.value, encoding.summed().cols());
}

/// Throws unless each sentence has at least one key among the outputs, and a first state for each layer: an
/// encoder may make more or fewer keys than there are tokens, but attention over none is no attention.
template <class C, Backend B>
void require_encoding(std::string_view where, const Encoding<C, B>& encoding, std::size_t sentences,
                      const EncodingSizes& sizes) {
  if (sizes.keys) require_keys(where, encoding, sentences, sizes);
  require_equal(where, "sentences in the encoder's packing:", sentences, encoding.packing.rows());
  require_equal(where, "first states from the encoder, one per layer:", sizes.layers, encoding.last.size());
  for (const CellState<C, B>& state : encoding.last)
    for (const Variable<B>& part : state)
      if (part.tape == nullptr || part.rows() != sentences || part.cols() != sizes.hidden)
        fail(where, "first states " + Shape{sentences, sizes.hidden}.text() + " from the encoder",
             part.tape == nullptr ? "none" : part.shape.text());
  for (std::size_t b = 0; sizes.keys && b < sentences; ++b) {
    const auto begin = encoding.begin[b], length = encoding.length[b];
    if (length < 1)
      fail(std::string(where) + ", sentence " + text(b), "at least one key from the encoder", text(length),
           "keep one where a sentence is short");
    if (begin < 0 ||
        static_cast<std::size_t>(begin) + static_cast<std::size_t>(length) > encoding.outputs.rows())
      fail(std::string(where) + ", sentence " + text(b),
           "keys among the encoder's " + text(encoding.outputs.rows()) + " outputs",
           text(length) + " from " + text(begin) + " on");
  }
}

}  // namespace detail
}  // namespace bahdanau
