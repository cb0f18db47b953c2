// The beam of one sentence: which continuations of its hypotheses stay, which have ended, and how they rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/decode/beam_recorder.hpp>
#include <bahdanau/decode/constraints.hpp>
#include <bahdanau/decode/hypotheses.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/stepper.hpp>

namespace bahdanau::detail {

/// Sums of the attention that each row of a beam has had so far, of each key of its sentence.
class CoverageSums {
 public:
  explicit CoverageSums(double penalty) : penalty_(penalty) {}

  /// Adds the last step's, whose rows continue `parents`.
  template <Stepper S>
  void add(const S& session, std::span<const Index> parents, std::size_t step) {
    if (penalty_ == 0) return;
    sums_.swap(before_);
    begins_.swap(begins_before_);
    sums_.clear();
    begins_.clear();
    for (std::size_t r = 0; r < parents.size(); ++r) {
      begins_.push_back(sums_.size());
      const std::size_t from = step == 0 ? 0 : begins_before_[static_cast<std::size_t>(parents[r])];
      for (std::size_t i = 0; const auto weight : session.attention(r))
        sums_.push_back((step == 0 ? 0 : before_[from + i++]) + static_cast<double>(weight));
    }
    begins_.push_back(sums_.size());
  }

  /// β Σ_i ln min(Σ_t α_ti, 1) of a row; what was never attended to counts as the least number above 0.
  double operator()(std::size_t row) const {
    if (penalty_ == 0) return 0;
    double total = 0;
    for (std::size_t i = begins_[row]; i < begins_[row + 1]; ++i)
      total += std::log(std::clamp<double>(sums_[i], std::numeric_limits<float>::min(), 1));
    return penalty_ * total;
  }

 private:
  double penalty_;
  std::vector<double> sums_, before_;
  std::vector<std::size_t> begins_, begins_before_;  // of each row's, and their end
};

/// The beam of one sentence. Hypotheses lie in banks by the tokens of required words that they have, so that
/// those that have more do not lose to likelier ones with fewer (Post and Vilar, 2018); else there is one
/// bank.
class SentenceBeam {
 public:
  SentenceBeam(const Beam& options, std::size_t limit, std::size_t required = 0)
      : width_(options.width),
        nbest_(options.nbest),
        power_(options.length_power),
        offset_(options.length_offset),
        limit_(limit),
        banks_(required + 1) {}

  /// Offers continuations of one row, the best first.
  template <class Scalar>
  void offer(std::size_t row, double score, std::span<const Index> tokens,
             std::span<const Scalar> log_probs) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (!offer(0, row, score, static_cast<Token>(tokens[i]), static_cast<double>(log_probs[i]))) break;
  }
  /// The same for what is allowed; without tokens, all of the vocabulary in its order.
  template <class Scalar>
  void offer(std::size_t row, double score, std::span<const Index> tokens, std::span<const Scalar> log_probs,
             const Constraints& constraints, const ConstraintState& state, std::size_t step) {
    const bool required = constraints.required() != 0;
    const std::size_t usual =  // where tokens lead that are in no phrase
        required ? constraints.progress({0, state.met}) : 0;
    for (std::size_t i = 0; i < log_probs.size(); ++i) {
      const Token token = tokens.empty() ? static_cast<Token>(i) : tokens[i];
      if (!constraints.allows(state, token, step)) continue;
      const std::size_t bank = !required || constraints.ordinary(token)
                                   ? usual
                                   : constraints.progress(constraints.next(state, token));
      offer(bank, row, score, token, static_cast<double>(log_probs[i]));
    }
  }

  /// How many of a row, and of all rows together, are enough: twice the width. If all ended ones are among
  /// the best, `width` others are there too.
  static std::size_t candidates(const Beam& options) { return 2 * options.width; }

