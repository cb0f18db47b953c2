// The training step: loss(batch), backward(), step(), for a loop of one's own.
// A batch is cut into replicas and these into shards, by their sizes alone; each shard has a tape, and
// gradients are added in a fixed order, whoever has computed them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/core/free_memory.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/train/environment.hpp>
#include <bahdanau/train/fixed_parameters.hpp>
#include <bahdanau/train/loss.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/output_loss.hpp>
#include <bahdanau/train/replicas.hpp>
#include <bahdanau/train/shard_gradients.hpp>
#include <bahdanau/train/slices.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

/// Settings of a training step.
struct StepOptions {
  double clip = 0;             // bound of the gradient's global norm; 0 does not clip
  std::size_t threads = 0;     // 0: as many as there are cores; the results do not depend on it
  std::uint64_t seed = 0;      // of the dropout masks
  double label_smoothing = 0;  // the share of a target's probability that is spread over the vocabulary
  // Gives what was freed back to the system (malloc_trim, with glibc) whenever longer rows than ever before
  // have made the arrays move. For programs in which training is all there is: it holds up the whole process.
  bool trim_memory = false;
  bool checked = false;  // finds operations that break the tape's rules (docs/operations.md): slow, for tests
  ThreadPool* pool = nullptr;              // whose threads; null: the process's
  ScheduledSampling scheduled_sampling{};  // for models that can sample what they read: encoder-decoders
  std::vector<std::string> fixed{};        // parameters that stay as they are: names, or patterns with *
  // Into how many runs of rows a batch is cut, whose gradients are added as a balanced binary tree: a power
  // of two, and a setting like the size of the batch. In one process they come one after the other, in the
  // memory of one: gradient accumulation.
  std::size_t replicas = 1;
  AnyCommunicator communicator{};  // the processes that share them, a power of two, at most `replicas`

  /// Throws for settings that are no numbers, or out of range.
  void check() const {
    if (!(clip >= 0)) fail("clip", "a bound of at least 0", detail::number_text(clip));
    detail::require_fraction("label_smoothing", label_smoothing);
    scheduled_sampling.check();
    detail::require_processes(communicator, replicas);
  }
};

namespace detail {

/// What a training remembers of a model that says nothing about its sizes.
struct WeightCount {
  std::size_t weights;
  bool operator==(const WeightCount&) const = default;
  std::string text() const { return detail::text(weights) + " weights"; }
};

/// The sizes of a model, to compare and to print.
template <class Model>
auto sizes_of(const Model& model) {
  if constexpr (requires { model.sizes().text(); })
    return model.sizes();
  else
    return WeightCount{model.weights().size()};
}

}  // namespace detail

/// Trains one model: `loss(batch)`, then `backward()`, then `step()`.
template <class Model, class Optimizer = Adam>
class Training : detail::CheckedTraining<Model, Optimizer> {
 public:
  // Only so that a wrong combination prints its one sentence and no more.
  explicit Training(Model&, Optimizer = {}, StepOptions = {}) {}
};

template <class Model, class Optimizer>
requires detail::Trains<Model, Optimizer>
class Training<Model, Optimizer> {
 public:
  using Backend = typename Model::Backend;
  using Batch = typename Model::Batch;
  using Scalar = typename Backend::Scalar;

  /// The model must outlive this object. Throws for settings of the optimizer or the step that are no
  /// numbers, or out of range.
  ///
  /// With several processes, all of them make one of the same model, and call the same functions in the same
  /// order. Throws in all of them where their programs, processors or settings differ.
  explicit Training(Model& model, Optimizer optimizer = {}, StepOptions options = {})
      : model_(&model),
        optimizer_(optimizer),
        options_(options),
        workers_(detail::threads_for<Backend>(detail::threads_of_process(options)), options.pool),
        gradients_(model.parameters()),
        division_(options.communicator, detail::Division::parts_of(gradients_.size())),
        slice_(detail::elements_of(division_.own(), gradients_.size())),
        state_(divides_steps() ? slice_ : Slice{0, gradients_.size()}),
        workspace_(detail::numbers_to_change(gradients_), gradients_.size()),
        panels_(&workspace_),
        output_loss_(&workspace_),
        fixed_(detail::or_fail_together(
            options_.communicator,
            [&] { return detail::FixedParameters<Backend>(model.parameters(), options_.fixed); })),
        sizes_(detail::sizes_of(std::as_const(model))) {
    detail::or_fail_together(all(), [&] { check(); });
  }

