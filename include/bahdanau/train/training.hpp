// The training step: loss(batch), backward(), step(), for a loop of one's own.
// A batch is cut into shards by its size alone; each has a tape, and their gradients are added in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/core/free_memory.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/model/encoder_decoder.hpp>
#include <bahdanau/train/loss.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/output_loss.hpp>
#include <bahdanau/train/shard_gradients.hpp>

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

  /// Throws for settings that are no numbers, or out of range.
  void check() const {
    if (!(clip >= 0)) fail("clip", "a bound of at least 0", detail::number_text(clip));
    detail::require_share("label_smoothing", label_smoothing);
  }
};

/// Trains one model: `loss(batch)`, then `backward()`, then `step()`.
template <class Model, class Optimizer = Adam>
class Training {
 public:
  using Backend = typename Model::Backend;
  using Cell = typename Model::Cell;
  using Scalar = typename Model::Scalar;

  /// The model must outlive this object. Throws for settings of the optimizer or the step that are no
  /// numbers, or out of range.
  explicit Training(Model& model, Optimizer optimizer = {}, StepOptions options = {})
      : model_(&model),
        optimizer_(optimizer),
        options_(options),
        workers_(detail::threads_for<Backend>(options.threads)),
        gradients_(model.parameters()),
        state_(model.parameters()),
        workspace_(detail::numbers_to_change(gradients_), output_layer_begins()),
        panels_(&workspace_),
        output_loss_(&workspace_) {
    options_.check();
    sizes_ = sizes();
    if constexpr (requires { optimizer_.check(); }) optimizer_.check();
  }

  /// The batch's loss. With the model's dropout, and recorded so that `backward` may follow. The last
  /// gradients are gone: their place is used until `backward` computes others. Those of the output layer are
  /// computed at once, as its logits are not kept.
  /// Throws for a batch whose rows, lengths or tokens do not fit.
  Loss loss(const Batch& batch) {
    ready_ = has_gradients_ = false;
    require_same_sizes("loss");
    const DropoutPlan plan{model_->config().dropout,
                           random::key_of(options_.seed, random::Stream::dropout).derive(batches_)};
    const ParameterBlock<Backend>& weights = std::as_const(*model_).weights();
    begin(detail::Phase::forward);
    const Loss total = run(batch,
                           {plan, options_.label_smoothing, detail::numbers_to_change(gradients_), &panels_,
                            options_.trim_memory},
                           output_loss_);
    ++batches_;
    ready_ = true;
    seen_ = state_of(weights);
    return total;
  }

  /// The batch's loss without dropout and smoothing, for validation: nothing is recorded.
  Loss evaluate(const Batch& batch) {
    require_same_sizes("evaluate");
    return run(batch, {{}, 0, nullptr, model_->panels()}, quiet_loss_);
  }

  /// The gradient of the last loss, for all parameters. Throws if there is none.
  void backward() {
    if (!ready_) fail("backward", "a loss(batch) before it", "none since the last backward");
    ready_ = false;
    require_same_sizes("backward");
    if (state_of(std::as_const(*model_).weights()) != seen_)
      fail("backward", "the weights that loss(batch) has seen", "others",
           "change or assign weights after step(), or before loss()");
    begin(detail::Phase::adjoint);
    workers_.run(recorded_, [&](std::size_t s) { shards_[s]->tape.play_adjoints(); });
    clear_gradients(0, output_layer_begins());  // nobody needs the workspace any more
    shard_gradients_.clear();
    for (std::size_t s = 0; s < recorded_; ++s) shard_gradients_.add(shards_[s]->tape);
    shard_gradients_.sum(workers_);
    has_gradients_ = true;
  }

  /// Clips the gradients and moves the weights. Returns the norm before clipping; throws, and leaves the
  /// weights alone, where it is not finite.
  double step() {
    if (!has_gradients_) fail("step", "a backward() before it", "none since the last loss or step");
    has_gradients_ = false;
    require_same_sizes("step");
    const double norm = gradient_norm();
    if (!std::isfinite(norm))
      fail("step", "a finite gradient", detail::number_text(norm), "lower the learning rate or clip");
    optimizer_.update(state_, model_->weights(), gradients_,
                      {clip_factor(norm, options_.clip), rate_factor_, &workers_});
    return norm;
  }

