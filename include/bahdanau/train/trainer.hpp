// The trainer: epochs over a corpus or other data, with validation, early stopping, checkpoints and a
// progress bar. Seed, data and settings decide the result to the bit; threads, processes, interruptions and
// the display do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/checkpoint.hpp>
#include <bahdanau/train/checkpointing.hpp>
#include <bahdanau/train/divergence.hpp>
#include <bahdanau/train/options.hpp>
#include <bahdanau/train/progress.hpp>
#include <bahdanau/train/replicas.hpp>
#include <bahdanau/train/report.hpp>
#include <bahdanau/train/settings.hpp>
#include <bahdanau/train/slices.hpp>
#include <bahdanau/train/trainable.hpp>
#include <bahdanau/train/training.hpp>
#include <bahdanau/train/warnings.hpp>

namespace bahdanau {

static_assert(TrainingData<Corpus, Batch>);

/// Trains a model on a corpus, or on other data that model TrainingData (train/trainable.hpp).
template <class Model, class Optimizer = Adam>
class Trainer : detail::CheckedTraining<Model, Optimizer> {
 public:
  // Only so that a wrong combination prints its one sentence and no more.
  explicit Trainer(Model&, Optimizer = {}, TrainerOptions = {}) {}
  void fit(...) {}
};

template <class Model, class Optimizer>
requires detail::Trains<Model, Optimizer>
class Trainer<Model, Optimizer> {
 public:
  using Backend = typename Model::Backend;

  /// The model must outlive this object.
  explicit Trainer(Model& model, Optimizer optimizer = {}, TrainerOptions options = {})
      : model_(&model),
        options_(std::move(options)),
        training_(model, optimizer, detail::step_options(options_)),
        good_(model.parameters()),
        best_(model.parameters()),
        checkpointing_(options_) {
    fail_together(all(), [&] {
      if (options_.batch == 0) fail("TrainerOptions.batch", "at least 1", "0");
      if (const double decay = options_.schedule.decay; !(decay > 0 && decay <= 1))
        fail("Schedule.decay", "a factor above 0 and at most 1", detail::number_text(decay));
      detail::require_not_negative("TrainerOptions.min_delta", options_.min_delta);
    });
  }

  /// Trains for `epochs`, or until `stop`. With a validation set the model ends with the weights of the epoch
  /// that did best on it. Throws `NotFinite` where weights or a loss are no longer finite; the model then has
  /// those of the last epoch that ended well, or of the best one on the validation set. After another error,
  /// of data that cannot be read any more say, it has those of the batch before.
  ///
  /// Called again it trains for `epochs` more: the weights, the optimizer's moments and the dropout masks go
  /// on; the count of epochs, the order of the pairs and the schedule start anew.
  ///
  /// `on_epoch` is called before a checkpoint has its epoch: after a kill between the two, resuming trains
  /// and reports that epoch once more. So what it writes is never missing, and written twice at most.
  ///
  /// A checkpoint that cannot be written, for a full disk say, is a warning, and tried again when the next
  /// one is due. Warnings are lines on standard error, and none with `Progress::silent`.
  ///
  /// With several processes all call it, with the same data; all end with the same weights and report, but
  /// for seconds and failed checkpoints. Rank 0 alone prints, writes checkpoints and calls `on_batch`, which
  /// must leave the weights alone then, and `on_epoch`, which may change them. An interruption of one ends
  /// all after the same batch. An error in all of them is thrown in all; one in some of them ends all.
  template <class Data>
  TrainingReport fit(const Data& data) {
    return fail_together(all(), [&] { return run<Data>(data, nullptr); });
  }
  template <class Data>
  TrainingReport fit(const Data& data, const std::type_identity_t<Data>& validation) {
    return fail_together(all(), [&] { return run<Data>(data, &validation); });
  }

  /// Ends `fit` after the current epoch; for the callback.
  void stop() { stop_ = true; }

