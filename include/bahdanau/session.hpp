// Session: a search of one's own over a frozen model, step by step, with any number of hypotheses.
// The library's own searches are written on the same; what happens between steps is the caller's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/sentences.hpp>
#include <bahdanau/decode/token_row.hpp>
#include <bahdanau/frozen.hpp>
#include <bahdanau/model/batch.hpp>

namespace bahdanau {

/// Encoded sentences, and rows of hypotheses over them.
///
///     Session session(frozen);
///     session.restart({"he's calm ."});
///     std::vector<Index> parents{0};              // one row for each sentence, before its first step
///     std::vector<Token> tokens{reserved::bos};
///     session.step(parents, tokens, 5);           // session.next(0): the five best, best first
///     parents = {0, 0};                           // two rows that continue the first one
///     tokens = {session.next(0)[0], session.next(0)[1]};
///     session.step(parents, tokens, 5);
///
/// States stay on the device, and once sentences of a size came, nothing is allocated for others. One session
/// belongs to one thread; a frozen model may have many. What it gives is valid until the next step.
template <class Model>
class Session {
 public:
  using Scalar = typename Model::Scalar;

  /// Searches in which several rows may continue one are `branching`; those in which none do may say so. The
  /// limits are those of `translate`: of sentences and sources in `restart`, of steps (`target_tokens`), rows
  /// of a sentence (`beam`) and time in `step`, and of memory, estimated from above, in both.
  explicit Session(Frozen<Model> frozen, Continuation continuation = Continuation::branching,
                   const Limits& limits = {})
      : frozen_(std::move(frozen)),
        continuation_(continuation),
        limits_(limits),
        memory_(frozen_.architecture(), Greedy{}),
        session_(frozen_.sessions()->borrow()) {
    session_->fetch_heads(true);
  }

  const Frozen<Model>& model() const { return frozen_; }

  /// Encodes sentences; there is one row for each, before its first step. Throws for tokens outside of the
  /// vocabulary.
  void restart(const Sequences& sources) {
    stepped_ = ready_ = false;
    require_there();
    check(sources);
    session_->restart(sources, continuation_);
    ready_ = true;
  }
  /// The same for text.
  void restart(std::initializer_list<std::string_view> sentences) {
    restart_with({sentences.begin(), sentences.size()});
  }
  template <SentenceRange Range>
  void restart(const Range& sentences) {
    restart_with(detail::views_of(sentences));
  }

  /// Rows of the last step; before the first one, sentences.
  std::size_t rows() const { return ready_ ? session_->rows() : 0; }
  /// The sentence that a row is over.
  std::size_t sentence(std::size_t row) const { return session_->sentence(checked_row(row)); }

  /// One step: row r continues row `parents[r]` of the step before (sentence `parents[r]`, at first) with
  /// `tokens[r]`, `<bos>` at first. Gives the `count` best tokens to follow each row, or, for 0, ln p of all.
  /// Throws for rows, tokens or numbers that are not there; then nothing has happened.
  void step(std::span<const Index> parents, std::span<const Token> tokens, std::size_t count) {
    if (!ready_) fail("Session::step", "a restart() before it", "none");
    if (parents.empty()) fail("Session::step", "at least one row", "none");
    detail::require_equal("Session::step", "tokens, one per row:", parents.size(), tokens.size());
    const std::size_t vocabulary = frozen_.vocabularies().target.size();
    for (const Index parent : parents)
      if (parent < 0 || static_cast<std::size_t>(parent) >= rows())
        fail("Session::step", "parents from 0 to " + detail::text(rows() - 1), detail::text(parent));
    for (const Token token : tokens)
      if (token < 0 || static_cast<std::size_t>(token) >= vocabulary)
        fail("Session::step", "tokens from 0 to " + detail::text(vocabulary - 1), detail::text(token));
    if (count > vocabulary)
      fail("Session::step", "at most " + detail::text(vocabulary) + " best tokens", detail::text(count));
    if (continuation_ == Continuation::one_by_one) require_single(parents);
    check_step(parents);
    session_->step(parents, tokens, count);
    ++steps_;
    stepped_ = true;
  }