  /// The batch's loss. With the model's dropout, and recorded so that `backward` may follow. The last
  /// gradients are gone: their place is used until `backward` computes others. Those of the layer that tells
  /// classes are computed at once, as its logits are not kept, and those of all replicas but the last, too.
  /// Every process is given the whole batch, and gets the loss of it. Throws for a batch that does not fit.
  Loss loss(const Batch& batch) {
    return detail::or_fail_together(all(), [&] {
      ready_ = has_gradients_ = false;
      require_same_sizes("loss");
      require_same_weights();
      const Pass how{dropout_of_step(), options_.label_smoothing, detail::numbers_to_change(gradients_),
                     &panels_, sampling_of_step()};
      const Loss total = run_replicas(batch, how, output_loss_);
      ++batches_;
      ready_ = true;
      seen_ = state_of(weights());
      return total;
    });
  }

  /// The batch's loss without dropout and smoothing, for validation: nothing is recorded.
  Loss evaluate(const Batch& batch) {
    return detail::or_fail_together(all(), [&] {
      require_same_sizes("evaluate");
      return run_replicas(batch, {{}, 0, nullptr, inference_panels(), {}}, quiet_loss_);
    });
  }

  /// The gradient of the last loss, for all parameters. Throws if there is none.
  void backward() {
    detail::or_fail_together(all(), [&] {
      if (!ready_) fail("backward", "a loss(batch) before it", "none since the last backward");
      ready_ = false;
      require_same_sizes("backward");
      if (state_of(weights()) != seen_)
        fail("backward", "the weights that loss(batch) has seen", "others",
             "change or assign weights after step(), or before loss()");
      finish_replica(replicas().own() - 1);
      if (all().several())
        slices_.sum(division_, detail::numbers_to_change(gradients_), gradients_.size(), workers_);
      has_gradients_ = true;
    });
  }

  /// Clips the gradients and moves the weights. Returns the norm before clipping; throws, and leaves the
  /// weights alone, where it is not finite. With several processes, each moves its own slice of them.
  double step() {
    return detail::or_fail_together(all(), [&] {
      if (!has_gradients_) fail("step", "a backward() before it", "none since the last loss or step");
      has_gradients_ = false;
      require_same_sizes("step");
      if (fixed_.any()) fixed_.clear(gradients_);
      const double norm = gradient_norm();
      if (!std::isfinite(norm))
        fail("step", "a finite gradient", detail::number_text(norm), "lower the learning rate or clip");
      if (fixed_.any()) fixed_.keep(weights());
      if (all().several() && !divides_steps()) gather_gradients();
      optimizer_.update(
          state_, model_->weights(), gradients_,
          {clip_factor(norm, options_.clip), rate_factor_, &workers_, divides_steps() ? &slice_ : nullptr});
      if (divides_steps())
        slices_.gather(division_, detail::numbers_to_change(model_->weights()), gradients_.size());
      if (fixed_.any()) fixed_.restore(model_->weights());
      return norm;
    });
  }

  /// What `backward` has computed, until the next `loss`; `evaluate` leaves it alone. With several processes,
  /// each has its own slice of the batch's gradient, until all call `gather_gradients`.
  const ParameterBlock<Backend>& gradients() const { return gradients_; }
  void gather_gradients() {
    detail::or_fail_together(all(), [&] {
      if (ready_) fail("gather_gradients", "a backward() before it", "none since the last loss");
      slices_.gather(division_, detail::numbers_to_change(gradients_), gradients_.size());
    });
  }
  const Optimizer& optimizer() const { return optimizer_; }
  Optimizer& optimizer() { return optimizer_; }
  /// Multiplies the optimizer's learning rate from now on.
  void scale_rate(double factor) { rate_factor_ = factor; }

