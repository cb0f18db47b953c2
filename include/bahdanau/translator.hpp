// Translator: requests from many threads, decoded together. What waits while others are served goes into one
// batch, which costs little more than one of its sentences; each answer has the bits that it has alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/decode/batch_queue.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/frozen.hpp>
#include <bahdanau/model/translation.hpp>

namespace bahdanau {

struct TranslatorOptions {
  std::size_t batch = 64;             // most requests that are decoded together
  std::size_t queue = 1024;           // most requests that wait; more are refused
  std::chrono::microseconds wait{0};  // how long a request waits for company; with a deadline it does not
  std::size_t threads = 0;            // batches that are decoded side by side; 0: one per core
};

/// A request was cancelled before its turn came.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// What a request ends with: a translation, or what was thrown.
struct Outcome {
  std::optional<Translation> translation;
  std::exception_ptr error;
};

/// Serves requests until it is destroyed, which waits for those that were accepted. All functions may be
/// called from any thread.
template <class Model>
class Translator {
 public:
  using Callback = std::function<void(Outcome)>;

  /// Throws for options of 0.
  explicit Translator(Frozen<Model> frozen, const TranslatorOptions& options = {})
      : frozen_(std::move(frozen)), queue_("Translator", checked(options), rules()) {}

  const Frozen<Model>& model() const { return frozen_; }

  /// The translation of a sentence, once it is there. What is beyond its limits, not UTF-8, out of range or
  /// cancelled throws from the future. Throws `QueueFull` at once where too many others wait.
  std::future<Translation> submit(std::string sentence, const Greedy& options = {},
                                  std::stop_token stop = {}) {
    return submit_any(std::move(sentence), options, std::move(stop));
  }
  std::future<Translation> submit(std::string sentence, const Beam& options, std::stop_token stop = {}) {
    return submit_any(std::move(sentence), options, std::move(stop));
  }
  /// The same for a function that is called with it, on one of the translator's threads. It must not throw,
  /// and others wait for it.
  void submit(std::string sentence, Callback callback, const Greedy& options = {},
              std::stop_token stop = {}) {
    enqueue(std::move(sentence), options, std::move(stop), std::move(callback));
  }
  void submit(std::string sentence, Callback callback, const Beam& options, std::stop_token stop = {}) {
    enqueue(std::move(sentence), options, std::move(stop), std::move(callback));
  }