  /// What `backward` has computed, until the next `loss`; `evaluate` leaves it alone.
  const ParameterBlock<Backend>& gradients() const { return gradients_; }
  const Optimizer& optimizer() const { return optimizer_; }
  Optimizer& optimizer() { return optimizer_; }
  /// Multiplies the optimizer's learning rate from now on.
  void scale_rate(double factor) { rate_factor_ = factor; }

  /// Throws unless the model has the sizes that it had when this object was made: another may have been
  /// assigned to it, and gradients and moments would no longer fit.
  void require_same_sizes(std::string_view where) const {
    const Sizes now = sizes();
    if (now == sizes_) return;
    fail(where, "a model of the sizes that the training was made for: " + sizes_.text(), now.text(),
         "make a new Training or Trainer after assigning another model");
  }

  // What resuming needs, beside the weights.
  OptimizerState<Backend>& optimizer_state() { return state_; }
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

  /// What decides how weights are laid out.
  struct Sizes {
    std::size_t embed, hidden, layers, source, target, weights;
    bool operator==(const Sizes&) const = default;
    std::string text() const {
      const auto number = [](std::size_t n) { return detail::text(n); };
      return "embed " + number(embed) + ", hidden " + number(hidden) + ", layers " + number(layers) +
             ", vocabularies of " + number(source) + " and " + number(target) + ", " + number(weights) +
             " weights";
    }
  };
  Sizes sizes() const {
    const Config& config = model_->config();
    return {config.embed,
            config.hidden,
            config.layers,
            model_->vocabularies().source.size(),
            model_->vocabularies().target.size(),
            std::as_const(*model_).weights().size()};
  }

  /// How the shards of a batch are run.
  struct Pass {
    DropoutPlan dropout;
    double smoothing;
    Scalar* gradients;  // of the weights, or null: then nothing is recorded
    WeightPanels<Backend>* panels;
    bool trim = false;  // see StepOptions::trim_memory
  };

  /// A run of a batch's rows with everything that its passes need.
  struct Shard {
    Shard(const Model& model, typename Tape<Backend>::Mode mode) : tape(mode), quiet(model.inference()) {}