 private:
  template <class Data>
  TrainingReport run(const Data& data, const Data* validation) {
    static_assert(
        TrainingData<Data, typename Model::Batch>,
        "bahdanau: Trainer::fit needs a Corpus, or data with size(), make_batch(data, examples) that "
        "gives the model's Batch, length_of(data, i) and fingerprint(data); see TrainingData in "
        "train/trainable.hpp");
    if (data.size() == 0) fail("Trainer::fit", "data with examples", "none");
    if (options_.criterion.measure && !validation)
      fail("TrainerOptions.criterion", "a validation set, whose best epoch it decides", "none");
    training_.require_same_sizes("Trainer::fit");
    require_vocabulary(data);
    if (validation) require_vocabulary(*validation);
    state_ = {};
    state_.settings = detail::training_settings(*model_, training_.optimizer(), options_, data, validation);
    require_same_everywhere();
    stop_ = false;
    copy_weights(good_);
    copy_weights(best_);
    if (checkpointing_.wanted()) {
      resume(data.size(), validation != nullptr);
      checkpointing_.require_place();  // an error now, and not after an epoch
    }
    stop_ = out_of_patience(validation != nullptr);  // a checkpoint may be that of the last epoch
    detail::ProgressDisplay display(all().first() ? options_.progress : Progress::silent, options_.epochs,
                                    state_.epoch + 1, options_.criterion.name);
    describe_data(data, validation, display);
    detail::Divergence divergence(loss_of_guessing());
    for (const EpochReport& report : state_.report.epochs) watch(divergence, report, nullptr);
    while (state_.epoch < options_.epochs && !stop_) {
      EpochReport report = train_epoch(data, validation, display);
      if (validation && !state_.report.interrupted) report.validation = evaluate(*validation);
      if (state_.report.interrupted) {
        require_finite_weights(this_batch());
        if (checkpointing_.wanted()) save(validation != nullptr, display);
        break;
      }
      require_sound(report, data);
      measure(report);
      finish_epoch(report, validation != nullptr);
      display.epoch(report);
      watch(divergence, report, &display);
      call_back(report);  // first: what it writes of an epoch is there when a checkpoint has the epoch
      if (due_after_epoch()) save(validation != nullptr, display);
    }
    display.finish();
    if (validation && state_.report.best_epoch > 0) model_->weights() = best_;
    return state_.report;
  }

  const AnyCommunicator& all() const { return options_.communicator; }

  /// Where processes train on other data, or with other settings, none of them starts.
  void require_same_everywhere() const {
    if (!all().several()) return;
    detail::Settings settings = state_.settings;
    settings.emplace("epochs", detail::text(options_.epochs));
    settings.emplace("patience", detail::text(options_.patience));
    settings.emplace("checkpoint", options_.checkpoint.empty() ? "none" : "some");
    settings.emplace("checkpoint_every", detail::text(options_.checkpoint_every));
    settings.emplace("resume", options_.resume ? "true" : "false");
    detail::require_same_everywhere(all(), "Trainer::fit", settings);
  }

  /// What the caller compares epochs by: rank 0 measures it, and the others hear of it.
  void measure(EpochReport& report) const {
    if (!options_.criterion.measure) return;
    double value = 0;
    if (all().first()) {
      const std::uint64_t before = std::as_const(*model_).weights().version();
      value = options_.criterion.measure();
      if (std::as_const(*model_).weights().version() != before)
        fail("TrainerOptions.criterion", "weights that it leaves as they are", "others",
             "change them in on_epoch");
    }
    broadcast(all(), std::as_writable_bytes(std::span(&value, 1)));
    if (!std::isfinite(value))
      fail("TrainerOptions.criterion", "a finite number", detail::number_text(value));
    report.measured = value;
  }

  /// Rank 0 alone calls it; what it did to the weights, and `stop`, is so everywhere.
  void call_back(const EpochReport& report) {
    const std::uint64_t before = std::as_const(*model_).weights().version();
    if (all().first() && options_.on_epoch) {
      options_.on_epoch(report);
      training_.require_same_sizes("Trainer::fit");
    }
    if (!all().several()) return;
    stop_ = any_process(all(), stop_);
    if (of_first(all(), std::as_const(*model_).weights().version() != before))
      detail::broadcast_block<Backend>(all(), model_->weights());
  }

