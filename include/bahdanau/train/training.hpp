// The training step: loss(batch), backward(), step(), for a loop of one's own. `BatchGradient` computes what
// one process has to; here gradients of all processes are added, clipped, and given to the optimizer.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/parallel.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/train/batch_gradient.hpp>
#include <bahdanau/train/divergence.hpp>
#include <bahdanau/train/environment.hpp>
#include <bahdanau/train/fixed_parameters.hpp>
#include <bahdanau/train/loss.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/overlap.hpp>
#include <bahdanau/train/slices.hpp>
#include <bahdanau/train/step_options.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

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
  explicit Training(Model& model, Optimizer optimizer = {}, StepOptions settings = {})
      : model_(&model),
        optimizer_(optimizer),
        gradient_(model, std::move(settings)),
        division_(all(), detail::Division::parts_of(size())),
        slice_(detail::elements_of(division_.own(), size())),
        state_(divides_steps() ? slice_ : Slice{0, size()}),
        fixed_(fail_together(
            all(), [&] { return detail::FixedParameters<Backend>(model.parameters(), options().fixed); })),
        sizes_(detail::sizes_of(std::as_const(model))) {
    fail_together(all(), [&] { check(); });
  }

  /// The batch's loss. With the model's dropout, and recorded so that `backward` may follow. The last
  /// gradients are gone: their place is used until `backward` computes others. Those of the layer that tells
  /// classes are computed at once, as its logits are not kept, and those of all replicas but the last, too.
  /// Every process is given the whole batch, of which it reads its own rows, and gets the loss of it. Throws
  /// for a batch that does not fit.
  Loss loss(const Batch& batch) {
    return fail_together(all(), [&] {
      ready_ = has_gradients_ = false;
      require_same_sizes("loss");
      require_same_weights();
      const Loss total = gradient_.loss(batch);
      ready_ = true;
      seen_ = state_of(weights());
      return total;
    });
  }

  /// The batch's loss without dropout and smoothing, for validation: nothing is recorded.
  Loss evaluate(const Batch& batch) {
    return fail_together(all(), [&] {
      require_same_sizes("evaluate");
      return gradient_.evaluate(batch);
    });
  }

  /// The gradient of the last loss, for all parameters. Throws if there is none.
  void backward() {
    fail_together(all(), [&] {
      if (!ready_) fail("backward", "a loss(batch) before it", "none since the last backward");
      ready_ = false;
      require_same_sizes("backward");
      if (state_of(weights()) != seen_)
        fail("backward", "the weights that loss(batch) has seen", "others",
             "change or assign weights after step(), or before loss()");
      if (overlaps()) {
        backward_beside_reduce_scatter();
      } else {
        gradient_.backward();
        if (all().several()) slices_.reduce_scatter(division_, place_of_gradients(), size(), workers());
      }
      has_gradients_ = true;
    });
  }

  /// Clips the gradients and moves the weights. Returns the norm before clipping; throws `NotFinite`, and
  /// leaves the weights alone, where it is not finite. With several processes, each moves its own slice of
  /// them.
  double step() {
    return fail_together(all(), [&] {
      if (!has_gradients_) fail("step", "a backward() before it", "none since the last loss or step");
      has_gradients_ = false;
      require_same_sizes("step");
      if (fixed_.any()) fixed_.clear(gradient_.gradients());
      const double norm = gradient_norm();
      if (!std::isfinite(norm))
        fail<NotFinite>("step", "a finite gradient", detail::number_text(norm),
                        "lower the learning rate or clip");
      if (fixed_.any()) fixed_.keep(weights());
      if (all().several() && !divides_steps()) gather_gradients();
      optimizer_.update(
          state_, model_->weights(), gradients(),
          {clip_factor(norm, options().clip), rate_factor_, &workers(), divides_steps() ? &slice_ : nullptr});
      if (divides_steps())
        slices_.all_gather(division_, detail::numbers_to_change(model_->weights()), size());
      if (fixed_.any()) fixed_.restore(model_->weights());
      return norm;
    });
  }

  /// What `backward` has computed, until the next `loss`; `evaluate` leaves it alone. With several processes,
  /// each has its own slice of the batch's gradient, until all call `gather_gradients`.
  const ParameterBlock<Backend>& gradients() const { return gradient_.gradients(); }
  void gather_gradients() {
    fail_together(all(), [&] {
      if (ready_) fail("gather_gradients", "a backward() before it", "none since the last loss");
      slices_.all_gather(division_, place_of_gradients(), size());
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
  // loss; `scatter_moments`, which all call, gives each process its slice of them. The blocks of others are
  // not looked at, and may be empty.
  OptimizerState<Backend>& optimizer_state() { return state_; }
  void gather_moments(ParameterBlock<Backend>& first, ParameterBlock<Backend>& second) {
    has_gradients_ = false;  // their place is used
    for (auto [own, whole] : {std::pair(&state_.first, &first), std::pair(&state_.second, &second)}) {
      Scalar* place = place_of_gradients();
      Backend::copy(detail::numbers(std::as_const(*own)), own->size(), place + state_.begin);
      if (divides_steps()) slices_.gather_to_first(division_, place, size());
      if (all().first()) Backend::copy(place, size(), detail::numbers_to_change(*whole));
    }
  }
  void scatter_moments(const ParameterBlock<Backend>& first, const ParameterBlock<Backend>& second) {
    has_gradients_ = false;
    for (auto [own, whole] : {std::pair(&state_.first, &first), std::pair(&state_.second, &second)}) {
      Scalar* place = place_of_gradients();
      if (all().first()) Backend::copy(detail::numbers(*whole), size(), place);
      if (divides_steps())
        slices_.scatter_from_first(division_, place, size());
      else
        detail::broadcast_block<Backend>(all(), gradient_.gradients());
      Backend::copy(place + state_.begin, own->size(), detail::numbers_to_change(*own));
    }
  }
  /// Bits that processes agree on: what any has set is in `agreed_flags` of all after the next loss.
  void set_flags(std::uint64_t flags) { gradient_.set_flags(flags); }
  std::uint64_t agreed_flags() const { return gradient_.agreed_flags(); }
  [[deprecated("its name is set_flags")]] void set_votes(std::uint64_t flags) { set_flags(flags); }
  [[deprecated("its name is agreed_flags")]] std::uint64_t agreed_votes() const { return agreed_flags(); }
  std::uint64_t batches() const { return gradient_.batches(); }
  void set_batches(std::uint64_t count) { gradient_.set_batches(count); }

 private:
  /// Which numbers a block has, and where: adjoints read them there.
  using WeightState = std::pair<const Scalar*, std::uint64_t>;
  static WeightState state_of(const ParameterBlock<Backend>& block) {
    return {detail::numbers(block), block.version()};
  }
  const ParameterBlock<Backend>& weights() const { return gradient_.weights(); }
  std::size_t size() const { return gradients().size(); }  // of the weights, and of their gradients
  Scalar* place_of_gradients() { return detail::numbers_to_change(gradient_.gradients()); }
  const StepOptions& options() const { return gradient_.options(); }
  const AnyCommunicator& all() const { return gradient_.all(); }
  Workers& workers() { return gradient_.workers(); }
  /// Whether each process moves a slice of the weights.
  bool divides_steps() const { return all().several() && detail::is_elementwise<Optimizer>; }

  /// Whether gradients are sent while others are computed. Between hosts that hides what messages wait for;
  /// on one host they are copies, for which the cores that compute have no time to spare.
  bool overlaps() const {
    if constexpr (requires { requires Backend::host_memory; })
      return all().any_thread() && all().processes_on_host() < all().size();
    else
      return false;
  }

  /// The bits of backward() and then a sum, which do not depend on who is first.
  void backward_beside_reduce_scatter() {
    detail::FinishedElements finished(division_);
    detail::BackgroundThread sum([&, block = place_of_gradients()] {
      slices_.reduce_scatter(division_, block, size(), workers(), [&](Slice some) { finished.wait(some); });
    });
    try {
      gradient_.backward(finished);
    } catch (...) {
      finished.abandon();
      throw;
    }
    sum.join();
  }

  void check() const {
    options().check();
    if (options().scheduled_sampling.active() && !detail::SamplesInputs<Model>)
      fail("scheduled_sampling", "a model that can sample what it reads, as EncoderDecoder can",
           "another one", "leave StepOptions::scheduled_sampling as it is");
    if constexpr (requires { optimizer_.check(); }) optimizer_.check();
    detail::require_same_everywhere(all(), "Training",
                                    detail::environment_of(*model_, optimizer_, options()));
  }

  /// Once: processes that begin with other weights would never notice.
  void require_same_weights() {
    if (!all().several() || same_weights_) return;
    detail::require_same_everywhere(all(), "Training", {{"weights", detail::weights_text(weights())}});
    same_weights_ = true;
  }

  /// In parts that depend neither on the threads nor on the processes, added in their order.
  double gradient_norm() {
    const Scalar* numbers = detail::numbers(gradients());
    const auto squares = [&](Slice some) {
      return Backend::sum_of_squares(some.size(), numbers + some.begin);
    };
    if constexpr (SpreadingBackend<Backend>)
      return std::sqrt(ordered_sum(all(), squares(slice_), std::plus<>{}));
    squares_.resize(detail::Division::parts_of(size()));
    const Slice own = division_.own();
    workers().run(own.size(), [&](std::size_t i) {
      const std::size_t part = own.begin + i;
      squares_[part] = squares(detail::elements_of({part, part + 1}, size()));
    });
    detail::all_gather_parts(division_, squares_);
    double total = 0;
    for (const double square : squares_) total += square;
    return std::sqrt(total);
  }

  Model* model_;
  Optimizer optimizer_;
  detail::BatchGradient<Model> gradient_;
  detail::Division division_;  // among processes
  Slice slice_;                // of this one
  OptimizerState<Backend> state_;
  detail::SliceSum<Backend> slices_;
  detail::FixedParameters<Backend> fixed_;
  std::vector<double> squares_;
  decltype(detail::sizes_of(std::declval<const Model&>())) sizes_;  // of the model, when this was made
  WeightState seen_{};                                              // at the last loss
  double rate_factor_ = 1;
  bool ready_ = false, has_gradients_ = false, same_weights_ = false;
};

}  // namespace bahdanau