    void forward(const Pass& how, const Model& model, const Batch& batch, std::size_t first,
                 std::size_t count) {
      Tape<Backend>& on = how.gradients != nullptr ? tape : quiet;
      const DropoutPlan& plan = how.dropout;
      if (on.reset() && how.trim) detail::return_free_memory();
      on.bind(
          {.weights = detail::numbers(model.weights()), .gradients = how.gradients, .panels = how.panels});
      const auto source = detail::SequenceRows::of(batch.source, first, count);
      const auto target = detail::SequenceRows::of(batch.target, first, count);
      model.encoder_network().run(on, model.encoder_input(source, plan), encoding);
      detail::require_sentence_keys("loss", encoding, source.count);
      const auto& decoder = model.decoder_network();
      decoder.run(on,
                  {decoder.remember(encoding.outputs), encoding.begin, encoding.length, encoding.last,
                   encoding.packing.rank()},
                  target, Model::Decoder::Inputs::shifted, plan, pass);
      labels.resize(pass.packing.tokens());
      pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
        labels[row] = target.at(sentence, t);
      });
      wanted = on.keep(labels);
    }

    Tape<Backend> tape, quiet;  // one that records, one that does not
    detail::Encoding<Cell, Backend> encoding;
    detail::DecoderPass<Cell, Backend> pass;
    std::vector<Index> labels;
    const Index* wanted = nullptr;  // the labels on the tape
  };

  /// In parts that do not depend on the threads, added in their order.
  double gradient_norm() {
    const ParameterBlock<Backend>& gradients = gradients_;
    const std::size_t n = gradients.size();
    const std::size_t part = SpreadingBackend<Backend> ? n : std::size_t{1} << 16;
    squares_.resize((n + part - 1) / part);
    workers_.run(squares_.size(), [&](std::size_t i) {
      squares_[i] =
          Backend::sum_of_squares(std::min(part, n - i * part), detail::numbers(gradients) + i * part);
    });
    double total = 0;
    for (const double square : squares_) total += square;
    return std::sqrt(total);
  }

  Loss run(const Batch& batch, const Pass& how, detail::OutputLoss<Backend>& output_loss) {
    const Model& model = *model_;
    batch.check(model.vocabularies().source.size(), model.vocabularies().target.size());
    const std::size_t rows = batch.source.rows();
    const std::size_t used = SpreadingBackend<Backend> ? 1 : (rows + shard_rows - 1) / shard_rows;
    const auto mode = options_.checked ? Tape<Backend>::Mode::checked : Tape<Backend>::Mode::record;
    while (shards_.size() < used) shards_.push_back(std::make_unique<Shard>(model, mode));
    workers_.run(used, [&](std::size_t s) {
      // Shards of equal size, give or take one row.
      const std::size_t begin = s * rows / used, end = (s + 1) * rows / used;
      shards_[s]->forward(how, model, batch, begin, end - begin);
    });
    if (how.gradients != nullptr) {
      recorded_ = used;
      // Weights take about as much packed for the adjoints as they have for the forward pass.
      const std::size_t logits = detail::OutputLoss<Backend>::logits(rows * batch.target.width(),
                                                                     model.vocabularies().target.size()),
                        packed = panels_.size() + panels_.size() / 8;
      begin(detail::Phase::loss);
      workspace_.share(std::max(logits, packed), used);
      for (std::size_t s = 0; s < used; ++s) shards_[s]->tape.use(workspace_.share_of(s));
      clear_gradients(output_layer_begins(), gradients_.size());
    }
    output_loss.clear();
    for (std::size_t s = 0; s < used; ++s) {
      const Variable<Backend>& outputs = shards_[s]->pass.outputs;
      Scalar* dh = how.gradients != nullptr ? shards_[s]->tape.seed(outputs) : nullptr;
      output_loss.add({outputs.value, dh, shards_[s]->wanted, outputs.rows()});
    }
    return output_loss.run(workers_, output_layer(how), 1.0 / static_cast<double>(model.loss_divisor()),
                           how.smoothing);
  }

  /// What the phase before has left in the workspace is gone: packed weights are made anew.
  void begin(detail::Phase phase) {
    const ParameterBlock<Backend>& weights = std::as_const(*model_).weights();
    workspace_.begin(phase);
    panels_.begin(detail::numbers(weights), weights.size(), ++phases_);
  }

  /// The output layer's parameters are the last, and its gradients the only ones that come before `backward`.
  std::size_t output_layer_begins() const { return model_->decoder_network().dense().weight.offset; }

  void clear_gradients(std::size_t begin, std::size_t end) {
    constexpr std::size_t part = std::size_t{1} << (SpreadingBackend<Backend> ? 40 : 18);
    Scalar* gradients = detail::numbers_to_change(gradients_);
    workers_.run((end - begin + part - 1) / part, [&](std::size_t i) {
      Backend::fill(gradients + begin + i * part, std::min(part, end - begin - i * part), Scalar(0));
    });
  }

  typename detail::OutputLoss<Backend>::Layer output_layer(const Pass& how) const {
    Scalar* gradients = how.gradients;
    const auto& [weight, bias] = model_->decoder_network().dense();
    const Scalar* weights = detail::numbers(std::as_const(*model_).weights());
    typename detail::OutputLoss<Backend>::Layer layer{weights + weight.offset,
                                                      weights + bias.offset,
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
  OptimizerState<Backend> state_;
  // The gradients' own place, up to the output layer's: idle until the adjoints were played, so what nobody
  // needs afterwards lies there.
  detail::Workspace<Scalar> workspace_;
  WeightPanels<Backend> panels_;
  detail::OutputLoss<Backend> output_loss_, quiet_loss_;  // of `loss`, and of `evaluate`
  std::vector<std::unique_ptr<Shard>> shards_;
  detail::ShardGradients<Backend> shard_gradients_;
  std::vector<double> squares_;
  Sizes sizes_{};              // of the model, when this was made
  WeightState seen_{};         // at the last loss
  std::size_t recorded_ = 0;   // shards of the last loss
  std::uint64_t batches_ = 0;  // seen so far: it names the dropout masks
  std::uint64_t phases_ = 0;   // begun so far
  double rate_factor_ = 1;
  bool ready_ = false, has_gradients_ = false;
};

}  // namespace bahdanau