  /// Once at the start: what is in the data that nobody may have wanted.
  template <class Data>
  void describe_data(const Data& data, const Data* validation, detail::ProgressDisplay& display) {
    if (options_.progress != Progress::silent)
      if (const auto what = detail::build_warning<detail::optimised>()) display.warn(*what);
    if constexpr (requires { detail::facts_of(data); })
      detail::describe_text(data, validation, state_.report,
                            [&](const std::string& what) { display.warn(what); });
  }

  /// Says, once, that the loss has risen where it should have fallen.
  void watch(detail::Divergence& divergence, const EpochReport& report, detail::ProgressDisplay* display) {
    const double loss = report.training.nats_per_token();
    if (!divergence.observe(loss) || state_.report.diverged_epoch > 0) return;
    state_.report.diverged_epoch = report.epoch;
    if (display) display->warn(divergence.warning(report.epoch, loss));
  }

  /// In nats per token; none where a model has no vocabulary.
  double loss_of_guessing() const {
    if constexpr (requires { model_->vocabularies().target.size(); })
      return std::log(static_cast<double>(model_->vocabularies().target.size()));
    else
      return std::numeric_limits<double>::infinity();
  }

  // What processes say to each other with a batch's loss, so that all do the same after it.
  static constexpr std::uint64_t interrupt_flag = 1, checkpoint_flag = 2;

  bool asked_to_end() const { return options_.interrupt && options_.interrupt->load(); }
  void set_flags() {
    if (!all().several()) return;
    training_.set_flags((asked_to_end() ? interrupt_flag : 0) |
                        (all().first() && checkpointing_.due() ? checkpoint_flag : 0));
  }
  bool interrupted() {
    const bool now = all().several() ? (training_.agreed_flags() & interrupt_flag) != 0 : asked_to_end();
    if (now) state_.report.interrupted = true;
    return state_.report.interrupted;
  }

  template <class Data>
  EpochReport train_epoch(const Data& data, const Data* validation, detail::ProgressDisplay& display) {
    using Clock = std::chrono::steady_clock;
    const EpochPlan plan(data, options_.batch, options_.grouping,
                         random::key_of(options_.seed, random::Stream::shuffling).derive(state_.epoch),
                         whose<Data>());
    EpochReport report{.epoch = state_.epoch + 1};
    const auto start = Clock::now();
    const double before = state_.seconds;
    for (; state_.batch < plan.batches();) {
      training_.scale_rate(state_.schedule.at(options_.schedule, training_.optimizer_state().steps));
      set_flags();
      const Loss loss =
          training_.loss(batch_of_epoch(data, plan.pairs(state_.batch), plan.rows(state_.batch)));
      if (!std::isfinite(loss.sum)) give_up(this_batch(), "a finite loss", loss.sum);
      training_.backward();
      double norm = 0;
      try {
        norm = training_.step();
      } catch (const NotFinite&) {
        give_up(this_batch(), "a finite gradient of the loss", loss.sum);
      }
      state_.running += loss;
      ++state_.batch;
      state_.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
      report.training = state_.running;
      report.seconds = state_.seconds;
      display.batch(report, state_.batch, plan.batches());
      if (all().first() && options_.on_batch) {
        const std::uint64_t version = std::as_const(*model_).weights().version();
        options_.on_batch(
            {report.epoch, state_.batch, plan.batches(), loss, norm, rate_of_step(), state_.seconds});
        if (all().several() && std::as_const(*model_).weights().version() != version)
          fail("on_batch", "weights that it leaves as they are, with several processes", "others",
               "change them in on_epoch, which all processes hear of");
      }
      if (options_.checkpoint_every != 0 && state_.batch % options_.checkpoint_every == 0 &&
          state_.batch < plan.batches() && due_after_batch()) {
        require_finite_weights(this_batch());
        save(validation != nullptr, display);
      }
      if (interrupted()) break;
    }
    report.training = state_.running;
    report.seconds = state_.seconds;
    report.rate_factor = state_.schedule.factor;
    return report;
  }

