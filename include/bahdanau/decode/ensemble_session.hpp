// Several models that decode together: each moves on with the same hypotheses, and what a search reads is
// their mean. The models may have different policies; a member hides its own behind an interface.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/decode/groups.hpp>
#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/session_pool.hpp>
#include <bahdanau/decode/stepper.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/text/pairs.hpp>

namespace bahdanau {

/// What the models of an ensemble give for a token: the mean of their log-probabilities, as Marian and
/// OpenNMT have it, or the logarithm of the mean of their probabilities, as fairseq does. Only the second is
/// a distribution; the first has less than 1 in all where models disagree.
enum class Average { log_probabilities, probabilities };

namespace detail {

/// A member's session.
class MemberSession {
 public:
  virtual ~MemberSession() = default;
  virtual void restart(const Sequences& source, Continuation continuation, Workers* helpers) = 0;
  /// One step, of which ln p of all tokens is wanted.
  virtual void step(std::span<const Index> parents, std::span<const Token> tokens) = 0;
  virtual std::size_t rows() const = 0;
  virtual std::size_t sentence(std::size_t row) const = 0;
  virtual std::size_t keys(std::size_t sentence) const = 0;
  /// Adds ln p, or p, of all tokens to follow a row.
  virtual void add_log_probs(std::size_t row, std::span<double> sum) const = 0;
  virtual void add_probs(std::size_t row, std::span<double> sum) const = 0;
  /// Adds the attention of a row, and says so, if it is over so many keys.
  virtual bool add_attention(std::size_t row, std::span<double> sum) const = 0;

 protected:
  MemberSession() = default;
  MemberSession(const MemberSession&) = default;
  MemberSession& operator=(const MemberSession&) = default;
};

template <class Architecture>
class MemberSessionOf final : public MemberSession {
 public:
  explicit MemberSessionOf(const SessionPool<Architecture>& pool) : session_(pool.borrow()) {
    session_->fetch_heads(false);  // whoever had it before may have asked for them
  }

  void restart(const Sequences& source, Continuation continuation, Workers* helpers) override {
    session_->restart(source, continuation, helpers);
  }
  void step(std::span<const Index> parents, std::span<const Token> tokens) override {
    session_->step(parents, tokens, 0);
  }
  std::size_t rows() const override { return session_->rows(); }
  std::size_t sentence(std::size_t row) const override { return session_->sentence(row); }
  std::size_t keys(std::size_t sentence) const override { return session_->keys(sentence); }
  void add_log_probs(std::size_t row, std::span<double> sum) const override {
    const auto log_probs = session_->log_probs(row);
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += static_cast<double>(log_probs[v]);
  }
  void add_probs(std::size_t row, std::span<double> sum) const override {
    const auto log_probs = session_->log_probs(row);
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += std::exp(static_cast<double>(log_probs[v]));
  }
  bool add_attention(std::size_t row, std::span<double> sum) const override {
    const auto weights = session_->attention(row);
    if (weights.size() != sum.size()) return false;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(weights[i]);
    return true;
  }

 private:
  typename SessionPool<Architecture>::Borrowed session_;
};

/// The models of an ensemble, each with what it can be asked.
class Member {
 public:
  virtual ~Member() = default;
  virtual std::unique_ptr<MemberSession> borrow() const = 0;
  virtual const Vocabularies& vocabularies() const = 0;
  virtual std::size_t max_length() const = 0;
  virtual DecodingSizes sizes() const = 0;
  virtual GroupRule grouping() const = 0;
  virtual std::vector<Translation> score(std::span<const SentencePair> pairs, std::size_t batch) const = 0;

 protected:
  Member() = default;
  Member(const Member&) = default;
  Member& operator=(const Member&) = default;
};

/// All members' sessions as one.
class EnsembleSession {
 public:
  using Scalar = double;

  EnsembleSession(std::span<const std::shared_ptr<const Member>> members, Average average)
      : vocabularies_(&members.front()->vocabularies()), average_(average) {
    for (const auto& member : members) {
      sessions_.push_back(member->borrow());
      max_length_ = std::max(max_length_, member->max_length());
    }
  }

  const Vocabularies& vocabularies() const { return *vocabularies_; }
  std::size_t max_length() const { return max_length_; }

  void restart(const Sequences& source, Continuation continuation, Workers* helpers = nullptr) {
    for (const auto& session : sessions_) session->restart(source, continuation, helpers);
    const auto attends = [](const auto& session) { return session->keys(0) > 0; };
    const auto first = std::find_if(sessions_.begin(), sessions_.end(), attends);
    shown_ = first == sessions_.end() ? sessions_.front().get() : first->get();
  }
  std::size_t rows() const { return sessions_.front()->rows(); }
  std::size_t sentence(std::size_t row) const { return sessions_.front()->sentence(row); }
  std::size_t keys(std::size_t sentence) const { return shown_->keys(sentence); }

