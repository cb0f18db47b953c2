// Text to text: what `EncoderDecoder::translate` does, for one sentence or many, greedily or with a beam.
// Nothing is cut: a source may be longer than anything seen in training.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/parallel.hpp>
#include <bahdanau/decode/constraints.hpp>
#include <bahdanau/decode/groups.hpp>
#include <bahdanau/decode/limits.hpp>
#include <bahdanau/decode/search.hpp>
#include <bahdanau/decode/sentences.hpp>
#include <bahdanau/decode/session_pool.hpp>
#include <bahdanau/decode/token_row.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

namespace detail {

/// A sentence as decoding takes it.
struct Prepared {
  std::size_t number = 0;          // among those of the call
  std::vector<std::string> words;  // as they were written, for words that the model does not know
  std::vector<Token> row;          // with `<eos>`
};

/// A found hypothesis as people and programs read it; `tokens` calls its argument for each token, with its
/// attention and, behind it, that of so many heads.
template <class Tokens>
Translation read_leaf(const Vocabularies& v, const Leaf& leaf, const Prepared& source, bool replace_unknown,
                      std::size_t heads, Tokens tokens) {
  Translation t;
  t.source = spelled(v.source, source.row);
  t.score = leaf.score;
  std::vector<std::string> words;
  words.reserve(leaf.step + 1);
  t.target.reserve(leaf.step + 1);
  t.log_probs.reserve(leaf.step + 1);
  tokens(leaf, [&](Token token, double log_prob, auto kept) {
    const std::size_t keys = kept.size() / (1 + heads), row = t.target.size();
    const auto weights = kept.first(keys);
    if (row == 0) t.attention = Array<float, 2>::from_shape({leaf.step + 1, keys});
    if (row == 0 && heads > 0) t.heads = Array<float, 3>::from_shape({heads, leaf.step + 1, keys});
    std::copy(weights.begin(), weights.end(), t.attention.data() + row * keys);
    for (std::size_t h = 0; h < heads; ++h) {
      const auto of_head = kept.subspan((1 + h) * keys, keys);
      std::copy(of_head.begin(), of_head.end(), t.heads.data() + (h * (leaf.step + 1) + row) * keys);
    }
    std::string word = v.target.token(token);
    // Only where each key is a token: other keys say nothing of single words.
    if (replace_unknown && token == reserved::unk && weights.size() == source.row.size()) {
      // `<eos>` is no word of the source: the best among the others.
      const auto best = std::max_element(weights.begin(), weights.end() - (weights.size() > 1 ? 1 : 0));
      const auto at = static_cast<std::size_t>(best - weights.begin());
      if (at < source.words.size()) word = source.words[at];
    }
    t.target.push_back(word);
    t.log_probs.push_back(log_prob);
    if (token != reserved::eos) words.push_back(std::move(word));
  });
  t.text = v.target_text(words);
  return t;
}

/// Reads one of several sentences. Throws for text that is not UTF-8, and says which it is.
template <class Read>
auto read_one(std::span<const std::string_view> sentences, std::size_t number, Read read) {
  try {
    return read(sentences[number]);
  } catch (const Error&) {
    if (sentences.size() > 1) require_utf8("translate, sentence " + text(number), sentences[number]);
    throw;
  }
}

/// Throws if sentences are beyond the limits of a call, before any of them is decoded. Gives the bytes that
/// remain beside all results, where those are limited.
template <class Sessions, class Options>
double check_limits(const Sessions& sessions, std::span<const std::string_view> sentences,
                    const Options& options, const Constraints& constraints) {
  check_sentences(options.limits, sentences.size());
  check_beam(options);
  if constexpr (requires { options.on_token; })
    if (options.on_token && sentences.size() > 1 && options.threads != 1)
      fail("Greedy.on_token", "one sentence, or threads = 1", text(sentences.size()) + " sentences");
  if (options.max_length > TextOptions::longest)
    fail("max_length", "at most " + text(TextOptions::longest) + " tokens", text(options.max_length));
  const auto require_attention = [&](std::string_view option, bool wanted, std::string_view hint) {
    if (wanted && !sessions.sizes().attends)
      fail(option, "a model that attends", "one with the score \"none\"", hint);
  };
  require_attention("replace_unknown", options.replace_unknown,
                    "no word of the source stands for an <unk> there");
  if constexpr (requires { options.coverage_penalty; })
    require_attention("Beam.coverage_penalty", options.coverage_penalty != 0,
                      "there is nothing to cover otherwise");
  const Limits& limits = options.limits;
  if (limits.source_tokens == 0 && limits.memory == 0) return 0;
  const MemoryEstimate<Options> memory(sessions.sizes(), options, constraints);
  const TextSide side = sessions.vocabularies().text.source_side();
  double results = memory.base;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    // A token has at least one byte.
    if (limits.memory == 0 && sentences[b].size() < limits.source_tokens) continue;
    const std::size_t tokens =
        1 + read_one(sentences, b, [&](std::string_view sentence) { return count_tokens(sentence, side); });
    if (tokens == 1) continue;
    check_source(limits, tokens, b);
    results += memory.results(tokens, sentences[b].size());
    const double work = memory.work(tokens, sentences[b].size());
    if (limits.memory != 0 && results + work > static_cast<double>(limits.memory))
      fail_limit(b, "at most " + text(limits.memory) + " bytes to translate it and what comes before it",
                 "up to " + number_text(std::ceil(results + work)), "memory");
  }
  return static_cast<double>(limits.memory) - results;
}