  /// Throws unless the model has the sizes that it had when this object was made: another may have been
  /// assigned to it, and gradients and moments would no longer fit.
  void require_same_sizes(std::string_view where) const {
    const auto now = detail::sizes_of(std::as_const(*model_));
    if (now == sizes_) return;
    fail(where, "a model of the sizes that the training was made for: " + sizes_.text(), now.text(),
         "make a new Training or Trainer after assigning another model");
  }

  // What resuming needs, beside the weights. With several processes, each has the moments of its own slice:
  // `gather_moments`, which all call, puts all of them into the blocks of rank 0, between a step and the next
  // loss; `take_moments` takes those of the slice.
  OptimizerState<Backend>& optimizer_state() { return state_; }
  void gather_moments(ParameterBlock<Backend>& first, ParameterBlock<Backend>& second) {
    has_gradients_ = false;  // their place is used
    for (auto [own, whole] : {std::pair(&state_.first, &first), std::pair(&state_.second, &second)}) {
      Scalar* place = detail::numbers_to_change(gradients_);
      Backend::copy(detail::numbers(std::as_const(*own)), own->size(), place + state_.begin);
      if (divides_steps()) slices_.gather_to_first(division_, place, gradients_.size());
      if (all().first()) Backend::copy(place, gradients_.size(), detail::numbers_to_change(*whole));
    }
  }
  void take_moments(const ParameterBlock<Backend>& first, const ParameterBlock<Backend>& second) {
    for (auto [own, whole] : {std::pair(&state_.first, &first), std::pair(&state_.second, &second)})
      Backend::copy(detail::numbers(*whole) + state_.begin, own->size(), detail::numbers_to_change(*own));
  }
  /// Bits that processes agree on: what any has set is in `agreed_votes` of all after the next loss.
  void set_votes(std::uint64_t votes) { votes_ = votes; }
  std::uint64_t agreed_votes() const { return agreed_votes_; }
  std::uint64_t batches() const { return batches_; }
  void set_batches(std::uint64_t count) { batches_ = count; }

 private:
  /// About as many rows as keep single-threaded matrix products fast.
  static constexpr std::size_t shard_rows = 32;

  /// Which numbers a block has, and where: adjoints read them there.
  using WeightState = std::pair<const Scalar*, std::uint64_t>;
  static WeightState state_of(const ParameterBlock<Backend>& block) {
    return {detail::numbers(block), block.version()};
  }
  const ParameterBlock<Backend>& weights() const { return std::as_const(*model_).weights(); }

  const AnyCommunicator& all() const { return options_.communicator; }
  detail::Replicas replicas() const { return {options_.replicas, all().rank(), all().size()}; }
  /// Whether each process moves a slice of the weights.
  bool divides_steps() const { return all().several() && detail::is_elementwise<Optimizer>; }

  void check() const {
    options_.check();
    if (options_.scheduled_sampling.active() && !detail::SamplesInputs<Model>)
      fail("scheduled_sampling", "a model that can sample what it reads, as EncoderDecoder can",
           "another one", "leave StepOptions::scheduled_sampling as it is");
    if constexpr (requires { optimizer_.check(); }) optimizer_.check();
    detail::require_same_everywhere(all(), "Training", detail::environment_of(*model_, optimizer_, options_));
  }

  /// Once: processes that begin with other weights would never notice.
  void require_same_weights() {
    if (!all().several() || same_weights_) return;
    detail::require_same_everywhere(all(), "Training", {{"weights", detail::weights_text(weights())}});
    same_weights_ = true;
  }

  /// The dropout of the step that comes.
  DropoutPlan dropout_of_step() const {
    const random::Key key = random::key_of(options_.seed, random::Stream::dropout).derive(batches_);
    const Model& model = *model_;
    if constexpr (requires { model.dropout_plan(key); })
      return model.dropout_plan(key);
    else if constexpr (requires { model.dropout(); })
      return {model.dropout(), key};
    else
      return {};
  }

  /// The scheduled sampling of the step that comes; its tape is up to each shard.
  InputSampling<Backend> sampling_of_step() const {
    return {nullptr, options_.scheduled_sampling.teacher(batches_),
            random::key_of(options_.seed, random::Stream::inputs).derive(batches_),
            options_.scheduled_sampling.choice};
  }

