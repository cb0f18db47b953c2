// The trainer: epochs over a corpus, with validation, early stopping, checkpoints and a progress bar.
// Seed, data and settings decide the result to the bit; threads, interruptions and the display do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/checkpoint.hpp>
#include <bahdanau/train/options.hpp>
#include <bahdanau/train/progress.hpp>
#include <bahdanau/train/report.hpp>
#include <bahdanau/train/training.hpp>

namespace bahdanau {

/// Trains a model on a corpus.
template <class Model, class Optimizer = Adam>
class Trainer {
 public:
  using Backend = typename Model::Backend;

  /// The model must outlive this object.
  explicit Trainer(Model& model, Optimizer optimizer = {}, TrainerOptions options = {})
      : model_(&model),
        options_(std::move(options)),
        training_(model, optimizer,
                  {options_.clip, options_.threads, options_.seed, options_.label_smoothing}),
        good_(model.parameters()),
        best_(model.parameters()) {
    if (options_.batch == 0) fail("TrainerOptions.batch", "at least 1", "0");
    if (const double decay = options_.schedule.decay; !(decay > 0 && decay <= 1))
      fail("Schedule.decay", "a factor above 0 and at most 1", detail::number_text(decay));
  }

  /// Trains for `epochs`, or until `stop`. With a validation set the model ends with the weights of the epoch
  /// that did best on it. Throws where weights or a loss are no longer finite; the model then has those of
  /// the last epoch that ended well, or of the best one on the validation set.
  ///
  /// Called again it trains for `epochs` more: the weights, the optimizer's moments and the dropout masks go
  /// on; the count of epochs, the order of the pairs and the schedule start anew.
  TrainingReport fit(const Corpus& corpus) { return run(corpus, nullptr); }
  TrainingReport fit(const Corpus& corpus, const Corpus& validation) { return run(corpus, &validation); }

  /// Ends `fit` after the current epoch; for the callback.
  void stop() { stop_ = true; }

 private:
  TrainingReport run(const Corpus& corpus, const Corpus* validation) {
    require_vocabulary(corpus);
    if (validation) require_vocabulary(*validation);
    state_ = {};
    state_.settings = settings(corpus, validation);
    stop_ = false;
    copy_weights(good_);
    copy_weights(best_);
    if (options_.resume && !options_.checkpoint.empty() && std::filesystem::exists(options_.checkpoint))
      restore(validation);
    stop_ = out_of_patience(validation != nullptr);  // a checkpoint may be that of the last epoch
    detail::ProgressDisplay display(options_.progress, options_.epochs, state_.epoch + 1);
    while (state_.epoch < options_.epochs && !stop_) {
      EpochReport report = train_epoch(corpus, validation, display);
      if (validation) report.validation = evaluate(*validation);
      require_sound(report, corpus);
      finish_epoch(report, validation != nullptr);
      display.epoch(report, stop_);
      if (checkpoint_due() || (!options_.checkpoint.empty() && (stop_ || state_.epoch == options_.epochs)))
        save(validation);
      if (options_.on_epoch) options_.on_epoch(report);
    }
    display.finish();
    if (validation && state_.report.best_epoch > 0) model_->weights() = best_;
    return state_.report;
  }

  EpochReport train_epoch(const Corpus& corpus, const Corpus* validation, detail::ProgressDisplay& display) {
    using Clock = std::chrono::steady_clock;
    const EpochPlan plan(corpus, options_.batch, options_.grouping,
                         random::Key{options_.seed}.derive(7).derive(state_.epoch));
    EpochReport report{.epoch = state_.epoch + 1};
    const auto start = Clock::now();
    const double before = state_.seconds;
    for (; state_.batch < plan.batches();) {
      training_.scale_rate(state_.schedule.at(options_.schedule, training_.optimizer_state().steps));
      const Loss loss = training_.loss(make_batch(corpus, plan.pairs(state_.batch)));
      if (!std::isfinite(loss.sum)) give_up(this_batch(), "a finite loss", loss.sum);
      training_.backward();
      try {
        training_.step();
      } catch (const Error&) {
        give_up(this_batch(), "a finite gradient of the loss", loss.sum);
      }
      state_.running += loss;
      ++state_.batch;
      state_.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
      report.training = state_.running;
      report.seconds = state_.seconds;
      display.batch(report, state_.batch, plan.batches());
      if (options_.checkpoint_every != 0 && state_.batch % options_.checkpoint_every == 0 &&
          state_.batch < plan.batches() && checkpoint_due()) {
        require_finite_weights(this_batch());
        save(validation);
      }
    }
    report.training = state_.running;
    report.seconds = state_.seconds;
    report.rate_factor = state_.schedule.factor;
    return report;
  }

