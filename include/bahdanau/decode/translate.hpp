// Text to text: `EncoderDecoder::translate`, for one sentence or many, greedily or with a beam.
// Nothing is cut: a source may be longer than anything seen in training.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/backend/blas.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/decode/search.hpp>
#include <bahdanau/decode/token_row.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

namespace detail {

/// A found hypothesis as people and programs read it.
template <class Model>
Translation read_leaf(const Model& model, const HypothesisTree<typename Model::Scalar>& tree,
                      const Leaf& leaf, std::span<const Token> source,
                      const std::vector<std::string>& source_words, bool replace_unknown) {
  const Vocabularies& v = model.vocabularies();
  Translation t;
  t.source = spelled(v.source, source);
  t.score = leaf.score;
  t.attention = Array<float, 2>::from_shape({leaf.step + 1, source.size()});
  std::vector<std::string> words;
  words.reserve(leaf.step + 1);
  t.target.reserve(leaf.step + 1);
  t.log_probs.reserve(leaf.step + 1);
  tree.for_tokens(leaf, [&](Token token, double log_prob, auto weights) {
    std::copy(weights.begin(), weights.end(), t.attention.data() + t.target.size() * source.size());
    std::string word = v.target.token(token);
    if (replace_unknown && token == reserved::unk) {
      // `<eos>` is no word of the source: the best among the others.
      const auto best = std::max_element(weights.begin(), weights.end() - (weights.size() > 1 ? 1 : 0));
      const auto at = static_cast<std::size_t>(best - weights.begin());
      if (at < source_words.size()) word = source_words[at];
    }
    t.target.push_back(word);
    t.log_probs.push_back(log_prob);
    if (token != reserved::eos) words.push_back(std::move(word));
  });
  t.text = detokenize(words, v.text.tokens);
  return t;
}

/// How many groups sentences are decoded in, each on a thread of its own.
///
/// Where a backend's products give a row the same bits in any company, groups follow the threads; else they
/// are cut by the number of sentences alone, so that the threads change nothing.
template <Backend B>
std::size_t decoding_groups(std::size_t sentences, std::size_t threads) {
  constexpr std::size_t fewest = 8;  // sentences: enough rows for fast products
  constexpr std::size_t fixed = SpreadingBackend<B> ? 256 : 32;
  if (PackingBackend<B>) return std::clamp<std::size_t>(sentences / fewest, 1, threads);
  return (sentences + fixed - 1) / fixed;
}

/// All hypotheses of all sentences, in their order; of an empty sentence one, which is empty.
template <class Model, class Options>
std::vector<std::vector<Translation>> translate_all(const Model& model,
                                                    std::span<const std::string> sentences,
                                                    const Options& options) {
  if (sentences.empty()) return {};
  const Vocabularies& v = model.vocabularies();
  std::vector<std::vector<std::string>> words;
  std::vector<std::vector<Token>> rows;
  std::vector<std::size_t> numbers;  // of the sentences that have words
  std::vector<std::vector<Translation>> out(sentences.size());
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    std::vector<std::string> tokens = tokenize(sentences[b], v.text);
    if (tokens.empty()) {
      out[b].emplace_back().attention = Array<float, 2>::from_shape({0, 0});
      continue;
    }
    numbers.push_back(b);
    rows.push_back(v.source.encode(tokens));
    rows.back().push_back(reserved::eos);
    words.push_back(std::move(tokens));
  }
  if (rows.empty()) return out;
  Workers workers(threads_for<typename Model::Backend>(options.threads));
  const std::size_t groups = decoding_groups<typename Model::Backend>(rows.size(), workers.threads());
  const auto decode = [&](std::size_t g, Workers* helpers) {
    const std::size_t begin = g * rows.size() / groups, end = (g + 1) * rows.size() / groups;
    const std::span<const std::vector<Token>> group(rows.data() + begin, end - begin);
    const auto result = search(model, Sequences::from_rows(group), options, helpers);
    for (std::size_t b = begin; b < end; ++b)
      for (const Leaf& leaf : result.found[b - begin])
        out[numbers[b]].push_back(
            read_leaf(model, result.tree, leaf, rows[b], words[b], options.replace_unknown));
  };
  if (groups == 1) {
    decode(0, &workers);
  } else {
    [[maybe_unused]] const blas::SingleThreadedOn<typename Model::Backend> keep_to_its_thread{};
    workers.run(groups, [&](std::size_t g) { decode(g, nullptr); });
  }
  return out;
}

/// The best one of each.
inline std::vector<Translation> best_of(std::vector<std::vector<Translation>> all) {
  std::vector<Translation> out;
  for (auto& list : all) out.push_back(std::move(list.front()));
  return out;
}

}  // namespace detail

/// The `nbest` translations of every sentence, best first, all sentences in one batch.
template <class Model>
std::vector<std::vector<Translation>> translate_nbest(const Model& model,
                                                      std::span<const std::string> sentences,
                                                      const Beam& beam) {
  return detail::translate_all(model, sentences, beam);
}

template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E> Translation
EncoderDecoder<C, S, B, E>::translate(std::string_view sentence, const Greedy& options)
const { return std::move(translate(std::vector<std::string>{std::string(sentence)}, options).front()); }
template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E> Translation
EncoderDecoder<C, S, B, E>::translate(std::string_view sentence, const Beam& options)
const { return std::move(translate(std::vector<std::string>{std::string(sentence)}, options).front()); }
template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E> std::vector<Translation> EncoderDecoder<C, S, B, E>::translate(
    std::span<const std::string> sentences, const Greedy& options)
const { return detail::best_of(detail::translate_all(*this, sentences, options)); }
template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E> std::vector<Translation> EncoderDecoder<C, S, B, E>::translate(
    std::span<const std::string> sentences, const Beam& options)
const { return detail::best_of(detail::translate_all(*this, sentences, options)); }

}  // namespace bahdanau