  /// How many requests wait.
  std::size_t waiting() const { return queue_.waiting(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Options = std::variant<Greedy, Beam>;
  struct Request {
    std::string sentence;
    Options options;
    std::stop_token stop;
    Callback callback;
  };
  using Queue = detail::BatchQueue<Request>;

  static detail::BatchQueueOptions checked(const TranslatorOptions& options) {
    if (options.batch == 0) fail("TranslatorOptions.batch", "at least 1", "0");
    if (options.queue == 0) fail("TranslatorOptions.queue", "at least 1", "0");
    return {options.batch, options.queue, options.wait,
            ThreadPool::count_of(detail::threads_for<typename Model::Backend>(options.threads))};
  }
  typename Queue::Rules rules() const {
    return {[](const Request& a, const Request& b) { return fit(a.options, b.options); },
            [](const Request& request) {
              return limits_of(request.options).deadline != Clock::time_point::max();
            },
            [this](std::vector<Request> batch) { answer(std::move(batch)); }};
  }

  template <class SearchOptions>
  std::future<Translation> submit_any(std::string sentence, const SearchOptions& options,
                                      std::stop_token stop) {
    auto promise = std::make_shared<std::promise<Translation>>();
    std::future<Translation> future = promise->get_future();
    enqueue(std::move(sentence), options, std::move(stop), [promise](Outcome outcome) {
      if (outcome.error)
        promise->set_exception(outcome.error);
      else
        promise->set_value(std::move(*outcome.translation));
    });
    return future;
  }

  template <class SearchOptions>
  void enqueue(std::string sentence, const SearchOptions& options, std::stop_token stop, Callback callback) {
    if constexpr (requires { options.on_token; })
      if (options.on_token)
        fail("Translator::submit", "options without on_token", "some with it", "stream with translate()");
    if (!callback) fail("Translator::submit", "a function to call", "an empty one");
    queue_.add({std::move(sentence), options, std::move(stop), std::move(callback)});
  }

  /// Whether two requests are one search but for their limits, which are checked for each.
  static bool fit(const Options& a, const Options& b) {
    if (a.index() != b.index()) return false;
    if (const auto* x = std::get_if<Greedy>(&a)) {
      const auto& y = std::get<Greedy>(b);
      return fit_alike(*x, y);
    }
    const auto &x = std::get<Beam>(a), &y = std::get<Beam>(b);
    return x.width == y.width && x.nbest == y.nbest && x.length_power == y.length_power &&
           x.length_offset == y.length_offset && x.coverage_penalty == y.coverage_penalty &&
           x.required == y.required && x.history == y.history && fit_alike(x, y);
  }
  /// Of that, what all searches have.
  template <class SearchOptions>
  static bool fit_alike(const SearchOptions& x, const SearchOptions& y) {
    return x.max_length == y.max_length && x.replace_unknown == y.replace_unknown && x.heads == y.heads &&
           x.limits.target_tokens == y.limits.target_tokens && x.min_length == y.min_length &&
           x.forbidden == y.forbidden && x.prefix == y.prefix && x.runners_up == y.runners_up;
  }

  static const Limits& limits_of(const Options& options) {
    return std::visit([](const auto& o) -> const Limits& { return o.limits; }, options);
  }

  void answer(std::vector<Request> batch) const {
    // Those that cannot be served are answered at once, and the others do not wait for them.
    std::vector<Request> ready;
    for (Request& request : batch) {
      if (request.stop.stop_requested()) {
        request.callback({{}, std::make_exception_ptr(Cancelled("Translator: the request was cancelled"))});
        continue;
      }
      try {
        std::visit(
            [&](const auto& options) {
              const std::string_view sentence = request.sentence;
              detail::require_utf8("translate", sentence);
              const detail::Constraints constraints(options, frozen_.vocabularies());
              detail::check_limits(*frozen_.sessions(), {&sentence, 1}, options, constraints);
              detail::check_deadline(options.limits, 0);
            },
            request.options);
        ready.push_back(std::move(request));
      } catch (...) {
        request.callback({{}, std::current_exception()});
      }
    }
    if (ready.empty()) return;
    std::vector<Outcome> outcomes(ready.size());
    try {
      std::vector<std::string_view> sentences;
      Clock::time_point last = Clock::time_point::min();
      for (const Request& request : ready) {
        sentences.push_back(request.sentence);
        last = std::max(last, limits_of(request.options).deadline);
      }
      auto found = std::visit(
          [&](auto options) {
            options.threads = 1;
            Limits limits;  // those that remain
            limits.target_tokens = options.limits.target_tokens;
            limits.deadline = last;
            options.limits = limits;
            return detail::translate_best(*frozen_.sessions(), sentences, options);
          },
          ready.front().options);
      for (std::size_t i = 0; i < ready.size(); ++i) outcomes[i].translation = std::move(found[i]);
    } catch (...) {
      // One of them is at fault: each alone.
      for (std::size_t i = 0; i < ready.size(); ++i) outcomes[i] = alone(ready[i]);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      try {
        if (outcomes[i].translation) detail::check_deadline(limits_of(ready[i].options), 0);
      } catch (...) {
        outcomes[i] = {{}, std::current_exception()};
      }
      ready[i].callback(std::move(outcomes[i]));
    }
  }

  Outcome alone(const Request& request) const {
    try {
      return {std::visit(
                  [&](auto options) {
                    options.threads = 1;
                    return frozen_.translate(request.sentence, options);
                  },
                  request.options),
              nullptr};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }

  Frozen<Model> frozen_;
  Queue queue_;
};

template <class Model>
Translator(Frozen<Model>) -> Translator<Model>;
template <class Model>
Translator(Frozen<Model>, TranslatorOptions) -> Translator<Model>;

}  // namespace bahdanau
