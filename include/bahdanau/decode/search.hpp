// Greedy and beam search, and drawing, over several sentences at once, for whatever is a Stepper.
// A row that has ended leaves the batch, so the cost follows the hypotheses that still run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/decode/beam.hpp>
#include <bahdanau/decode/beam_recorder.hpp>
#include <bahdanau/decode/constraints.hpp>
#include <bahdanau/decode/draw.hpp>
#include <bahdanau/decode/hypotheses.hpp>
#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/runners_up.hpp>
#include <bahdanau/decode/stepper.hpp>

namespace bahdanau {

namespace detail {

/// What a search found: for every sentence its hypotheses, best first, and the tree to read them from.
template <class Scalar>
struct SearchResult {
  std::vector<std::vector<Leaf>> found;
  HypothesisTree<Scalar> tree;
  RunnersUp runners_up{};                 // of the tree's rows, where they are wanted
  std::vector<BeamRecorder> recorders{};  // of each sentence, where its history is wanted
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

/// Throws where a row has no token left that it may go on with, or a sentence no translation.
[[noreturn]] inline void fail_constraints(std::size_t sentence, std::size_t limit) {
  fail("translate, sentence " + text(sentence),
       "a translation of at most " + text(limit) + " tokens that has all it must and nothing it must not",
       "none", "a wider beam or a greater max_length may find one");
}

/// How many best tokens a step is asked for, of which some may be refused; 0, all of them, where sorting so
/// many takes longer.
inline std::size_t count_with_refused(std::size_t count, const Constraints& constraints,
                                      std::size_t vocabulary) {
  constexpr std::size_t most = 64;
  return constraints.refused() > most ? 0 : std::min(count + constraints.refused(), vocabulary);
}

/// One hypothesis for each sentence. `choose(row, number, step, state)` gives the token that goes on, and its
/// ln p; `go_on(number, token, log_prob)` whether it does; sentences have the numbers of the call. Throws for
/// a token outside of the vocabulary and once the deadline has passed; `helpers` may be null.
template <Stepper S, class Options, class Choose, class GoOn>
SearchResult<typename S::Scalar> search_one(S& session, const Sequences& source, const Options& options,
                                            const Constraints& constraints, Workers* helpers,
                                            SentenceNumbers numbers, std::size_t count, Choose choose,
                                            GoOn go_on) {
  check_deadline(options.limits, numbers[0]);
  session.fetch_heads(options.heads);
  session.restart(source, Continuation::one_by_one, helpers);
  SearchResult<typename S::Scalar> result;
  if constexpr (requires { options.runners_up; }) result.runners_up = RunnersUp(options.runners_up);
  result.found.resize(source.rows());
  std::vector<Index> parents(source.rows());
  std::vector<Token> tokens(source.rows(), reserved::bos);
  std::vector<double> log_probs(source.rows(), 0), scores(source.rows(), 0);
  std::vector<ConstraintState> states(source.rows());
  std::vector<std::size_t> limits(source.rows());
  std::size_t longest = 0, weights = 0;
  for (std::size_t r = 0; r < source.rows(); ++r) {
    parents[r] = static_cast<Index>(r);
    weights += session.keys(r) * (session.fetches_heads() ? 1 + session.heads : 1);
    limits[r] = target_limit(options, static_cast<std::size_t>(source.lengths[r]), session.max_length(),
                             constraints.shortest());
    longest = std::max(longest, limits[r]);
  }
  // Memory for sentences of an ordinary length; others grow it.
  constexpr std::size_t ordinary = 64, most = 1 << 20;
  longest = std::min(longest, ordinary);
  result.tree.reserve(longest, longest * source.rows(), std::min(longest * weights, most));
  const std::span<const Token> prefix = constraints.prefix();
  for (std::size_t step = 0; !parents.empty(); ++step) {
    const bool forced = step < prefix.size();
    session.step(parents, tokens, forced ? 0 : count);
    check_deadline(options.limits, numbers[session.sentence(0)]);
    result.tree.begin_step();
    std::size_t running = 0;
    for (std::size_t r = 0; r < session.rows(); ++r) {
      result.tree.add({parents[r], tokens[r], log_probs[r]}, session.attention(r), session.head_attention(r));
      result.runners_up.add(session.next(r), session.log_probs(r));
      const std::size_t sentence = session.sentence(r);
      const auto [token, log_prob] =
          forced ? Chosen{prefix[step],
                          static_cast<double>(session.log_probs(r)[static_cast<std::size_t>(prefix[step])])}
                 : choose(r, numbers[sentence], step, states[r]);
      const double score = scores[r] + log_prob;
      const bool stopped = !go_on(numbers[sentence], token, log_prob);
      if (token == reserved::eos || stopped || step + 1 == limits[sentence]) {
        result.found[sentence] = {{step, r, token, log_prob, score, token == reserved::eos || stopped}};
        continue;
      }
      parents[running] = static_cast<Index>(r);
      tokens[running] = token;
      log_probs[running] = log_prob;
      if (constraints.active()) states[running] = constraints.next(states[r], token);
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
template <Stepper S>
SearchResult<typename S::Scalar> search(S& session, const Sequences& source, const Greedy& options,
                                        const Constraints& constraints = {}, Workers* helpers = nullptr,
                                        SentenceNumbers numbers = {}) {
  const Vocabulary& vocabulary = session.vocabularies().target;
  return search_one(
      session, source, options, constraints, helpers, numbers,
      count_with_refused(RunnersUp(options.runners_up).asked(1), constraints, vocabulary.size()),
      [&](std::size_t row, std::size_t sentence, std::size_t step, const ConstraintState& state) {
        const auto next = session.next(row);
        const auto log_probs = session.log_probs(row);
        if (!constraints.active()) return Chosen{next[0], static_cast<double>(log_probs[0])};
        const std::size_t none = log_probs.size();
        std::size_t best = none;
        for (std::size_t i = 0; i < log_probs.size() && (best == none || next.empty()); ++i)
          if (constraints.allows(state, next.empty() ? static_cast<Token>(i) : next[i], step) &&
              (best == none || log_probs[i] > log_probs[best]))
            best = i;
        if (best == none) fail_constraints(sentence, step + 1);
        return Chosen{next.empty() ? static_cast<Token>(best) : next[best],
                      static_cast<double>(log_probs[best])};
      },
      [&](std::size_t sentence, Token token, double log_prob) {
        return !options.on_token || options.on_token({sentence, vocabulary.token(token), log_prob});
      });
}

/// A token drawn by its probability at every step. Throws for options out of range too.
template <Stepper S>
SearchResult<typename S::Scalar> search(S& session, const Sequences& source, const Sample& options,
                                        const Constraints& constraints = {}, Workers* helpers = nullptr,
                                        SentenceNumbers numbers = {}) {
  if (!(options.temperature > 0) || !std::isfinite(options.temperature))
    fail("Sample.temperature", "a finite number above 0", number_text(options.temperature));
  if (!(options.top_p > 0 && options.top_p <= 1))
    fail("Sample.top_p", "a number above 0 and up to 1", number_text(options.top_p));
  const std::size_t vocabulary = session.vocabularies().target.size();
  const std::size_t count =
      options.top == 0 ? 0 : count_with_refused(std::min(options.top, vocabulary), constraints, vocabulary);
  const random::Key key = random::key_of(options.seed, random::Stream::sampling);
  TokenDrawer drawer(options);
  const bool plain = !constraints.active() && options.top_p == 1;
  return search_one(
      session, source, options, constraints, helpers, numbers, count,
      [&](std::size_t row, std::size_t sentence, std::size_t step, const ConstraintState& state) {
        const auto next = session.next(row);
        const auto log_probs = session.log_probs(row);
        const auto token = [&](std::size_t i) { return next.empty() ? static_cast<Token>(i) : next[i]; };
        const double uniform = key.derive(sentence).uniform(step);
        const std::size_t drawn =
            plain ? drawer.draw(log_probs, uniform) : drawer.draw(log_probs, uniform, [&](std::size_t i) {
              return constraints.allows(state, token(i), step);
            });
        if (drawn == log_probs.size()) fail_constraints(sentence, step + 1);
        return Chosen{token(drawn), static_cast<double>(log_probs[drawn])};
      },
      [](std::size_t, Token, double) { return true; });
}

/// The `width` best hypotheses at every step, of which the `nbest` best are found. Throws for options out of
/// range too.
template <Stepper S>
SearchResult<typename S::Scalar> search(S& session, const Sequences& source, const Beam& options,
                                        const Constraints& constraints = {}, Workers* helpers = nullptr,
                                        SentenceNumbers numbers = {}) {
  check_options(options);
  check_deadline(options.limits, numbers[0]);
  session.fetch_heads(options.heads);
  session.restart(source, Continuation::branching, helpers);
  SearchResult<typename S::Scalar> result;
  result.runners_up = RunnersUp(options.runners_up);
  if (options.history) result.recorders.assign(source.rows(), BeamRecorder(options.width));
  const std::size_t vocabulary = session.vocabularies().target.size();
  const std::size_t most = std::min(SentenceBeam::candidates(options), vocabulary);
  const std::size_t count =
      constraints.required() != 0
          ? 0
          : count_with_refused(std::min(result.runners_up.asked(most), vocabulary), constraints, vocabulary);
  std::vector<SentenceBeam> beams;
  std::vector<Index> parents;
  for (std::size_t b = 0; b < source.rows(); ++b) {
    beams.emplace_back(options,
                       target_limit(options, static_cast<std::size_t>(source.lengths[b]),
                                    session.max_length(), constraints.shortest()),
                       constraints.required());
    parents.push_back(static_cast<Index>(b));
  }
  std::vector<Token> tokens(parents.size(), reserved::bos);
  std::vector<double> log_probs(parents.size(), 0), scores(parents.size(), 0);
  std::vector<ConstraintState> states(parents.size()), states_before;
  CoverageSums coverage(options.coverage_penalty);
  for (std::size_t step = 0; !parents.empty(); ++step) {
    session.step(parents, tokens, step < constraints.prefix().size() ? 0 : count);
    check_deadline(options.limits, numbers[session.sentence(0)]);
    result.tree.begin_step();
    for (std::size_t r = 0; r < parents.size(); ++r) {
      result.tree.add({parents[r], tokens[r], log_probs[r]}, session.attention(r), session.head_attention(r));
      result.runners_up.add(session.next(r), session.log_probs(r));
      SentenceBeam& beam = beams[session.sentence(r)];
      if (constraints.active())
        beam.offer(r, scores[r], session.next(r), session.log_probs(r), constraints, states[r], step);
      else
        beam.offer(r, scores[r], session.next(r), session.log_probs(r));
    }
    coverage.add(session, parents, step);
    parents.clear();
    tokens.clear();
    log_probs.clear();
    scores.clear();
    states.swap(states_before);
    states.clear();
    for (std::size_t i = 0; i < session.rows();) {  // rows of a sentence lie together
      const std::size_t sentence = session.sentence(i), first = i;
      while (i < session.rows() && session.sentence(i) == sentence) ++i;
      BeamRecorder* recorder = options.history ? &result.recorders[sentence] : nullptr;
      for (const auto& c : beams[sentence].advance(step, coverage, recorder, first)) {
        parents.push_back(static_cast<Index>(c.row));
        tokens.push_back(c.token);
        log_probs.push_back(c.log_prob);
        scores.push_back(c.score);
        if (constraints.active()) states.push_back(constraints.next(states_before[c.row], c.token));
      }
    }
    if (result.tree.crowded()) {
      std::vector<Leaf> leaves;
      for (const SentenceBeam& beam : beams)
        leaves.insert(leaves.end(), beam.finished().begin(), beam.finished().end());
      result.tree.forget(parents, leaves);
    }
  }
  for (std::size_t b = 0; b < beams.size(); ++b) {
    if (beams[b].finished().empty()) {
      const std::size_t longest = options.limits.target_tokens;
      if (longest != 0 && asked_length(options, static_cast<std::size_t>(source.lengths[b]),
                                       session.max_length(), constraints.shortest()) > longest)
        fail_limit(numbers[b], "a translation of at most " + text(longest) + " tokens that has all it must",
                   "none", "target_tokens");
      fail_constraints(numbers[b], beams[b].limit());
    }
    result.found.push_back(beams[b].take());
  }
  return result;
}

}  // namespace detail
}  // namespace bahdanau