  void finish_epoch(EpochReport& report, bool validated) {
    const auto& epochs = state_.report.epochs;
    const std::uint64_t best = state_.report.best_epoch;
    report.best = best == 0 || report.criterion() < epochs[static_cast<std::size_t>(best) - 1].criterion();
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

  Loss evaluate(const Corpus& validation) {
    Loss total;
    std::vector<std::size_t> pairs;
    for (std::size_t begin = 0; begin < validation.size(); begin += options_.batch) {
      pairs.clear();
      for (std::size_t i = begin; i < std::min(validation.size(), begin + options_.batch); ++i)
        pairs.push_back(i);
      total += training_.evaluate(make_batch(validation, pairs));
    }
    return total;
  }

  /// Throws, with the last good weights in the model, unless an epoch has ended well. Without a validation
  /// set a few pairs stand for all: weights can be finite, and too large to give a finite loss.
  void require_sound(const EpochReport& report, const Corpus& corpus) {
    const std::string where = "training, end of epoch " + detail::text(report.epoch);
    require_finite_weights(where);
    if (report.validation) {
      if (!std::isfinite(report.validation->sum))
        give_up(where, "a finite validation loss", report.validation->sum);
      return;
    }
    constexpr std::size_t few = 16;
    std::vector<std::size_t> pairs;
    const std::size_t apart = (corpus.size() + few - 1) / few;
    for (std::size_t i = 0; i < corpus.size(); i += apart) pairs.push_back(i);
    const Loss loss = training_.evaluate(make_batch(corpus, pairs));
    if (!std::isfinite(loss.sum)) give_up(where, "a finite loss", loss.sum);
  }

  void require_finite_weights(std::string_view where) {
    const ParameterBlock<Backend>& weights = std::as_const(*model_).weights();
    // A sum has no number where one of its terms has none.
    if (const double sum = Backend::sum(weights.size(), weights.data()); !std::isfinite(sum))
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
    fail(where, expected, detail::number_text(got),
         "the model has " +
             (epoch == 0 ? "its first weights" : "the weights of epoch " + detail::text(epoch)) +
             "; lower the learning rate or the bound of clipping");
  }

  void copy_weights(ParameterBlock<Backend>& to) const { to = model_->weights(); }

  void require_vocabulary(const Corpus& corpus) const {
    if (!(corpus.vocabularies() == model_->vocabularies()))
      fail("Trainer", "a corpus with the model's vocabularies", "a corpus with others",
           "read it with Corpus::read(path, model.vocabularies())");
  }

  CheckpointBlocks<Backend> blocks(const Corpus* validation) {
    auto& optimizer = training_.optimizer_state();
    return {&model_->weights(), &optimizer.first, &optimizer.second, validation ? &best_ : nullptr, &good_};
  }
  static double seconds_since(std::chrono::steady_clock::time_point t) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
  }
  bool checkpoint_due() const {
    // Writing a large one must not take more than a small part of the time.
    const double apart =
        options_.checkpoint_seconds > 0 ? std::max(options_.checkpoint_seconds, 20 * saving_) : 0;
    return !options_.checkpoint.empty() && seconds_since(saved_) >= apart;
  }
  void save(const Corpus* validation) {
    const auto start = std::chrono::steady_clock::now();
    state_.batches = training_.batches();
    state_.optimizer_steps = training_.optimizer_state().steps;
    write_checkpoint<Backend>(options_.checkpoint, state_, model_->parameters(), blocks(validation));
    saving_ = seconds_since(start);
    saved_ = std::chrono::steady_clock::now();
  }
  void restore(const Corpus* validation) {
    const ParameterBlock<Backend> before = model_->weights();
    state_ = read_checkpoint<Backend>(options_.checkpoint, state_.settings, model_->parameters(),
                                      blocks(validation));
    if (const std::uint64_t begun = state_.epoch + (state_.batch > 0 ? 1 : 0); begun > options_.epochs) {
      model_->weights() = before;
      fail(options_.checkpoint.string(),
           "epochs of at least " + detail::text(begun) + ", which it has " +
               (state_.batch > 0 ? "begun" : "done"),
           detail::text(options_.epochs));
    }
    training_.set_batches(state_.batches);
    training_.optimizer_state().steps = state_.optimizer_steps;
  }

  /// What decides the result, beside the number of epochs.
  std::map<std::string, std::string> settings(const Corpus& corpus, const Corpus* validation) const {
    const auto number = [](double x) { return detail::number_text(x); };
    const auto& o = options_;
    const TextOptions& text = model_->vocabularies().text;
    return {{"cell", std::string(Model::Cell::name)},
            {"score", std::string(Model::Score::name)},
            {"encoder", std::string(Model::Encoder::name)},
            {"dropout", number(static_cast<double>(model_->config().dropout))},
            {"final_state", std::string(name(model_->config().final_state))},
            {"optimizer", std::string(training_.optimizer().name)},
            {"rate", number(training_.optimizer().rate)},
            {"batch", detail::text(o.batch)},
            {"clip", number(o.clip)},
            {"seed", detail::text(o.seed)},
            {"grouping", o.grouping == Grouping::random ? "random" : "by_length"},
            {"label_smoothing", number(o.label_smoothing)},
            {"schedule", detail::text(o.schedule.warm_up) + "/" + detail::text(o.schedule.patience) + "/" +
                             number(o.schedule.decay)},
            {"text", std::string(name(text.tokens)) + (text.lowercase ? ", lower case, " : ", ") +
                         detail::text(text.max_length) + " tokens"},
            {"data", fingerprint(corpus)},
            {"validation", validation ? fingerprint(*validation) : "none"}};
  }

  static std::string fingerprint(const Corpus& corpus) {
    random::Key key{corpus.size()};
    for (const auto* vocabulary : {&corpus.vocabularies().source, &corpus.vocabularies().target})
      for (const std::string& token : vocabulary->tokens())
        for (const char c : token + "\n") key = key.derive(static_cast<unsigned char>(c));
    for (const auto* rows : {&corpus.source(), &corpus.target()})
      for (const auto& row : *rows)
        for (const Token id : row) key = key.derive(static_cast<std::uint64_t>(id));
    return detail::text(corpus.size()) + " pairs, fingerprint " + detail::text(key.state);
  }

  Model* model_;
  TrainerOptions options_;
  Training<Model, Optimizer> training_;
  ParameterBlock<Backend> good_, best_;
  CheckpointState state_;
  std::chrono::steady_clock::time_point saved_{};
  double saving_ = 0;  // seconds that the last checkpoint took
  bool stop_ = false;
};

}  // namespace bahdanau