  /// How the shards of a batch are run.
  struct Pass {
    DropoutPlan dropout;
    double smoothing;
    Scalar* gradients;  // of the weights, or null: then nothing is recorded
    WeightPanels<Backend>* panels;
    InputSampling<Backend> sampling;
  };

  /// A run of a batch's rows with everything that its passes need.
  struct Shard {
    explicit Shard(bool checked) : tape(checked ? Mode::checked : Mode::record), quiet(Mode::infer) {}

    using Mode = typename Tape<Backend>::Mode;
    Tape<Backend> tape, quiet;  // one that records, one that does not
    typename detail::ScratchOf<Model>::Type scratch;
    std::optional<Objective<Backend>> objective;
    const Index* labels = nullptr;  // on the tape
  };

  /// What a shard makes of its rows.
  void forward(Shard& shard, const Pass& how, const Batch& batch, RowRange rows) {
    Tape<Backend>& tape = how.gradients != nullptr ? shard.tape : shard.quiet;
    if (tape.reset() && how.gradients != nullptr && options_.trim_memory) detail::return_free_memory();
    tape.bind({.weights = detail::numbers(weights()), .gradients = how.gradients, .panels = how.panels});
    if constexpr (detail::SamplesInputs<Model>) {
      shard.scratch.sampling = how.sampling;
      if (how.sampling.teacher < 1) {
        shard.quiet.reset();
        shard.quiet.bind({.weights = detail::numbers(weights()), .panels = how.panels});
        shard.scratch.sampling.tape = &shard.quiet;
      }
    }
    shard.objective.emplace(
        detail::objective_of(std::as_const(*model_), tape, batch, rows, how.dropout, shard.scratch));
    if (is_classification(shard))
      shard.labels = tape.keep(checked_labels(shard.objective->classes));
    else
      require_loss(*shard.objective, tape);
  }

  static void require_loss(const Objective<Backend>& objective, const Tape<Backend>& tape) {
    const Variable<Backend>& sum = objective.loss;
    if (sum.tape != &tape) fail("objective", "a loss on the tape that it was given", "one on another");
    if (sum.size() != 1) fail("objective", "a loss of one element", sum.shape.text(), "sum it first");
    if (tape.recording() && !sum.has_gradient() && objective.tokens > 0)
      fail("objective", "a loss that depends on the weights, or one of no tokens", "a constant");
  }

  static bool is_classification(const Shard& shard) { return shard.objective->loss.tape == nullptr; }

  static std::span<const Index> checked_labels(const Classification<Backend>& c) {
    const Shape& weight = c.layer.weight.shape;
    detail::require_equal("objective", "features of width", weight.cols(), c.features.cols());
    detail::require_equal("objective", "biases, one per class:", weight.rows(), c.layer.bias.shape.size());
    detail::require_equal("objective", "labels, one per row of features:", c.features.rows(),
                          c.labels.size());
    for (const Index label : c.labels)
      if (label < 0 || static_cast<std::size_t>(label) >= weight.rows())
        fail("objective", "labels from 0 to " + detail::text(weight.rows() - 1), detail::text(label));
    return c.labels;
  }

  /// In parts that depend neither on the threads nor on the processes, added in their order.
  double gradient_norm() {
    const Scalar* gradients = detail::numbers(std::as_const(gradients_));
    const auto squares = [&](Slice some) {
      return Backend::sum_of_squares(some.size(), gradients + some.begin);
    };
    if constexpr (SpreadingBackend<Backend>)
      return std::sqrt(ordered_sum(all(), squares(slice_), std::plus<>{}));
    squares_.resize(detail::Division::parts_of(gradients_.size()));
    const Slice own = division_.own();
    workers_.run(own.size(), [&](std::size_t i) {
      const std::size_t part = own.begin + i;
      squares_[part] = squares(detail::elements_of({part, part + 1}, gradients_.size()));
    });
    detail::gather_parts(division_, squares_);
    double total = 0;
    for (const double square : squares_) total += square;
    return std::sqrt(total);
  }

