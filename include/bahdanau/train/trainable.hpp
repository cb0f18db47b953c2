// The TrainableModel concept: what `Training` and `Trainer` ask of a model, and of the data it learns from.
// A model or an optimizer that does not fit is told so in one sentence: `CheckedTraining`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <bahdanau/distributed/communicator.hpp>
#include <bahdanau/model/dropout_plan.hpp>
#include <bahdanau/model/input_sampling.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau {

namespace detail {

struct NoScratch {};
template <class M>
struct ScratchOf {
  using Type = NoScratch;
};
template <class M>
requires requires { typename M::Scratch; }
struct ScratchOf<M> {
  using Type = typename M::Scratch;
};

/// Point 3 of the contract below, with or without scratch.
template <class M>
Objective<typename M::Backend> objective_of(const M& model, Tape<typename M::Backend>& tape,
                                            const typename M::Batch& batch, RowRange rows,
                                            const DropoutPlan& plan, typename ScratchOf<M>::Type& scratch) {
  if constexpr (requires { typename M::Scratch; })
    return model.objective(tape, batch, rows, plan, scratch);
  else
    return model.objective(tape, batch, rows, plan);
}

/// Point 5 of the contract below.
template <class M>
concept SamplesInputs = requires(typename ScratchOf<M>::Type& scratch) {
  { scratch.sampling } -> std::same_as<InputSampling<typename M::Backend>&>;
};

}  // namespace detail

/// A model that `Training` can train. Models: `EncoderDecoder`; examples/07_language_model and
/// examples/08_tagger have others.
///
/// 1. `Backend` is where it runs; `parameters()` lists its parameters, and `weights()` are their numbers.
/// 2. `Batch` is what it learns from at once. `check(batch)` says how many rows that has, and throws for one
///    that does not fit.
/// 3. `objective(tape, batch, rows, dropout)` puts some rows of a batch on a tape that is bound to the
///    weights, and returns the objective to minimise. It may be called for any number of rows and from
///    several threads at once; what it computes for a row must not depend on the others.
/// 4. It may have `Scratch`, lists that `objective` reuses, which it then gets as a fifth argument;
///    `dropout()`, the rate with which the plan of point 3 is made, or `dropout_plan(key)`, the plan itself;
///    and `settings()`, a map of names and texts that a checkpoint must agree with.
/// 5. A `Scratch` with an `InputSampling<Backend> sampling` says that it can be trained with scheduled
///    sampling: while `sampling.tape` is not null, `objective` samples what the model reads.
template <class M>
concept TrainableModel = Backend<typename M::Backend> &&
    requires(M& model, const M& read, Tape<typename M::Backend>& tape, const typename M::Batch& batch,
             RowRange rows, const DropoutPlan& plan, typename detail::ScratchOf<M>::Type& scratch) {
  { read.parameters() } -> std::same_as<const ParameterList&>;
  { read.weights() } -> std::same_as<const ParameterBlock<typename M::Backend>&>;
  { model.weights() } -> std::same_as<ParameterBlock<typename M::Backend>&>;
  { read.check(batch) } -> std::convertible_to<std::size_t>;
  detail::objective_of(read, tape, batch, rows, plan, scratch);
};

namespace detail {

template <class Model, class Optimizer>
concept Trains = TrainableModel<Model> && OptimizerOn<Optimizer, typename Model::Backend>;

/// Says what does not fit, in one sentence.
template <class Model, class Optimizer>
struct CheckedTraining {
  static_assert(TrainableModel<Model>,
                "bahdanau: to be trained, a model needs parameters(), weights(), Batch, check(batch) and "
                "objective(tape, batch, rows, dropout); see TrainableModel in train/trainable.hpp");
  static_assert(
      !TrainableModel<Model> || Trains<Model, Optimizer>,
      "bahdanau: the optimizer of a training is Adam, AdamW, Sgd, Adadelta, or a struct that models "
      "OptimizerOn (train/optimizer.hpp)");
};

}  // namespace detail

/// The rows of a batch that one of several processes computes, and reads.
struct BatchPart {
  std::size_t batch;      // rows of the whole batch
  RowRange rows;          // this process's; perhaps none
  AnyCommunicator all{};  // who has the others
};

/// What `Trainer::fit` learns from. Models: `Corpus`, `CorpusFile`; examples/08_tagger has another.
///
/// 1. `size()` is the number of its examples.
/// 2. `make_batch(data, examples)` makes a batch of some of them.
/// 3. `length_of(data, i)` says by what to sort for `Grouping::by_length`.
/// 4. `fingerprint(data)` is another number for other data: a training is resumed with the same.
/// 5. It may have `make_batch(data, examples, key)`, with examples that the key changes: for training, with
///    another key in each epoch.
/// 6. Or `make_batch(data, examples, part)`: then each of several processes is given the examples of
///    its own rows alone. It makes a batch of `part.batch` rows, of which `part.rows` are these; of the
///    others only `check(batch)` of the model sees anything. What a row's result depends on beside its
///    tokens, widths by which dropout is named say, must be that of the whole batch: all processes call it
///    together, and may exchange messages by `part.all`.
template <class Data, class Batch>
concept TrainingData = requires(const Data& data, std::span<const std::size_t> examples, std::size_t i) {
  { data.size() } -> std::convertible_to<std::size_t>;
  { make_batch(data, examples) } -> std::convertible_to<Batch>;
  { length_of(data, i) < length_of(data, i) } -> std::convertible_to<bool>;
  { fingerprint(data) } -> std::convertible_to<std::uint64_t>;
};

/// Point 6.
template <class Data, class Batch>
concept DivisibleData = TrainingData<Data, Batch> &&
    requires(const Data& data, std::span<const std::size_t> examples, const BatchPart& part) {
  { make_batch(data, examples, part) } -> std::convertible_to<Batch>;
};

}  // namespace bahdanau