/// Decodes the sentences of one call, group after group.
template <class Sessions, class Options>
class TextDecoder {
 public:
  using Found = std::vector<std::vector<Translation>>;

  TextDecoder(const Sessions& sessions, std::span<const std::string_view> sentences, const Options& options)
      : sessions_(sessions),
        vocabularies_(sessions.vocabularies()),
        sizes_(sessions.sizes()),
        sentences_(sentences),
        options_(options),
        constraints_(options, vocabularies_),
        workers_(sessions.grouping().threads(options.threads), options.pool),
        grouper_(sessions.grouping(), sentences.size(), workers_.threads()),
        memory_(sizes_, options, constraints_),
        found_(sentences.size()) {}

  /// All hypotheses of all sentences, in their order; of an empty sentence one, which is empty.
  Found run() && {
    const double remaining = check_limits(sessions_, sentences_, options_, constraints_);
    // Groups that are prepared at once; any number of threads may have been asked for.
    const std::size_t window = 4 * std::min(workers_.threads(), sentences_.size());
    while (next_ < sentences_.size()) {
      std::vector<std::vector<Prepared>> groups;
      double largest = 0, bytes = 0;
      while (groups.size() < window && next_ < sentences_.size())
        if (std::vector<Prepared> group = next_group(bytes); !group.empty()) {
          largest = std::max(largest, bytes);
          groups.push_back(std::move(group));
        }
      const double side_by_side = largest * static_cast<double>(std::min(workers_.threads(), groups.size()));
      const std::size_t memory = options_.limits.memory;
      if (groups.size() == 1 || (memory != 0 && side_by_side > remaining))
        for (const auto& group : groups) decode(group, &workers_);
      else
        workers_.run(groups.size(), [&](std::size_t g) { decode(groups[g], nullptr); });
    }
    return std::move(found_);
  }

 private:
  /// The next sentences that are decoded together, and what that takes at most; empty ones are answered.
  std::vector<Prepared> next_group(double& bytes) {
    std::vector<Prepared> group;
    bytes = 0;
    const Vocabularies& v = vocabularies_;
    for (std::size_t tokens = 0; next_ < sentences_.size(); ++next_) {
      Prepared prepared{
          next_,
          read_one(sentences_, next_, [&](std::string_view sentence) { return v.source_tokens(sentence); }),
          {}};
      if (prepared.words.empty()) {
        found_[next_].emplace_back().attention = Array<float, 2>::from_shape({0, 0});
        continue;
      }
      const std::size_t words = prepared.words.size() + 1, more = std::max(words, sizes_.padded);
      const double more_bytes =
          options_.limits.memory != 0 ? memory_.work(words, sentences_[next_].size()) : 0;
      if (grouper_.full(group.size(), tokens, more) || (!group.empty() && bytes + more_bytes > share()))
        break;
      tokens += more;
      bytes += more_bytes;
      prepared.row = v.source.encode(prepared.words);
      prepared.row.push_back(reserved::eos);
      if (!options_.replace_unknown) prepared.words = {};
      group.push_back(std::move(prepared));
    }
    return group;
  }

  /// Of the memory that there may be, what a group of several sentences may take: by a rule that does not
  /// know the threads.
  double share() const {
    const std::size_t memory = options_.limits.memory;
    return memory == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(memory) / 8;
  }