  /// The loss of all rows of a batch: of this process's replicas one after the other, then of all processes.
  Loss run_replicas(const Batch& batch, const Pass& how, detail::OutputLoss<Backend>& output_loss) {
    const std::size_t rows = std::as_const(*model_).check(batch);
    if (rows == 0) fail("loss", "a batch with rows", "none");
    const std::size_t own = replicas().own();
    losses_.assign(own, {});
    for (std::size_t i = 0; i < own; ++i) {
      const bool records = how.gradients != nullptr;
      if (records && i > 0) finish_replica(i - 1);
      if (records) begin(detail::Phase::forward);
      if (records) recorded_ = 0, done_.clear();
      if (const RowRange some = replicas().rows(i, rows); some.count > 0)
        losses_[i] = run(batch, some, how, output_loss);
    }
    const auto told =
        ordered_sum(all(), detail::LossMessage{detail::tree_sum(losses_), votes_}, detail::LossMessage::sum);
    agreed_votes_ = told.votes;
    return told.loss;
  }

  /// The gradients of the replica whose loss was computed last, the i-th of this process.
  void finish_replica(std::size_t i) {
    begin(detail::Phase::adjoint);
    workers_.run(recorded_, [&](std::size_t s) { shards_[s]->tape.play_adjoints(); });
    // Nobody needs the workspace any more.
    std::size_t first = 0;
    for (const Parameter& done : done_) {
      clear_gradients(first, done.offset);
      first = done.offset + done.shape.size();
    }
    clear_gradients(first, gradients_.size());
    shard_gradients_.clear();
    for (std::size_t s = 0; s < recorded_; ++s) shard_gradients_.add(shards_[s]->tape);
    shard_gradients_.sum(workers_);
    if (options_.replicas > 1) tree_.add(i, replicas().own(), gradients_, workers_);
  }

  /// The loss of some rows.
  Loss run(const Batch& batch, RowRange some, const Pass& how, detail::OutputLoss<Backend>& output_loss) {
    const std::size_t rows = some.count;
    const std::size_t used = SpreadingBackend<Backend> ? 1 : (rows + shard_rows - 1) / shard_rows;
    while (shards_.size() < used) shards_.push_back(std::make_unique<Shard>(options_.checked));
    workers_.run(used, [&](std::size_t s) {
      // Shards of equal size, give or take one row.
      const std::size_t begin = s * rows / used, end = (s + 1) * rows / used;
      forward(*shards_[s], how, batch, {some.first + begin, end - begin});
    });
    if (how.gradients != nullptr) recorded_ = used;
    if (is_classification(*shards_[0])) return classify(used, how, output_loss);
    if (how.gradients != nullptr) share_workspace(used, 0, gradients_.size());
    if (how.smoothing != 0) fail("label_smoothing", "an objective of classes", "a loss of another kind");
    Loss total;
    for (std::size_t s = 0; s < used; ++s) {
      const Objective<Backend>& objective = *shards_[s]->objective;
      total.sum += Backend::sum(1, objective.loss.value);
      total.tokens += objective.tokens;
      if (how.gradients != nullptr && objective.loss.has_gradient())
        Backend::fill(shards_[s]->tape.seed(objective.loss), 1, Scalar(1));
    }
    total.nats = total.sum;
    return total;
  }

  /// The loss of a classification, and where it is recorded the gradients of its layer and features.
  Loss classify(std::size_t used, const Pass& how, detail::OutputLoss<Backend>& output_loss) {
    const Classification<Backend>& first = shards_[0]->objective->classes;
    layer_ = first.layer;
    if (how.gradients != nullptr) {
      std::size_t tokens = 0;
      for (std::size_t s = 0; s < used; ++s) tokens += shards_[s]->objective->classes.labels.size();
      done_ = {layer_.weight, layer_.bias};
      if (layer_.bias.offset < layer_.weight.offset) std::swap(done_[0], done_[1]);
      share_workspace(used, detail::OutputLoss<Backend>::logits(tokens, layer_.weight.shape.rows()),
                      done_[0].offset);
      for (const Parameter& p : done_) clear_gradients(p.offset, p.offset + p.shape.size());
    }
    output_loss.clear();
    for (std::size_t s = 0; s < used; ++s) {
      const auto& [features, layer, labels, share] = shards_[s]->objective->classes;
      if (!is_classification(*shards_[s]) || share != first.share ||
          layer.weight.offset != layer_.weight.offset || layer.bias.offset != layer_.bias.offset)
        fail("objective", "one layer and one share for all rows of a batch", "others for some rows");
      Scalar* d_features =
          how.gradients != nullptr && features.has_gradient() ? shards_[s]->tape.seed(features) : nullptr;
      output_loss.add({features.value, d_features, shards_[s]->labels, features.rows()});
    }
    return output_loss.run(workers_, output_layer(how), first.share, how.smoothing);
  }

