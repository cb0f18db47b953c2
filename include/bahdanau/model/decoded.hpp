// What a teacher-forced pass gives, brought back from packed rows to the order of the sentences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/array.hpp>
#include <bahdanau/model/decoder_network.hpp>
#include <bahdanau/model/decoder_state.hpp>

namespace bahdanau {

/// What a teacher-forced pass gives; rows beyond a target's length are 0.
template <class Scalar>
struct Decoded {
  Array<Scalar, 3> logits;     // [sentences, target steps, vocabulary]
  Array<Scalar, 3> attention;  // [sentences, target steps, source steps], or keys where those are others;
                               // [sentences, target steps, 0] of a model that does not attend
  std::vector<Index> keys;     // how many of them are a sentence's; its tokens, as a rule
  // [sentences, heads, target steps, source steps]: of a score with several heads, of which attention is the
  // mean, each one's; else of size 0
  Array<Scalar, 4> heads = {};
};

namespace detail {

/// Weights of each head [pairs, heads], query after query and of each head after head, each to where
/// `place(query, head)` says, in the order of the source.
template <Backend B, class Place>
void scatter_heads(const Variable<B>& weights, std::size_t heads, std::span<const Index> length,
                   bool reversed, Place place) {
  std::vector<typename B::Scalar> host(weights.size());
  B::download(weights.value, host.size(), host.data());
  auto from = host.begin();
  for (std::size_t query = 0; from != host.end(); ++query)
    for (std::size_t head = 0; head < heads; ++head, from += length[query]) {
      if (reversed)
        std::reverse_copy(from, from + length[query], place(query, head));
      else
        std::copy_n(from, length[query], place(query, head));
    }
}

/// The same for weights [pairs], each to where `place(query)` says.
template <Backend B, class Place>
void scatter_weights(const Variable<B>& weights, std::span<const Index> length, bool reversed, Place place) {
  scatter_heads(weights, 1, length, reversed, [&](std::size_t query, std::size_t) { return place(query); });
}

/// What goes from step to step, copied so that it outlives the tape.
template <class C, Backend B, class State>
typename DecoderState<C, B>::Arrays owned_arrays(State& state) {
  typename DecoderState<C, B>::Arrays out;
  state.each_row([&](Variable<B>& v) { out.rows.push_back(DeviceMatrix<B>::copy_of(v)); });
  state.each_pair([&](Variable<B>& v) { out.pairs.push_back(DeviceMatrix<B>::copy_of(v)); });
  return out;
}

/// The other way: the arrays, which must outlive the tape, in a state of their kind.
template <class C, Backend B, class State>
void restore_arrays(Tape<B>& tape, const typename DecoderState<C, B>::Arrays& arrays, State& state) {
  std::size_t row = 0, pair = 0;
  state.each_row([&](Variable<B>& v) { v = arrays.rows[row++].on(tape); });
  state.each_pair([&](Variable<B>& v) {
    v = arrays.pairs[pair].on(tape).reshape({arrays.pairs[pair].cols});
    ++pair;
  });
}

/// Feeds rows of tokens that were checked, and moves the state on to each row's end.
template <class Network, class C, Backend B>
Decoded<typename B::Scalar> decode_rows(Tape<B>& tape, const Network& network, std::size_t vocabulary,
                                        const SequenceRows& rows, std::size_t width,
                                        typename Network::Inputs inputs, DecoderState<C, B>& state) {
  using Scalar = typename B::Scalar;
  const auto& source = state.source().data();
  const auto first = on_tape<C, B>(tape, source.last);
  std::vector<Index> identity(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r) identity[r] = static_cast<Index>(r);
  DecoderPass<Network, B> pass;
  Memory<B> memory;
  if constexpr (Network::attends) memory = source.remembered(tape);
  network.begin(tape, DecoderSource<C, B>{source.begin, source.length, first, identity}, rows, inputs, {},
                pass);
  restore_arrays<C, B>(tape, state.arrays(), pass.state);  // which has the rows of the sentences
  reorder(tape, pass.packing.order(), source.length, pass.state);
  network.run(tape, memory, {}, pass);
  const std::size_t steps = Network::attends ? source.steps : 0;
  auto result = Decoded<Scalar>{Array<Scalar, 3>::from_shape({rows.count, width, vocabulary}),
                                Array<Scalar, 3>::from_shape({rows.count, width, steps}),
                                Network::attends ? source.length : std::vector<Index>(rows.count, 0)};
  if (const std::size_t heads = pass.heads.empty() ? 0 : pass.heads[0].cols(); heads > 0) {
    result.heads = Array<Scalar, 4>::from_shape({rows.count, heads, width, source.steps});
    std::fill(result.heads.begin(), result.heads.end(), Scalar(0));
    for (std::size_t t = 0; t < pass.packing.steps(); ++t)
      scatter_heads(pass.heads[t], heads, pass.length, source.reversed,
                    [&](std::size_t query, std::size_t head) {
                      const auto sentence = static_cast<std::size_t>(pass.packing.order()[query]);
                      return result.heads.data() + ((sentence * heads + head) * width + t) * source.steps;
                    });
  }
  std::fill(result.logits.begin(), result.logits.end(), Scalar(0));
  std::fill(result.attention.begin(), result.attention.end(), Scalar(0));
  const Array<Scalar, 2> logits = value<2>(network.logits(pass.features));
  pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
    std::copy_n(logits.data() + row * vocabulary, vocabulary,
                result.logits.data() + (sentence * width + t) * vocabulary);
  });
  const auto order = pass.packing.order();
  for (std::size_t t = 0; t < pass.weights.size(); ++t)
    scatter_weights(pass.weights[t], pass.length, source.reversed, [&](std::size_t query) {
      return result.attention.data() + (static_cast<std::size_t>(order[query]) * width + t) * steps;
    });
  for (std::size_t t = 0; t < width; ++t) {
    auto weights = Array<Scalar, 2>::from_shape({rows.count, steps});
    for (std::size_t b = 0; b < rows.count; ++b)
      std::copy_n(result.attention.data() + (b * width + t) * steps, steps, weights.data() + b * steps);
    state.add_attention(std::move(weights));
  }
  typename Network::template State<B>& ended = pass.state;
  std::size_t row = 0, pair = 0;
  ended.each_row([&](Variable<B>& v) { v = pass.ended_rows[row++]; });
  ended.each_pair([&](Variable<B>& v) { v = pass.ended_pairs[pair++]; });
  reorder(tape, pass.packing.rank(), pass.length, ended);
  state.move_on(owned_arrays<C, B>(ended));
  return result;
}

}  // namespace detail
}  // namespace bahdanau
