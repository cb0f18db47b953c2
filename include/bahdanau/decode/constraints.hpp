// What a translation must and must not have: a shortest length, first words, words that it has, words that
// it has not. Read once from a call's options; a hypothesis carries how far it has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/decode/phrases.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau::detail {

inline std::string name_of(const Greedy&) { return "Greedy"; }
inline std::string name_of(const Sample&) { return "Sample"; }
inline std::string name_of(const Beam&) { return "Beam"; }

/// The tokens of a word or phrase of the target. Throws, with the word, where the model does not know one.
inline std::vector<Token> phrase_tokens(const std::string& where, std::string_view phrase,
                                        const Vocabularies& v) {
  // Spelled so, a reserved token is one even where characters are tokens.
  const auto special = std::find(reserved::names.begin(), reserved::names.end(), phrase);
  if (special != reserved::names.end()) return {static_cast<Token>(special - reserved::names.begin())};
  require_utf8(where, phrase);
  std::vector<Token> out;
  // As the model spells it: where it writes in true case, "Je" begins a sentence that it knows as "je".
  for (const std::string& word : v.target_tokens(phrase)) {
    if (!v.target.contains(word))
      fail(where, "words of the target vocabulary", quote(word), "the model cannot write it");
    out.push_back(v.target.id(word));
  }
  if (out.empty()) fail(where, "a word", "an empty one");
  return out;
}

/// How far a hypothesis has come.
struct ConstraintState {
  PhraseAutomaton::Node node = 0;
  PhraseAutomaton::Set met = 0;  // of the required phrases
};

class Constraints {
 public:
  Constraints() = default;
  /// Throws for words that the model does not know, and for options that contradict one another.
  template <class Options>
  Constraints(const Options& options, const Vocabularies& v) : min_length_(options.min_length) {
    shortest_ = min_length_;
    active_ = min_length_ > 1 || !options.prefix.empty() || !options.forbidden.empty();
    if constexpr (requires { options.required; }) active_ = active_ || !options.required.empty();
    if (!active_) return;
    const std::string name = name_of(options);
    check_length(name + ".min_length", options.min_length, options.max_length);
    if (!options.prefix.empty()) read_prefix(name + ".prefix", options.prefix, options.max_length, v);
    std::vector<bool> last(v.target.size()), alone(v.target.size());
    for (std::size_t i = 0; i < options.forbidden.size(); ++i) {
      const std::string where = name + ".forbidden, word " + text(i);
      const std::vector<Token> phrase = phrase_tokens(where, options.forbidden[i], v);
      if (contains(phrase, reserved::eos))
        fail(where, "a word", "<eos>", "min_length keeps a translation from its end");
      automaton_.forbid(phrase);
      last[static_cast<std::size_t>(phrase.back())] = true;
      if (phrase.size() == 1) alone[static_cast<std::size_t>(phrase.back())] = true;
    }
    std::vector<std::vector<Token>> required;
    if constexpr (requires { options.required; })
      required = read_required(name + ".required", options.required, options.max_length, v);
    for (const auto& phrase : required) automaton_.require(phrase);
    automaton_.finish(v.target.size());
    refused_ = static_cast<std::size_t>(std::count(last.begin(), last.end(), true)) + (min_length_ > 1);
    if (min_length_ > 1 && std::count(alone.begin(), alone.end(), false) == 1)  // which is `<eos>`
      fail(name + ".forbidden", "a word that is left for a translation of min_length " + text(min_length_),
           "all of the vocabulary");
    require_allowed(name + ".prefix", prefix_, v);
    for (const auto& phrase : required) require_allowed(name + ".required", phrase, v);
    shortest_ = std::max(min_length_, prefix_.size() + automaton_.tokens() + 1);
  }

