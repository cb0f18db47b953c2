// Greedy and beam search, and drawing, over several sentences at once.
// A row that has ended leaves the batch, so the cost follows the hypotheses that still run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/decode/hypotheses.hpp>
#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/session.hpp>

namespace bahdanau {

namespace detail {

/// What a search found: for every sentence its hypotheses, best first, and the tree to read them from.
template <class Scalar>
struct SearchResult {
  std::vector<std::vector<Leaf>> found;
  HypothesisTree<Scalar> tree;
};

/// A token that goes on, and its ln p.
struct Chosen {
  Token token;
  double log_prob;
};

/// Which sentences of a call are searched for, for messages; without numbers, all of them.
struct SentenceNumbers {
  std::span<const std::size_t> numbers = {};
  std::size_t operator[](std::size_t row) const { return numbers.empty() ? row : numbers[row]; }
};

/// One hypothesis for each sentence. `choose(row, number, step)` gives the token that goes on, and its ln p;
/// `go_on(number, token, log_prob)` whether it does; sentences have the numbers of the call. Throws for a
/// token outside of the vocabulary and once the deadline has passed; `helpers` may be null.
template <class Architecture, class Options, class Choose, class GoOn>
SearchResult<typename Architecture::Scalar> search_one(DecodingSession<Architecture>& session,
                                                       const Sequences& source, const Options& options,
                                                       Workers* helpers, SentenceNumbers numbers,
                                                       std::size_t count, Choose choose, GoOn go_on) {
  using Scalar = typename Architecture::Scalar;
  check_deadline(options.limits, numbers[0]);
  session.fetch_heads(options.heads);
  session.restart(source, Continuation::one_by_one, helpers);
  SearchResult<Scalar> result;
  result.found.resize(source.rows());
  std::vector<Index> parents(source.rows());
  std::vector<Token> tokens(source.rows(), reserved::bos);
  std::vector<double> log_probs(source.rows(), 0), scores(source.rows(), 0);
  std::vector<std::size_t> limits(source.rows());
  std::size_t longest = 0, weights = 0;
  for (std::size_t r = 0; r < source.rows(); ++r) {
    parents[r] = static_cast<Index>(r);
    weights += session.keys(r) * (session.fetches_heads() ? 1 + session.heads : 1);
    limits[r] = target_limit(options, static_cast<std::size_t>(source.lengths[r]),
                             session.architecture().max_length());
    longest = std::max(longest, limits[r]);
  }
  // Memory for sentences of an ordinary length; others grow it.
  constexpr std::size_t ordinary = 64, most = 1 << 20;
  longest = std::min(longest, ordinary);
  result.tree.reserve(longest, longest * source.rows(), std::min(longest * weights, most));
  for (std::size_t step = 0; !parents.empty(); ++step) {
    session.step(parents, tokens, count);
    check_deadline(options.limits, numbers[session.sentence(0)]);
    result.tree.begin_step();
    std::size_t running = 0;
    for (std::size_t r = 0; r < session.rows(); ++r) {
      result.tree.add({parents[r], tokens[r], log_probs[r]}, session.attention(r), session.head_attention(r));
      const std::size_t sentence = session.sentence(r);
      const auto [token, log_prob] = choose(r, numbers[sentence], step);
      const double score = scores[r] + log_prob;
      const bool stopped = !go_on(numbers[sentence], token, log_prob);
      if (token == reserved::eos || stopped || step + 1 == limits[sentence]) {
        result.found[sentence] = {{step, r, token, log_prob, score, token == reserved::eos || stopped}};
        continue;
      }
      parents[running] = static_cast<Index>(r);
      tokens[running] = token;
      log_probs[running] = log_prob;
      scores[running++] = score;
    }
    parents.resize(running);
    tokens.resize(running);
    log_probs.resize(running);
    scores.resize(running);
  }
  return result;
}

/// The most probable token at every step.
template <class Architecture>
SearchResult<typename Architecture::Scalar> search(DecodingSession<Architecture>& session,
                                                   const Sequences& source, const Greedy& options,
                                                   Workers* helpers = nullptr, SentenceNumbers numbers = {}) {
  const Vocabulary& vocabulary = session.architecture().vocabularies().target;
  return search_one(
      session, source, options, helpers, numbers, 1,
      [&](std::size_t row, std::size_t, std::size_t) {
        return Chosen{session.next(row)[0], static_cast<double>(session.log_probs(row)[0])};
      },
      [&](std::size_t sentence, Token token, double log_prob) {
        return !options.on_token || options.on_token({sentence, vocabulary.token(token), log_prob});
      });
}

/// A token drawn by its probability at every step. Throws for options out of range too.
template <class Architecture>
SearchResult<typename Architecture::Scalar> search(DecodingSession<Architecture>& session,
                                                   const Sequences& source, const Sample& options,
                                                   Workers* helpers = nullptr, SentenceNumbers numbers = {}) {
  if (!(options.temperature > 0) || !std::isfinite(options.temperature))
    fail("Sample.temperature", "a finite number above 0", number_text(options.temperature));
  const std::size_t vocabulary = session.architecture().vocabularies().target.size();
  const std::size_t count = std::min(options.top, vocabulary);
  const random::Key key = random::key_of(options.seed, random::Stream::sampling);
  std::vector<double> weight;
  return search_one(
      session, source, options, helpers, numbers, count,
      [&](std::size_t row, std::size_t sentence, std::size_t step) {
        const auto log_probs = session.log_probs(row);
        const double largest = static_cast<double>(*std::max_element(log_probs.begin(), log_probs.end()));
        weight.clear();
        double total = 0;
        for (const auto log_prob : log_probs) {
          // p^(1 / temperature), as logits are divided by it
          total += std::exp((static_cast<double>(log_prob) - largest) / options.temperature);
          weight.push_back(total);
        }
        const double drawn = key.derive(sentence).uniform(step) * total;
        const auto place = std::min(
            static_cast<std::size_t>(std::upper_bound(weight.begin(), weight.end(), drawn) - weight.begin()),
            weight.size() - 1);
        return Chosen{count == 0 ? static_cast<Token>(place) : session.next(row)[place],
                      static_cast<double>(log_probs[place])};
      },
      [](std::size_t, Token, double) { return true; });
}

/// The beam of one sentence.
class SentenceBeam {
 public:
  SentenceBeam(const Beam& options, std::size_t limit) : options_(options), limit_(limit) {}

