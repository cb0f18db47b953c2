// Requests of many clients over one model of any policies: sentences that wait together are decoded together.
// The library's `Translator` is the same for one type of model, and one translation of a sentence.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/decode/batch_queue.hpp>
#include <bahdanau/decode/limits.hpp>

#include "any_model.hpp"
#include "commands.hpp"
#include "requests.hpp"

namespace cli {

class RequestQueue {
 public:
  using Clock = std::chrono::steady_clock;
  using Results = std::vector<std::vector<bd::Translation>>;

  /// The model must outlive this object.
  RequestQueue(const AnyModel& model, const ServeOptions& options)
      : model_(&model),
        options_(options),
        queue_("Server",
               {options.batch, options.queue, std::chrono::microseconds(0), bd::ThreadPool::cores()},
               {[](const Sentence& a, const Sentence& b) {
                  return a.search == b.search && a.explained == b.explained;
                },
                [](const Sentence&) { return true; },
                [this](std::vector<Sentence> batch) { answer(std::move(batch)); }}) {}

  /// The translations of a request's sentences. Throws `QueueFull`, `LimitError` beyond the deadline or the
  /// memory, and what the model throws.
  Results translate(const TranslateRequest& request) {
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(options_.deadline));
    std::vector<std::future<std::vector<bd::Translation>>> answers;
    for (const std::string& source : request.sources) {
      Sentence sentence{source, request.search, request.explained, deadline, {}};
      answers.push_back(sentence.answer.get_future());
      queue_.add(std::move(sentence));
    }
    Results results;
    for (auto& answer : answers) results.push_back(answer.get());
    served_ += results.size();
    return results;
  }

  std::size_t waiting() const { return queue_.waiting(); }
  /// Sentences that were answered.
  std::size_t served() const { return served_; }
  /// How often sentences were decoded together, or one by itself: fewer than sentences where some waited.
  std::size_t batches() const { return batches_; }

 private:
  struct Sentence {
    std::string source;
    SearchOptions search;
    bool explained;
    Clock::time_point deadline;
    std::promise<std::vector<bd::Translation>> answer;
  };

  void answer(std::vector<Sentence> batch) {
    // What has waited for too long is not worth the work.
    std::vector<Sentence> ready;
    for (Sentence& sentence : batch) try {
        bd::detail::check_deadline({.deadline = sentence.deadline}, 0);
        ready.push_back(std::move(sentence));
      } catch (...) {
        sentence.answer.set_exception(std::current_exception());
      }
    if (ready.empty()) return;
    ++batches_;
    Results found;
    try {
      found = translated(ready);
    } catch (...) {  // one of them is at fault: each alone
      for (Sentence& sentence : ready) answer_alone(sentence);
      return;
    }
    for (std::size_t i = 0; i < ready.size(); ++i) give(ready[i], std::move(found[i]));
  }

  void answer_alone(Sentence& sentence) const {
    std::vector<Sentence> one;
    one.push_back(std::move(sentence));
    try {
      give(one.front(), translated(one).front());
    } catch (...) {
      one.front().answer.set_exception(std::current_exception());
    }
  }

  static void give(Sentence& sentence, std::vector<bd::Translation> found) {
    try {
      bd::detail::check_deadline({.deadline = sentence.deadline}, 0);
      sentence.answer.set_value(std::move(found));
    } catch (const bd::Error&) {
      sentence.answer.set_exception(std::current_exception());
    }
  }

  Results translated(const std::vector<Sentence>& batch) const {
    std::vector<std::string> sources;
    Clock::time_point last = Clock::time_point::min();
    for (const Sentence& sentence : batch) {
      sources.push_back(sentence.source);
      last = std::max(last, sentence.deadline);
    }
    Search search = batch.front().search.search();
    std::visit(
        [&](auto& options) {
          options.threads = 1;  // batches run side by side
          options.limits.deadline = last;
          options.limits.memory = options_.max_memory << 20U;
          if (!batch.front().explained) return;
          options.heads = true;
          options.runners_up = 6;
          if constexpr (requires { options.history; }) options.history = true;
        },
        search);
    return model_->translate(sources, search);
  }

  const AnyModel* model_;
  ServeOptions options_;
  std::atomic<std::size_t> served_{0}, batches_{0};
  bd::detail::BatchQueue<Sentence> queue_;
};

}  // namespace cli
