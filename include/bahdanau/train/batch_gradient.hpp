// The loss of a batch and its gradient, as far as one process computes it: before it meets other processes
// and an optimizer. A batch is cut into replicas and these into shards, by their sizes alone; each shard has
// a tape, and gradients are added in a fixed order, whoever has computed them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/free_memory.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/train/environment.hpp>
#include <bahdanau/train/loss.hpp>
#include <bahdanau/train/output_loss.hpp>
#include <bahdanau/train/overlap.hpp>
#include <bahdanau/train/replicas.hpp>
#include <bahdanau/train/shard_gradients.hpp>
#include <bahdanau/train/step_options.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau::detail {

template <class Model>
class BatchGradient {
 public:
  using Backend = typename Model::Backend;
  using Batch = typename Model::Batch;
  using Scalar = typename Backend::Scalar;

  BatchGradient(Model& model, StepOptions options)
      : model_(&model),
        options_(std::move(options)),
        workers_(threads_for<Backend>(threads_of_process(options_)), options_.pool),
        gradients_(model.parameters()),
        workspace_(numbers_to_change(gradients_), gradients_.size()),
        panels_(&workspace_),
        output_loss_(&workspace_) {}

  /// Recorded, with dropout; all gradients but the last replica's are computed.
  Loss loss(const Batch& batch) {
    const Loss total = run_replicas(batch,
                                    {dropout_of_step(), options_.label_smoothing,
                                     numbers_to_change(gradients_), &panels_, sampling_of_step()},
                                    output_loss_);
    ++batches_;
    return total;
  }
  /// Without dropout and smoothing; nothing is recorded.
  Loss evaluate(const Batch& batch) {
    return run_replicas(batch, {{}, 0, nullptr, inference_panels(), {}}, quiet_loss_);
  }
  /// The gradient of the last loss, summed over this process's replicas.
  void backward() { finish_replica(replicas().own() - 1); }
  /// The same, for a thread that sends it meanwhile.
  void backward(FinishedElements& finished) { finish_replica(replicas().own() - 1, &finished); }

  const StepOptions& options() const { return options_; }
  const AnyCommunicator& all() const { return options_.communicator; }
  const ParameterBlock<Backend>& weights() const { return std::as_const(*model_).weights(); }
  ParameterBlock<Backend>& gradients() { return gradients_; }
  const ParameterBlock<Backend>& gradients() const { return gradients_; }
  Workers& workers() { return workers_; }

  /// Bits that processes agree on: what any has set is in `agreed_flags` of all after the next loss.
  void set_flags(std::uint64_t flags) { flags_ = flags; }
  std::uint64_t agreed_flags() const { return agreed_flags_; }

  std::uint64_t batches() const { return batches_; }
  void set_batches(std::uint64_t count) { batches_ = count; }

 private:
  /// About as many rows as keep single-threaded matrix products fast.
  static constexpr std::size_t shard_rows = 32;

