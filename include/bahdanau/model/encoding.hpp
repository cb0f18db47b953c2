// What encoders take and give: sentences; then keys, values and the decoder's first state.
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
  DropoutPlan dropout;
};

/// What an encoder makes of some sentences, with the lists that it reuses.
template <class C, Backend B>
struct Encoding {
  Variable<B> outputs;                // keys [keys, key width]; a key a token, or what an encoder makes
  Variable<B> values;                 // [keys, value width]; not set: the keys are the values
  std::vector<Index> begin, length;   // the rows of each sentence in `outputs`, at least one
  std::vector<CellState<C, B>> last;  // the decoder's first state: one a layer, parts of [sentences, hidden]
  Packing packing;                    // rows of `last` are in packing.order()

  std::vector<Index> lengths, ids, names, rows, reversal, lists;  // scratch
  Spans<B> spans;

  /// What contexts are sums of.
  const Variable<B>& summed() const { return values.tape == nullptr ? outputs : values; }
};

namespace detail {

using bahdanau::EncoderInput;  // their names in 0.1
using bahdanau::Encoding;

/// Throws unless each sentence has at least one key, and they are among the outputs: an encoder may make more
/// or fewer keys than there are tokens, but attention over none is no attention.
template <class C, Backend B>
void require_sentence_keys(std::string_view where, const Encoding<C, B>& encoding, std::size_t sentences) {
  require_equal(where, "spans of keys, one a sentence:", sentences, encoding.length.size());
  require_equal(where, "spans of keys, one a sentence:", sentences, encoding.begin.size());
  require_equal(where, "values, one a key:", encoding.outputs.rows(), encoding.summed().rows());
  for (std::size_t b = 0; b < sentences; ++b) {
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