  void decode(const std::vector<Prepared>& group, Workers* helpers) {
    std::vector<std::vector<Token>> rows;
    std::vector<std::size_t> numbers;
    for (const Prepared& sentence : group) {
      rows.push_back(sentence.row);
      numbers.push_back(sentence.number);
    }
    const auto session = sessions_.borrow();
    auto result = search(*session, Sequences::from_rows(rows), options_, constraints_, helpers, {numbers});
    for (std::size_t b = 0; b < group.size(); ++b) {
      check_ended(result.found[b].front(), group[b]);
      std::shared_ptr<const SearchHistory> history;
      if (!result.recorders.empty())
        history = std::make_shared<SearchHistory>(
            result.recorders[b].history(vocabularies_.target, result.found[b]));
      for (const Leaf& leaf : result.found[b]) {
        const bool last = b + 1 == group.size() && &leaf == &result.found[b].back();
        Translation& read = found_[numbers[b]].emplace_back(
            read_leaf(vocabularies_, leaf, group[b], options_.replace_unknown,
                      session->fetches_heads() ? session->heads : 0, [&](const Leaf& of, auto f) {
                        last ? result.tree.drain_tokens(of, f) : result.tree.for_tokens(of, f);
                      }));
        read.history = history;
        if (result.runners_up.wanted())
          result.tree.for_rows(leaf, [&](std::size_t row, Token token, double) {
            read.runners_up.push_back(result.runners_up.of(row, token, vocabularies_.target));
          });
      }
    }
  }

  /// Throws for a translation that its limit has cut.
  void check_ended(const Leaf& leaf, const Prepared& sentence) const {
    const std::size_t most = options_.limits.target_tokens;
    if (leaf.ended || most == 0 || leaf.step + 1 < most) return;
    if (asked_length(options_, sentence.row.size(), sizes_.max_length, constraints_.shortest()) <= most)
      return;
    fail_limit(sentence.number, "a translation of at most " + text(most) + " tokens with its <eos>",
               "one that goes on", "target_tokens");
  }

  const Sessions& sessions_;
  const Vocabularies& vocabularies_;
  DecodingSizes sizes_;
  std::span<const std::string_view> sentences_;
  const Options& options_;
  Constraints constraints_;
  Workers workers_;
  Grouper grouper_;
  MemoryEstimate<Options> memory_;
  Found found_;
  std::size_t next_ = 0;
};

/// All hypotheses of all sentences, in their order; of an empty sentence one, which is empty.
template <class Sessions, class Options>
std::vector<std::vector<Translation>> translate_all(const Sessions& sessions,
                                                    std::span<const std::string_view> sentences,
                                                    const Options& options) {
  if (sentences.empty()) return {};
  return TextDecoder<Sessions, Options>(sessions, sentences, options).run();
}

/// The best one of each.
template <class Sessions, class Options>
std::vector<Translation> translate_best(const Sessions& sessions, std::span<const std::string_view> sentences,
                                        const Options& options) {
  std::vector<Translation> out;
  for (auto& list : translate_all(sessions, sentences, options)) out.push_back(std::move(list.front()));
  return out;
}

}  // namespace detail

/// Translation for `Base`, a model on tokens; `Self`, what derives from this, has `sessions()`.
template <class Self, class Base>
class TextInference : public Base {
 public:
  using Base::Base;

  /// Translates text. Nothing translates to nothing. Throws for text that is
  /// not UTF-8, for options out of range, and beyond `options.limits`.
  Translation translate(std::string_view sentence, const Greedy& options = {}) const {
    return std::move(best({&sentence, 1}, options).front());
  }
  Translation translate(std::string_view sentence, const Beam& options) const {
    return std::move(best({&sentence, 1}, options).front());
  }
  Translation translate(std::string_view sentence, const Sample& options) const {
    return std::move(best({&sentence, 1}, options).front());
  }
  /// Several sentences, in their order: `{"go .", "i lost ."}`, or a range of strings, views or literals.
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Greedy& options = {}) const {
    return best({sentences.begin(), sentences.size()}, options);
  }
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Beam& options) const {
    return best({sentences.begin(), sentences.size()}, options);
  }
  std::vector<Translation> translate(std::initializer_list<std::string_view> sentences,
                                     const Sample& options) const {
    return best({sentences.begin(), sentences.size()}, options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Greedy& options = {}) const {
    return best(detail::views_of(sentences), options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Beam& options) const {
    return best(detail::views_of(sentences), options);
  }
  template <SentenceRange Range>
  std::vector<Translation> translate(const Range& sentences, const Sample& options) const {
    return best(detail::views_of(sentences), options);
  }

 private:
  template <class Options>
  std::vector<Translation> best(std::span<const std::string_view> sentences, const Options& options) const {
    return detail::translate_best(*static_cast<const Self&>(*this).sessions(), sentences, options);
  }
};

/// The `nbest` translations of every sentence, best first; of a model or a frozen one.
template <class Model>
std::vector<std::vector<Translation>> translate_nbest(const Model& model,
                                                      std::initializer_list<std::string_view> sentences,
                                                      const Beam& beam) {
  return detail::translate_all(*model.sessions(), {sentences.begin(), sentences.size()}, beam);
}
template <class Model, SentenceRange Range>
std::vector<std::vector<Translation>> translate_nbest(const Model& model, const Range& sentences,
                                                      const Beam& beam) {
  return detail::translate_all(*model.sessions(), detail::views_of(sentences), beam);
}

}  // namespace bahdanau