  /// Begins the loss: logits and packed weights have the workspace up to `limit`, but for what they do not
  /// need, which the tapes get.
  void share_workspace(std::size_t tapes, std::size_t logits, std::size_t limit) {
    // Weights take about as much packed for the adjoints as they have for the forward pass.
    const std::size_t packed = panels_.size() + panels_.size() / 8;
    begin(detail::Phase::loss);
    workspace_.share(std::max(logits, packed), limit, tapes);
    for (std::size_t s = 0; s < tapes; ++s) shards_[s]->tape.use(workspace_.share_of(s));
  }

  /// What the phase before has left in the workspace is gone: packed weights are made anew.
  void begin(detail::Phase phase) {
    workspace_.begin(phase);
    panels_.begin(detail::numbers(weights()), weights().size(), ++phases_);
  }

  /// Packed weights for passes that are not recorded.
  WeightPanels<Backend>* inference_panels() {
    quiet_panels_.begin(detail::numbers(weights()), weights().size(), weights().version());
    return &quiet_panels_;
  }

  void clear_gradients(std::size_t begin, std::size_t end) {
    constexpr std::size_t part = std::size_t{1} << (SpreadingBackend<Backend> ? 40 : 18);
    Scalar* gradients = detail::numbers_to_change(gradients_);
    workers_.run((end - begin + part - 1) / part, [&](std::size_t i) {
      Backend::fill(gradients + begin + i * part, std::min(part, end - begin - i * part), Scalar(0));
    });
  }

  typename detail::OutputLoss<Backend>::Layer output_layer(const Pass& how) const {
    Scalar* gradients = how.gradients;
    const auto& [weight, bias] = layer_;
    const Scalar* numbers = detail::numbers(weights());
    typename detail::OutputLoss<Backend>::Layer layer{numbers + weight.offset,
                                                      numbers + bias.offset,
                                                      gradients ? gradients + weight.offset : nullptr,
                                                      gradients ? gradients + bias.offset : nullptr,
                                                      weight.shape.rows(),
                                                      weight.shape.cols()};
    layer.pack(*how.panels);
    return layer;
  }

  Model* model_;
  Optimizer optimizer_;
  StepOptions options_;
  Workers workers_;
  ParameterBlock<Backend> gradients_;
  detail::Division division_;  // among processes
  Slice slice_;                // of this one
  OptimizerState<Backend> state_;
  // The gradients' own place is idle until the adjoints were played, so what nobody needs afterwards lies
  // there.
  detail::Workspace<Scalar> workspace_;
  WeightPanels<Backend> panels_, quiet_panels_;
  detail::OutputLoss<Backend> output_loss_, quiet_loss_;  // of `loss`, and of `evaluate`
  std::vector<std::unique_ptr<Shard>> shards_;
  detail::ShardGradients<Backend> shard_gradients_;
  detail::GradientTree<Backend> tree_;  // of this process's replicas
  detail::SliceSum<Backend> slices_;
  std::vector<Loss> losses_;  // of its replicas
  Dense layer_;               // that tells classes
  std::vector<Parameter>
      done_;  // its parameters, in the order of their places: their gradients come with the loss
  detail::FixedParameters<Backend> fixed_;
  std::vector<double> squares_;
  decltype(detail::sizes_of(std::declval<const Model&>())) sizes_;  // of the model, when this was made
  WeightState seen_{};                                              // at the last loss
  std::size_t recorded_ = 0;                                        // shards of the last loss
  std::uint64_t batches_ = 0;                                       // seen so far: it names the dropout masks
  std::uint64_t phases_ = 0;                                        // begun so far
  std::uint64_t votes_ = 0, agreed_votes_ = 0;
  double rate_factor_ = 1;
  bool ready_ = false, has_gradients_ = false, same_weights_ = false;
};

}  // namespace bahdanau