  /// The learning rate of the step that was just done.
  double rate_of_step() {
    const double factor = state_.schedule.at(options_.schedule, training_.optimizer_state().steps - 1);
    if constexpr (requires { training_.optimizer().rate; })
      return factor * static_cast<double>(training_.optimizer().rate);
    else
      return factor;
  }

  /// Whose rows a process reads: its own, or all where data are not divided.
  template <class Data>
  detail::Replicas whose() const {
    if constexpr (DivisibleData<Data, typename Model::Batch>)
      return {options_.replicas, all().rank(), all().size()};
    else
      return {};
  }
  /// A batch of so many rows, of which this process reads its examples.
  template <class Data>
  typename Model::Batch batch_of(const Data& data, std::span<const std::size_t> examples,
                                 std::size_t rows) const {
    if constexpr (DivisibleData<Data, typename Model::Batch>)
      return make_batch(data, examples, BatchPart{rows, whose<Data>().own_rows(rows), all()});
    else
      return make_batch(data, examples);
  }
  /// The same, of the epoch at hand.
  template <class Data>
  typename Model::Batch batch_of_epoch(const Data& data, std::span<const std::size_t> examples,
                                       std::size_t rows) const {
    const random::Key key = random::key_of(options_.seed, random::Stream::segmentation).derive(state_.epoch);
    if constexpr (DivisibleData<Data, typename Model::Batch>)
      return batch_of(data, examples, rows);
    else if constexpr (requires { make_batch(data, examples, key); })
      return make_batch(data, examples, key);
    else
      return make_batch(data, examples);
  }
  /// A batch of the examples first, first + apart, ..., so many.
  template <class Data>
  typename Model::Batch batch_of_every(const Data& data, std::size_t first, std::size_t apart,
                                       std::size_t rows) const {
    const RowRange own = whose<Data>().own_rows(rows);
    std::vector<std::size_t> examples;
    for (std::size_t i = 0; i < own.count; ++i) examples.push_back(first + (own.first + i) * apart);
    return batch_of(data, examples, rows);
  }

  void finish_epoch(EpochReport& report, bool validated) {
    const auto& epochs = state_.report.epochs;
    const std::uint64_t best = state_.report.best_epoch;
    const double delta = validated ? options_.min_delta : 0;
    report.best =
        best == 0 || report.criterion() < epochs[static_cast<std::size_t>(best) - 1].criterion() - delta;
    if (report.best) {
      state_.report.best_epoch = report.epoch;
      if (validated) copy_weights(best_);
    }
    copy_weights(good_);
    state_.report.epochs.push_back(report);
    state_.schedule.observe(options_.schedule, report.criterion());
    state_.running = {};
    state_.seconds = 0;
    state_.batch = 0;
    ++state_.epoch;
    if (out_of_patience(validated)) stop_ = true;
  }

  /// Whether the last `patience` epochs brought nothing better; the report then says so.
  bool out_of_patience(bool validated) {
    return state_.report.stopped_early = validated && options_.patience > 0 &&
                                         state_.epoch - state_.report.best_epoch >= options_.patience;
  }

  template <class Data>
  Loss evaluate(const Data& validation) {
    Loss total;
    for (std::size_t begin = 0; begin < validation.size(); begin += options_.batch) {
      set_flags();
      total += training_.evaluate(
          batch_of_every(validation, begin, 1, std::min(options_.batch, validation.size() - begin)));
      if (interrupted()) break;  // it starts anew when training is resumed
    }
    return total;
  }

