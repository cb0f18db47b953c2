// What a decoder's pass over target sentences starts from, and what it fills.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/spans.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/model/decoder.hpp>

namespace bahdanau::detail {

/// What a decoder starts from, on a tape, and which keys it attends to.
template <class C, Backend B>
struct DecoderSource {
  std::span<const Index> begin, length;    // the keys of each sentence
  std::span<const CellState<C, B>> first;  // one per layer, parts of [sentences, hidden]
  std::span<const Index> row_of_sentence;  // the row of `first` that belongs to each sentence
};

/// A teacher-forced pass over target sentences, with the lists that it reuses. Rows are packed by target
/// length.
template <class Network, Backend B>
struct DecoderPass {
  Packing packing;
  Variable<B> features;              // [target tokens, width]: what the output layer reads
  std::vector<Variable<B>> weights;  // attention of each step [pairs of the rows that run]
  std::vector<Variable<B>> heads;    // the same of each head, of scores with several; see Attended
  // Where the tape does not record, what has gone from step to step after each row's last token: [rows, any],
  // and [pairs].
  std::vector<Variable<B>> ended_rows, ended_pairs;
  Spans<B> spans;

  TokenInput<B> read;  // what the decoder reads: one row a token
  DropoutNames token_names;
  const Index* sentence = nullptr;  // of each token, as a row of the first step, for who runs all at once
  PackingLists lists;

  std::vector<Index> ids, names, sequences, rows, begin, length, packing_lists, sentences;  // scratch
  std::vector<CellState<typename Network::Cell, B>> first;
  typename Network::template State<B> state;
  std::vector<std::size_t> pairs;                      // of each step
  std::vector<Variable<B>> outputs, contexts, before;  // of each step
  std::vector<std::vector<Variable<B>>> pair_states;   // of each step
};

}  // namespace bahdanau::detail