  /// Whether there are any.
  bool active() const { return active_; }
  /// Tokens that a translation may need for all of them, its `<eos>` included.
  std::size_t shortest() const { return shortest_; }
  /// What every translation begins with.
  std::span<const Token> prefix() const { return prefix_; }
  /// How many tokens may be refused to one row, behind the prefix and where nothing is required.
  std::size_t refused() const { return refused_; }
  /// The tokens of all required phrases.
  std::size_t required() const { return automaton_.tokens(); }

  /// Whether a token may be the one of step `step` in a row.
  bool allows(const ConstraintState& state, Token token, std::size_t step) const {
    if (step < prefix_.size()) return token == prefix_[step];
    if (token == reserved::eos) return step + 1 >= min_length_ && met(state);
    return !automaton_.knows(token) || !automaton_.forbidden(automaton_.next(state.node, token));
  }
  /// Whether it leads where all tokens do that no phrase has.
  bool ordinary(Token token) const { return !automaton_.knows(token) && token != reserved::eos; }
  ConstraintState next(const ConstraintState& state, Token token) const {
    const PhraseAutomaton::Node node = automaton_.next(state.node, token);
    return {node, state.met | automaton_.ended(node)};
  }
  /// Whether all required phrases are there, and how many of their tokens.
  bool met(const ConstraintState& state) const { return state.met == automaton_.all(); }
  std::size_t progress(const ConstraintState& state) const {
    return automaton_.progress(state.node, state.met);
  }

  static constexpr std::size_t most_required_tokens = 1000;

 private:
  static bool contains(std::span<const Token> phrase, Token token) {
    return std::find(phrase.begin(), phrase.end(), token) != phrase.end();
  }

  static void check_length(const std::string& where, std::size_t length, std::size_t max_length) {
    const std::size_t most = max_length == 0 ? TextOptions::longest : max_length;
    if (length > most)
      fail(where, "at most " + text(most) + " tokens" + (max_length == 0 ? "" : ", as max_length says"),
           text(length));
  }

  void read_prefix(const std::string& where, const std::string& words, std::size_t max_length,
                   const Vocabularies& v) {
    prefix_ = phrase_tokens(where, words, v);
    check_length(where, prefix_.size(), max_length);
    require_words(where, prefix_, v);
  }

  /// The phrases, each once.
  static std::vector<std::vector<Token>> read_required(const std::string& where,
                                                       const std::vector<std::string>& words,
                                                       std::size_t max_length, const Vocabularies& v) {
    if (words.size() > PhraseAutomaton::most_required)
      fail(where, "at most " + text(PhraseAutomaton::most_required) + " words", text(words.size()));
    std::vector<std::vector<Token>> out;
    std::size_t total = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string place = where + ", word " + text(i);
      std::vector<Token> phrase = phrase_tokens(place, words[i], v);
      check_length(place, phrase.size(), max_length);
      require_words(place, phrase, v);
      if (std::find(out.begin(), out.end(), phrase) != out.end()) continue;
      total += phrase.size();
      if (total > most_required_tokens)
        fail(where, "words of at most " + text(most_required_tokens) + " tokens together", "more");
      out.push_back(std::move(phrase));
    }
    return out;
  }

  /// Throws for what no translation has within it.
  static void require_words(const std::string& where, std::span<const Token> phrase, const Vocabularies& v) {
    for (const Token token : {reserved::pad, reserved::bos, reserved::eos})
      if (contains(phrase, token)) fail(where, "words", v.target.token(token));
  }

  /// Throws for a phrase in which there is a forbidden one.
  void require_allowed(const std::string& where, std::span<const Token> phrase, const Vocabularies& v) const {
    PhraseAutomaton::Node node = 0;
    for (const Token token : phrase) {
      node = automaton_.next(node, token);
      if (automaton_.forbidden(node))
        fail(where, "words that are not forbidden too", quote(v.target.token(token)));
    }
  }

  std::size_t min_length_ = 0, shortest_ = 0, refused_ = 0;
  std::vector<Token> prefix_;
  PhraseAutomaton automaton_;
  bool active_ = false;
};

}  // namespace bahdanau::detail