  /// The best tokens to follow a row, best first; none where ln p of all was asked for.
  std::span<const Token> next(std::size_t row) const { return session_->next(stepped_row(row)); }
  /// ln p of each of them, or of all tokens in their order.
  std::span<const Scalar> log_probs(std::size_t row) const { return session_->log_probs(stepped_row(row)); }
  /// What the last step of a row has attended to: a weight for each key of its sentence; none where the
  /// model does not attend.
  std::span<const Scalar> attention(std::size_t row) const { return session_->attention(stepped_row(row)); }
  /// The same of one head. A score without heads has one, and this is its attention; of several heads
  /// `attention(row)` is the mean.
  static constexpr std::size_t heads() { return detail::heads_of<typename Model::Score>(); }
  std::span<const Scalar> attention(std::size_t row, std::size_t head) const {
    if (head >= heads()) fail("Session", "a head below " + detail::text(heads()), detail::text(head));
    const std::span<const Scalar> mean = attention(row);
    return heads() == 1 ? mean : session_->head_attention(row).subspan(head * mean.size(), mean.size());
  }

 private:
  void require_there() const {
    if (!session_) fail("Session::restart", "a session", "one that was moved from");
  }
  void restart_with(std::span<const std::string_view> sentences) {
    stepped_ = ready_ = false;
    require_there();
    const Vocabularies& v = frozen_.vocabularies();
    std::vector<std::vector<Token>> rows_of_tokens;
    for (const std::string_view sentence : sentences)
      rows_of_tokens.push_back(detail::token_row(v.source, v.source_tokens(sentence)));
    restart(Sequences::from_rows(rows_of_tokens));
  }

  void check(const Sequences& sources) {
    detail::check_sentences(limits_, sources.rows());
    detail::check_deadline(limits_, 0);
    steps_ = longest_ = 0;
    bytes_ = memory_.base;
    for (std::size_t b = 0; b < sources.rows(); ++b) {
      const auto tokens = static_cast<std::size_t>(std::max<Index>(sources.lengths[b], 0));
      detail::check_source(limits_, tokens, b);
      longest_ = std::max(longest_, tokens);
      check_memory(bytes_ += memory_.encoding(tokens), b);
    }
  }
  void check_step(std::span<const Index> parents) {
    const std::size_t first = sentence(static_cast<std::size_t>(parents[0]));
    detail::check_deadline(limits_, first);
    if (limits_.target_tokens != 0 && steps_ >= limits_.target_tokens)
      detail::fail_limit(first, "at most " + detail::text(limits_.target_tokens) + " steps", "one more",
                         "target_tokens");
    if (limits_.beam != 0) {
      seen_.assign(rows(), 0);  // at least as many as sentences, by which it is counted
      for (const Index parent : parents) {
        const std::size_t over = sentence(static_cast<std::size_t>(parent));
        if (over >= seen_.size()) seen_.resize(over + 1, 0);
        if (++seen_[over] > limits_.beam)
          detail::fail_limit(over, "at most " + detail::text(limits_.beam) + " rows of it", "one more",
                             "beam");
      }
    }
    check_memory(bytes_ + memory_.step(parents.size(), longest_), first);
  }
  void check_memory(double bytes, std::size_t sentence) const {
    if (limits_.memory != 0 && bytes > static_cast<double>(limits_.memory))
      detail::fail_limit(sentence, "at most " + detail::text(limits_.memory) + " bytes",
                         "up to " + detail::number_text(std::ceil(bytes)), "memory");
  }

  void require_single(std::span<const Index> parents) {
    seen_.assign(rows(), 0);
    for (const Index parent : parents)
      if (seen_[static_cast<std::size_t>(parent)]++ != 0)
        fail("Session::step", "rows that are continued once", detail::text(parent) + " twice",
             "make a Session with Continuation::branching");
  }
  std::size_t checked_row(std::size_t row) const {
    if (row >= rows()) fail("Session", "a row below " + detail::text(rows()), detail::text(row));
    return row;
  }
  std::size_t stepped_row(std::size_t row) const {
    if (!stepped_) fail("Session", "a step() before it", "none");
    return checked_row(row);
  }

  Frozen<Model> frozen_;
  Continuation continuation_;
  Limits limits_;
  detail::MemoryEstimate<Greedy> memory_;
  typename detail::SessionPool<typename Model::Parts>::Borrowed session_;
  std::vector<std::size_t> seen_;  // scratch
  std::size_t steps_ = 0, longest_ = 0;
  double bytes_ = 0;  // that the encoded sentences may take
  bool ready_ = false, stepped_ = false;
};

template <class Model>
Session(Frozen<Model>) -> Session<Model>;
template <class Model>
Session(Frozen<Model>, Continuation) -> Session<Model>;
template <class Model>
Session(Frozen<Model>, Continuation, Limits) -> Session<Model>;

}  // namespace bahdanau
