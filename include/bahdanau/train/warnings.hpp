// What `fit` says of its data and of its own program before it starts: things that work, and give bad models.
// Each is one line; all but the last are in the report too.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/report.hpp>

namespace bahdanau::detail {

/// The share of words, `<eos>` not counted, that the vocabulary does not have.
inline double unknown_share(const Corpus::Rows& rows) {
  std::size_t words = 0, unknown = 0;
  for (const auto& row : rows)
    for (const Token id : row) {
      words += id != reserved::eos ? 1 : 0;
      unknown += id == reserved::unk ? 1 : 0;
    }
  return words == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(words);
}

/// What is known of a text's rows.
struct TextFacts {
  std::size_t pairs, rows, cut_rows;  // the latter two of those that were looked at
  std::size_t max_length;
  double source_unknown, target_unknown;  // shares of the words
};

inline TextFacts facts_of(const Corpus& corpus) {
  return {corpus.size(),
          2 * corpus.size(),
          corpus.cut_rows(),
          corpus.vocabularies().text.max_length,
          unknown_share(corpus.source()),
          unknown_share(corpus.target())};
}

/// Pairs that stay in their file, as those of a `CorpusFile`.
template <class Pairs>
concept PairsInFile = requires(const Pairs& pairs, Corpus::Rows rows, std::size_t count) {
  rows = pairs.sample(count).source, rows = pairs.sample(count).target, count = pairs.sample(count).cut_rows;
  count = pairs.vocabularies().text.max_length;
};

/// Of pairs that are in a file, some are looked at.
template <PairsInFile Pairs>
TextFacts facts_of(const Pairs& pairs) {
  constexpr std::size_t looked_at = 4096;
  const auto sample = pairs.sample(looked_at);
  return {pairs.size(),
          sample.source.size() + sample.target.size(),
          sample.cut_rows,
          pairs.vocabularies().text.max_length,
          unknown_share(sample.source),
          unknown_share(sample.target)};
}

inline std::optional<std::string> cut_warning(std::string_view what, const TextFacts& facts) {
  if (facts.cut_rows == 0) return std::nullopt;
  return text(facts.cut_rows) + " of the " + std::string(what) + "'s " + text(facts.rows) + " rows " +
         (facts.rows == 2 * facts.pairs ? "" : "that were looked at ") +
         (facts.cut_rows == 1 ? "was" : "were") + " cut to " + text(facts.max_length) +
         " tokens; raise max_length to keep them whole";
}

inline std::optional<std::string> unknown_warning(std::string_view what, const TextFacts& facts) {
  constexpr double mostly = 0.5;
  if (facts.source_unknown <= mostly && facts.target_unknown <= mostly) return std::nullopt;
  const auto percent = [](double share) { return fixed_digits(100 * share, 0) + " %"; };
  return percent(facts.source_unknown) + " of the " + std::string(what) + "'s source tokens and " +
         percent(facts.target_unknown) +
         " of its target tokens are <unk>; lower min_frequency, or use the vocabularies of such data";
}

/// What is in the text that nobody may have wanted: into the report, and to `warn(sentence)`.
template <class Text, class Warn>
void describe_text(const Text& data, const Text* validation, TrainingReport& report, const Warn& warn) {
  const TextFacts facts = facts_of(data);
  // As of all rows, where some were looked at.
  report.cut_rows = facts.cut_rows * (2 * facts.pairs) / facts.rows;
  report.source_unknown = facts.source_unknown;
  report.target_unknown = facts.target_unknown;
  const std::optional<TextFacts> held_out = validation ? std::optional(facts_of(*validation)) : std::nullopt;
  for (const auto warning : {cut_warning, unknown_warning}) {
    if (const auto what = warning("training data", facts)) warn(*what);
    if (!held_out) continue;
    if (const auto what = warning("validation data", *held_out)) warn(*what);
  }
}

/// Whether this file is compiled with optimisation. No inline variable: files of one program may disagree.
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
constexpr bool optimised = false;
#else
constexpr bool optimised = true;
#endif

/// Once in a process, and only for code that was compiled without optimisation.
template <bool Optimised>
std::optional<std::string> build_warning() {
  if constexpr (Optimised) return std::nullopt;
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return std::nullopt;
  return "this program was compiled without optimisation and trains many times slower than it could; compile "
         "it with -O2, or with CMake -DCMAKE_BUILD_TYPE=Release";
}

}  // namespace bahdanau::detail