  /// Throws, with the last good weights in the model, unless an epoch has ended well. Without a validation
  /// set a few pairs stand for all: weights can be finite, and too large to give a finite loss.
  template <class Data>
  void require_sound(const EpochReport& report, const Data& data) {
    const std::string where = "training, end of epoch " + detail::text(report.epoch);
    require_finite_weights(where);
    if (report.validation) {
      if (!std::isfinite(report.validation->sum))
        give_up(where, "a finite validation loss", report.validation->sum);
      return;
    }
    constexpr std::size_t sample_size = 16;
    const std::size_t apart = (data.size() + sample_size - 1) / sample_size;
    const Loss loss = training_.evaluate(batch_of_every(data, 0, apart, (data.size() - 1) / apart + 1));
    if (!std::isfinite(loss.sum)) give_up(where, "a finite loss", loss.sum);
  }

  void require_finite_weights(std::string_view where) {
    const ParameterBlock<Backend>& weights = std::as_const(*model_).weights();
    // A sum has no number where one of its terms has none.
    if (const double sum = Backend::sum(weights.size(), detail::numbers(weights)); !std::isfinite(sum))
      give_up(where, "finite weights", sum);
  }

  std::string this_batch() const {
    return "training, epoch " + detail::text(state_.epoch + 1) + ", batch " + detail::text(state_.batch + 1);
  }

  /// Puts the last good weights back and throws.
  [[noreturn]] void give_up(std::string_view where, std::string_view expected, double got) {
    const bool validated = state_.settings.at("validation") != "none" && state_.report.best_epoch > 0;
    const std::uint64_t epoch = validated ? state_.report.best_epoch : state_.epoch;
    model_->weights() = validated ? best_ : good_;
    fail<NotFinite>(where, expected, detail::number_text(got),
                    "the model has " +
                        (epoch == 0 ? "its first weights" : "the weights of epoch " + detail::text(epoch)) +
                        "; lower the learning rate or the bound of clipping");
  }

  void copy_weights(ParameterBlock<Backend>& to) const { to = model_->weights(); }

  template <class Data>
  void require_vocabulary(const Data& data) const {
    if constexpr (requires { data.vocabularies() == model_->vocabularies(); })
      if (!(data.vocabularies() == model_->vocabularies()))
        fail("Trainer", "a corpus with the model's vocabularies", "a corpus with others",
             "read it with Corpus::read(path, model.vocabularies())");
  }

  CheckpointBlocks<Backend> blocks(bool validated) {
    auto& optimizer = training_.optimizer_state();
    return {&model_->weights(), &optimizer.first, &optimizer.second, validated ? &best_ : nullptr, &good_};
  }
  /// Whether one is written now; the last epoch's always is, as is that of the epoch that ends the training.
  bool due_after_epoch() const {
    const bool last = stop_ || state_.epoch == options_.epochs;
    return of_first(all(), checkpointing_.due() || (checkpointing_.wanted() && last));
  }
  bool due_after_batch() const {
    return all().several() ? (training_.agreed_flags() & checkpoint_flag) != 0 : checkpointing_.due();
  }
  void save(bool validated, detail::ProgressDisplay& display) {
    checkpointing_.save(state_, model_->parameters(), blocks(validated), training_, display);
  }
  void resume(std::size_t examples, bool validated) {
    const auto check = [&](const CheckpointState& state) {
      const std::size_t batches = (examples - 1) / options_.batch + 1;  // there are examples
      if (state.batch > batches)                                        // an epoch would pass without any
        fail(options_.checkpoint.string(), "at most the " + detail::text(batches) + " batches of an epoch",
             detail::text(state.batch));
      if (const std::uint64_t begun = state.epoch + (state.batch > 0 ? 1 : 0); begun > options_.epochs)
        fail(options_.checkpoint.string(),
             "epochs of at least " + detail::text(begun) + ", which it has " +
                 (state.batch > 0 ? "begun" : "done"),
             detail::text(options_.epochs));
    };
    checkpointing_.resume(state_, model_->parameters(), blocks(validated), training_, check);
  }

  Model* model_;
  TrainerOptions options_;
  Training<Model, Optimizer> training_;
  ParameterBlock<Backend> good_, best_;
  CheckpointState state_;
  detail::Checkpointing<Backend> checkpointing_;
  bool stop_ = false;
};

}  // namespace bahdanau
