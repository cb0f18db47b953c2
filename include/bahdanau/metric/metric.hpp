// The Metric concept: how near predictions are to references.
// A metric is made of sums over sentences, so that resampling adds numbers up and never reads a text again.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace bahdanau {

/// How near predictions are to references. Models: `Bleu`, `Chrf`, `ChrfPlusPlus`, `Ter`, `WordErrorRate`,
/// `CharacterErrorRate`, `PhoneErrorRate`, `DictionaryWordErrorRate`, `ExactMatch`, `Rouge1`, `Rouge2`,
/// `RougeL`.
///
/// 1. `Statistics` is what is counted for a sentence: a copyable type whose `Statistics{}` is that of no
///    sentence, and `sum += other` that of the sentences of both.
/// 2. `statistics(prediction, references)` counts for one sentence. Texts are UTF-8, as they were written;
///    there is at least one reference, and each text may be empty.
/// 3. `score(sum)` is the metric's value for the sentences of a sum. It is called for each resample, so it
///    should cost little.
/// 4. `name()` is what tables call it, `signature()` all choices that change values, as `key:value` between
///    `|`, as sacrebleu writes them (`case:mixed|tok:13a`): equal signatures make values comparable.
template <class M>
concept Metric = std::copyable<M> && std::default_initializable<typename M::Statistics> &&
    std::copyable<typename M::Statistics> &&
    requires(const M& metric, std::string_view prediction, std::span<const std::string_view> references,
             typename M::Statistics& sum, const typename M::Statistics& other) {
  sum += other;
  { metric.statistics(prediction, references) } -> std::same_as<typename M::Statistics>;
  { metric.score(other) } -> std::convertible_to<double>;
  { metric.name() } -> std::convertible_to<std::string>;
  { metric.signature() } -> std::convertible_to<std::string>;
};

}  // namespace bahdanau