  /// Heads are a single model's.
  static constexpr std::size_t heads = 1;
  void fetch_heads(bool) {}
  bool fetches_heads() const { return false; }
  std::span<const double> head_attention(std::size_t) const { return {}; }

  void step(std::span<const Index> parents, std::span<const Token> tokens, std::size_t count) {
    const std::size_t vocabulary = vocabularies_->target.size();
    for (const auto& session : sessions_) session->step(parents, tokens);
    log_probs_.assign(parents.size() * vocabulary, 0);
    attention_.clear();
    begins_.clear();
    next_.clear();
    best_.clear();
    count_ = count;
    for (std::size_t row = 0; row < parents.size(); ++row) {
      const std::span<double> mean(log_probs_.data() + row * vocabulary, vocabulary);
      take_mean(row, mean);
      if (count > 0) take_best(mean, count);
      begins_.push_back(attention_.size());
      attention_.resize(attention_.size() + keys(sentence(row)), 0);
      take_attention(row, std::span<double>(attention_).subspan(begins_.back()));
    }
    begins_.push_back(attention_.size());
  }

  std::span<const Index> next(std::size_t row) const {
    return count_ == 0 ? std::span<const Index>()
                       : std::span<const Index>(next_).subspan(row * count_, count_);
  }
  std::span<const double> log_probs(std::size_t row) const {
    const std::size_t vocabulary = vocabularies_->target.size();
    return count_ == 0 ? std::span<const double>(log_probs_).subspan(row * vocabulary, vocabulary)
                       : std::span<const double>(best_).subspan(row * count_, count_);
  }
  std::span<const double> attention(std::size_t row) const {
    return std::span<const double>(attention_).subspan(begins_[row], begins_[row + 1] - begins_[row]);
  }

 private:
  void take_mean(std::size_t row, std::span<double> mean) const {
    const auto members = static_cast<double>(sessions_.size());
    for (const auto& session : sessions_)
      average_ == Average::probabilities ? session->add_probs(row, mean) : session->add_log_probs(row, mean);
    for (double& each : mean) {
      each = average_ == Average::probabilities ? std::log(each / members) : each / members;
      if (std::isnan(each)) each = -std::numeric_limits<double>::infinity();  // what cannot be put in order
    }
  }

  void take_best(std::span<const double> log_probs, std::size_t count) {
    order_.resize(log_probs.size());
    for (std::size_t v = 0; v < order_.size(); ++v) order_[v] = static_cast<Index>(v);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(order_.begin(), end, order_.end(), [&](Index a, Index b) {
      const double x = log_probs[static_cast<std::size_t>(a)], y = log_probs[static_cast<std::size_t>(b)];
      return x != y ? x > y : a < b;
    });
    next_.insert(next_.end(), order_.begin(), end);
    for (auto v = order_.begin(); v != end; ++v) best_.push_back(log_probs[static_cast<std::size_t>(*v)]);
  }

  /// The mean of the members that attend to as many keys as the first that attends.
  void take_attention(std::size_t row, std::span<double> mean) const {
    double members = 0;
    for (const auto& session : sessions_) members += session->add_attention(row, mean) ? 1 : 0;
    for (double& each : mean) each /= members;
  }

  const Vocabularies* vocabularies_;
  Average average_;
  std::size_t max_length_ = 0;
  std::vector<std::unique_ptr<MemberSession>> sessions_;
  MemberSession* shown_ = nullptr;  // the first that attends, by whose keys attention is shown
  std::vector<double> log_probs_;   // [rows, vocabulary]
  std::vector<double> best_;        // [rows, count]
  std::vector<Index> next_;         // [rows, count]
  std::vector<Index> order_;        // scratch
  std::vector<double> attention_;
  std::vector<std::size_t> begins_;  // of each row's, and their end
  std::size_t count_ = 0;
};
static_assert(Stepper<EnsembleSession>);

/// What decoding text asks of an ensemble.
class EnsemblePool {
 public:
  EnsemblePool(std::vector<std::shared_ptr<const Member>> members, Average average)
      : members_(std::move(members)), average_(average) {}

  std::span<const std::shared_ptr<const Member>> members() const { return members_; }
  Average average() const { return average_; }
  const Vocabularies& vocabularies() const { return members_.front()->vocabularies(); }
  std::unique_ptr<EnsembleSession> borrow() const {
    return std::make_unique<EnsembleSession>(members_, average_);
  }
  DecodingSizes sizes() const {
    DecodingSizes total = members_.front()->sizes();
    for (const auto& member : std::span(members_).subspan(1)) total += member->sizes();
    total.scalar = std::max<double>(total.scalar, sizeof(double));  // of the mean's attention
    return total;
  }
  GroupRule grouping() const {
    GroupRule rule = members_.front()->grouping();
    for (const auto& member : members_) rule = rule.with(member->grouping());
    return rule;
  }

 private:
  std::vector<std::shared_ptr<const Member>> members_;
  Average average_;
};

}  // namespace detail
}  // namespace bahdanau