  struct Candidate {
    std::size_t row;  // that it continues
    Token token;
    double log_prob, score;
  };

  /// Offers continuations of one row, the best first.
  template <class Scalar>
  void offer(std::size_t row, double score, std::span<const Index> tokens,
             std::span<const Scalar> log_probs) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      double log_prob = static_cast<double>(log_probs[i]);
      // NaN cannot be put in order; this, too, is a score that is not finite.
      if (std::isnan(log_prob)) log_prob = -std::numeric_limits<double>::infinity();
      if (candidates_.size() == capacity() && score + log_prob <= candidates_.front().score) break;
      if (candidates_.size() == capacity()) {
        std::pop_heap(candidates_.begin(), candidates_.end(), better);
        candidates_.pop_back();
      }
      candidates_.push_back({row, static_cast<Token>(tokens[i]), log_prob, score + log_prob});
      std::push_heap(candidates_.begin(), candidates_.end(), better);
    }
  }

  /// How many of a row, and of all rows together, are enough: twice the width. If all ended ones are among
  /// the best, `width` others are there too.
  static std::size_t candidates(const Beam& options) { return 2 * options.width; }

  /// Chooses among what was offered at `step`: ended hypotheses are kept aside, the `width` best others
  /// returned.
  std::vector<Candidate> advance(std::size_t step) {
    std::sort(candidates_.begin(), candidates_.end(), better);
    std::vector<Candidate> running;
    for (const Candidate& c : candidates_) {
      const bool ended = c.token == reserved::eos;
      if (!ended && running.size() == options_.width) continue;
      if (ended || step + 1 == limit_)
        finished_.push_back({step, c.row, c.token, c.log_prob, c.score, ended});
      else
        running.push_back(c);
    }
    candidates_.clear();
    std::sort(finished_.begin(), finished_.end(), [&](const Leaf& a, const Leaf& b) {
      return ranked(a.score, a.step + 1) > ranked(b.score, b.step + 1);
    });
    if (finished_.size() > options_.nbest) finished_.resize(options_.nbest);
    // Whatever a running hypothesis becomes, its score only falls: this bound is the best it can reach.
    if (finished_.size() == options_.nbest)
      std::erase_if(running, [&](const Candidate& c) {
        return bound(c.score, step + 2) <= ranked(finished_.back().score, finished_.back().step + 1);
      });
    return running;
  }