  Replicas replicas() const { return {options_.replicas, all().rank(), all().size()}; }

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
    typename ScratchOf<Model>::Type scratch;
    std::optional<Objective<Backend>> objective;
    const Index* labels = nullptr;  // on the tape
  };

  /// What a shard makes of its rows.
  void forward(Shard& shard, const Pass& how, const Batch& batch, RowRange rows) {
    Tape<Backend>& tape = how.gradients != nullptr ? shard.tape : shard.quiet;
    if (tape.reset() && how.gradients != nullptr && options_.trim_memory) return_free_memory();
    tape.bind({.weights = numbers(weights()), .gradients = how.gradients, .panels = how.panels});
    if constexpr (SamplesInputs<Model>) {
      shard.scratch.sampling = how.sampling;
      if (how.sampling.teacher < 1) {
        shard.quiet.reset();
        shard.quiet.bind({.weights = numbers(weights()), .panels = how.panels});
        shard.scratch.sampling.tape = &shard.quiet;
      }
    }
    shard.objective.emplace(
        objective_of(std::as_const(*model_), tape, batch, rows, how.dropout, shard.scratch));
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
    require_equal("objective", "features of width", weight.cols(), c.features.cols());
    require_equal("objective", "biases, one per class:", weight.rows(), c.layer.bias.shape.size());
    require_equal("objective", "labels, one per row of features:", c.features.rows(), c.labels.size());
    for (const Index label : c.labels)
      if (label < 0 || static_cast<std::size_t>(label) >= weight.rows())
        fail("objective", "labels from 0 to " + text(weight.rows() - 1), text(label));
    return c.labels;
  }

  /// The loss of all rows of a batch: of this process's replicas one after the other, then of all processes.
  Loss run_replicas(const Batch& batch, const Pass& how, OutputLoss<Backend>& output_loss) {
    const std::size_t rows = std::as_const(*model_).check(batch);
    if (rows == 0) fail("loss", "a batch with rows", "none");
    const std::size_t own = replicas().own();
    losses_.assign(own, {});
    for (std::size_t i = 0; i < own; ++i) {
      const bool records = how.gradients != nullptr;
      if (records && i > 0) finish_replica(i - 1);
      if (records) begin(Phase::forward);
      if (records) recorded_ = 0, done_.clear();
      if (const RowRange some = replicas().rows(i, rows); some.count > 0)
        losses_[i] = run(batch, some, how, output_loss);
    }
    const auto told = ordered_sum(all(), LossMessage{tree_sum(losses_), flags_}, LossMessage::sum);
    agreed_flags_ = told.flags;
    return told.loss;
  }

  /// The gradients of the replica whose loss was computed last, the i-th of this process.
  void finish_replica(std::size_t i, FinishedElements* finished = nullptr) {
    begin(Phase::adjoint);
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
    // Where a process has several replicas, nothing is finished before it has added them.
    const bool at_once = finished != nullptr && replicas().own() == 1;
    shard_gradients_.sum(workers_, at_once ? finished : nullptr, numbers(std::as_const(gradients_)));
    if (at_once) return;
    if (options_.replicas > 1) tree_.add(i, replicas().own(), gradients_, workers_);
    if (finished != nullptr) finished->begin();
  }

  /// The loss of some rows.
  Loss run(const Batch& batch, RowRange some, const Pass& how, OutputLoss<Backend>& output_loss) {
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
  Loss classify(std::size_t used, const Pass& how, OutputLoss<Backend>& output_loss) {
    const Classification<Backend>& first = shards_[0]->objective->classes;
    layer_ = first.layer;
    if (how.gradients != nullptr) {
      std::size_t tokens = 0;
      for (std::size_t s = 0; s < used; ++s) tokens += shards_[s]->objective->classes.labels.size();
      done_ = {layer_.weight, layer_.bias};
      if (layer_.bias.offset < layer_.weight.offset) std::swap(done_[0], done_[1]);
      share_workspace(used, OutputLoss<Backend>::logits(tokens, layer_.weight.shape.rows()), done_[0].offset);
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
    begin(Phase::loss);
    workspace_.share(std::max(logits, packed), limit, tapes);
    for (std::size_t s = 0; s < tapes; ++s) shards_[s]->tape.use(workspace_.share_of(s));
  }

  /// What the phase before has left in the workspace is gone: packed weights are made anew.
  void begin(Phase phase) {
    workspace_.begin(phase);
    panels_.begin(numbers(weights()), weights().size(), ++phases_);
  }

  /// Packed weights for passes that are not recorded.
  WeightPanels<Backend>* inference_panels() {
    quiet_panels_.begin(numbers(weights()), weights().size(), weights().version());
    return &quiet_panels_;
  }

  void clear_gradients(std::size_t begin, std::size_t end) {
    constexpr std::size_t part = std::size_t{1} << (SpreadingBackend<Backend> ? 40 : 18);
    Scalar* gradients = numbers_to_change(gradients_);
    workers_.run((end - begin + part - 1) / part, [&](std::size_t i) {
      Backend::fill(gradients + begin + i * part, std::min(part, end - begin - i * part), Scalar(0));
    });
  }

  typename OutputLoss<Backend>::Layer output_layer(const Pass& how) const {
    Scalar* gradients = how.gradients;
    const auto& [weight, bias] = layer_;
    const Scalar* all_weights = numbers(weights());
    typename OutputLoss<Backend>::Layer layer{all_weights + weight.offset,
                                              all_weights + bias.offset,
                                              gradients ? gradients + weight.offset : nullptr,
                                              gradients ? gradients + bias.offset : nullptr,
                                              weight.shape.rows(),
                                              weight.shape.cols()};
    layer.pack(*how.panels);
    return layer;
  }

  Model* model_;
  StepOptions options_;
  Workers workers_;
  ParameterBlock<Backend> gradients_;
  // The gradients' own place is idle until the adjoints were played, so what nobody needs afterwards lies
  // there.
  Workspace<Scalar> workspace_;
  WeightPanels<Backend> panels_, quiet_panels_;
  OutputLoss<Backend> output_loss_, quiet_loss_;  // of `loss`, and of `evaluate`
  std::vector<std::unique_ptr<Shard>> shards_;
  ShardGradients<Backend> shard_gradients_;
  GradientTree<Backend> tree_;  // of this process's replicas
  std::vector<Loss> losses_;    // of its replicas
  Dense layer_;                 // that tells classes
  std::vector<Parameter>
      done_;  // its parameters, in the order of their places: their gradients come with the loss
  std::size_t recorded_ = 0;  // shards of the last loss
  std::uint64_t flags_ = 0, agreed_flags_ = 0;
  std::uint64_t batches_ = 0;  // seen so far: it names the dropout masks
  std::uint64_t phases_ = 0;   // begun so far
};

}  // namespace bahdanau::detail