  /// Chooses among what was offered at `step`: ended hypotheses are kept aside, the `width` best others
  /// returned, valid until the next call. `coverage(row)` is added to the rank of those that continue a row.
  /// A recorder, if there is one, is told; the sentence's rows are those from `first_row` on.
  template <class Coverage>
  const std::vector<Candidate>& advance(std::size_t step, const Coverage& coverage,
                                        BeamRecorder* recorder = nullptr, std::size_t first_row = 0) {
    running_.clear();
    for (auto& bank : banks_) std::sort(bank.begin(), bank.end(), better);
    if (recorder) recorder->offered(first_row, banks_);
    // Only what has all that is required may end.
    for (const Candidate& c : banks_.back())
      if (const bool ended = c.token == reserved::eos; ended || step + 1 == limit_) {
        finished_.push_back({step, c.row, c.token, c.log_prob, c.score, ended, coverage(c.row)});
        if (recorder) recorder->ended(c, ranked(finished_.back()));
      }
    if (step + 1 != limit_) share_out();
    if (recorder) recorder->chosen(running_);
    for (auto& bank : banks_) bank.clear();
    std::sort(finished_.begin(), finished_.end(),
              [&](const Leaf& a, const Leaf& b) { return ranked(a) > ranked(b); });
    if (finished_.size() > nbest_) finished_.resize(nbest_);
    // Whatever a running hypothesis becomes, its score only falls, and its coverage is never above 0: this
    // bound is the best it can reach.
    if (finished_.size() == nbest_)
      std::erase_if(running_,
                    [&](const Candidate& c) { return bound(c.score, step + 2) <= ranked(finished_.back()); });
    if (recorder) recorder->kept(running_);
    return running_;
  }
  const std::vector<Candidate>& advance(std::size_t step) {
    return advance(step, [](std::size_t) { return 0.0; });
  }

  const std::vector<Leaf>& finished() const { return finished_; }
  std::vector<Leaf> take() { return std::move(finished_); }
  std::size_t limit() const { return limit_; }

 private:
  /// Offers one, and says whether a worse one may still be among the best.
  bool offer(std::size_t bank, std::size_t row, double score, Token token, double log_prob) {
    std::vector<Candidate>& heap = banks_[bank];
    // NaN cannot be put in order; this, too, is a score that is not finite.
    if (std::isnan(log_prob)) log_prob = -std::numeric_limits<double>::infinity();
    if (heap.size() == 2 * width_) {
      if (score + log_prob <= heap.front().score) return false;
      std::pop_heap(heap.begin(), heap.end(), better);
      heap.pop_back();
    }
    heap.push_back({row, token, log_prob, score + log_prob});
    std::push_heap(heap.begin(), heap.end(), better);
    return true;
  }

  /// Takes the best that have not ended: of each bank an equal part of the width, and what a bank does not
  /// fill from the others, those with most of what is required first.
  void share_out() {
    std::size_t left = width_;
    taken_.assign(banks_.size(), 0);
    const auto take = [&](std::size_t bank, std::size_t most) {
      for (std::size_t& at = taken_[bank]; at < banks_[bank].size() && most > 0 && left > 0; ++at) {
        if (banks_[bank][at].token == reserved::eos) continue;
        running_.push_back(banks_[bank][at]);
        --most;
        --left;
      }
    };
    for (std::size_t bank = banks_.size(); bank-- > 0;) take(bank, width_ / banks_.size());
    for (std::size_t bank = banks_.size(); bank-- > 0;) take(bank, left);
  }

  static bool better(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.row != b.row ? a.row < b.row : a.token < b.token;
  }
  double ranked(const Leaf& leaf) const { return ranked(leaf.score, leaf.step + 1) + leaf.coverage; }
  /// score / ((k + length) / (k + 1))^power
  double ranked(double score, std::size_t length) const {
    const double rank = score / std::pow((offset_ + static_cast<double>(length)) / (offset_ + 1), power_);
    // 0 / 0 with powers beyond reason: what is no number cannot be put in order.
    return std::isnan(rank) ? -std::numeric_limits<double>::infinity() : rank;
  }
  double bound(double score, std::size_t next_length) const {
    return std::max(ranked(score, next_length), ranked(score, limit_));
  }

  std::size_t width_, nbest_;
  double power_, offset_;
  std::size_t limit_;
  std::vector<std::vector<Candidate>> banks_;  // heaps with the worst in front
  std::vector<std::size_t> taken_;             // of each bank
  std::vector<Candidate> running_;
  std::vector<Leaf> finished_;
};

inline void check_options(const Beam& options) {
  if (options.width == 0) fail("Beam.width", "at least 1", "0");
  constexpr std::size_t widest = 65536;  // far beyond use, and twice of it is still a number
  if (options.width > widest) fail("Beam.width", "at most " + text(widest), text(options.width));
  if (options.nbest == 0 || options.nbest > options.width)
    fail("Beam.nbest", "from 1 to the width, " + text(options.width), text(options.nbest));
  if (!std::isfinite(options.length_power))
    fail("Beam.length_power", "a finite number", number_text(options.length_power));
  for (const auto& [name, value] : {std::pair{"Beam.length_offset", options.length_offset},
                                    std::pair{"Beam.coverage_penalty", options.coverage_penalty}})
    if (!(value >= 0) || !std::isfinite(value))
      fail(name, "a finite number of at least 0", number_text(value));
}

}  // namespace bahdanau::detail