  const std::vector<Leaf>& finished() const { return finished_; }
  std::vector<Leaf> take() { return std::move(finished_); }

 private:
  static bool better(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.row != b.row ? a.row < b.row : a.token < b.token;
  }
  std::size_t capacity() const { return candidates(options_); }
  double ranked(double score, std::size_t length) const {
    const double rank = score / std::pow(static_cast<double>(length), options_.length_power);
    // 0 / 0 with powers beyond reason: what is no number cannot be put in order.
    return std::isnan(rank) ? -std::numeric_limits<double>::infinity() : rank;
  }
  double bound(double score, std::size_t next_length) const {
    return std::max(ranked(score, next_length), ranked(score, limit_));
  }

  Beam options_;
  std::size_t limit_;
  std::vector<Candidate> candidates_;  // a heap with the worst in front
  std::vector<Leaf> finished_;
};

/// The `width` best hypotheses at every step, of which the `nbest` best are found. Throws for options out of
/// range too.
template <class Architecture>
SearchResult<typename Architecture::Scalar> search(DecodingSession<Architecture>& session,
                                                   const Sequences& source, const Beam& options,
                                                   Workers* helpers = nullptr, SentenceNumbers numbers = {}) {
  using Scalar = typename Architecture::Scalar;
  if (options.width == 0) fail("Beam.width", "at least 1", "0");
  constexpr std::size_t widest = 65536;  // far beyond use, and twice of it is still a number
  if (options.width > widest) fail("Beam.width", "at most " + text(widest), text(options.width));
  if (options.nbest == 0 || options.nbest > options.width)
    fail("Beam.nbest", "from 1 to the width, " + text(options.width), text(options.nbest));
  if (!std::isfinite(options.length_power))
    fail("Beam.length_power", "a finite number", number_text(options.length_power));
  check_deadline(options.limits, numbers[0]);
  session.fetch_heads(options.heads);
  session.restart(source, Continuation::branching, helpers);
  SearchResult<Scalar> result;
  const std::size_t count =
      std::min(SentenceBeam::candidates(options), session.architecture().vocabularies().target.size());
  std::vector<SentenceBeam> beams;
  std::vector<Index> parents;
  for (std::size_t b = 0; b < source.rows(); ++b) {
    beams.emplace_back(options, target_limit(options, static_cast<std::size_t>(source.lengths[b]),
                                             session.architecture().max_length()));
    parents.push_back(static_cast<Index>(b));
  }
  std::vector<Token> tokens(parents.size(), reserved::bos);
  std::vector<double> log_probs(parents.size(), 0), scores(parents.size(), 0);
  for (std::size_t step = 0; !parents.empty(); ++step) {
    session.step(parents, tokens, count);
    check_deadline(options.limits, numbers[session.sentence(0)]);
    result.tree.begin_step();
    for (std::size_t r = 0; r < parents.size(); ++r) {
      result.tree.add({parents[r], tokens[r], log_probs[r]}, session.attention(r), session.head_attention(r));
      beams[session.sentence(r)].offer(r, scores[r], session.next(r), session.log_probs(r));
    }
    parents.clear();
    tokens.clear();
    log_probs.clear();
    scores.clear();
    for (std::size_t i = 0; i < session.rows();) {  // rows of a sentence lie together
      const std::size_t sentence = session.sentence(i);
      while (i < session.rows() && session.sentence(i) == sentence) ++i;
      for (const auto& c : beams[sentence].advance(step)) {
        parents.push_back(static_cast<Index>(c.row));
        tokens.push_back(c.token);
        log_probs.push_back(c.log_prob);
        scores.push_back(c.score);
      }
    }
    if (result.tree.crowded()) {
      std::vector<Leaf> leaves;
      for (const SentenceBeam& beam : beams)
        leaves.insert(leaves.end(), beam.finished().begin(), beam.finished().end());
      result.tree.forget(parents, leaves);
    }
  }
  for (SentenceBeam& beam : beams) result.found.push_back(beam.take());
  return result;
}

}  // namespace detail
}  // namespace bahdanau
