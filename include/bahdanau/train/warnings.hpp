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

inline std::optional<std::string> cut_warning(std::string_view what, const Corpus& corpus) {
  const std::size_t cut = corpus.cut_rows();
  if (cut == 0) return std::nullopt;
  return text(cut) + " of the " + std::string(what) + "'s " + text(2 * corpus.size()) + " rows " +
         (cut == 1 ? "was" : "were") + " cut to " + text(corpus.vocabularies().text.max_length) +
         " tokens; raise max_length to keep them whole";
}

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

inline std::optional<std::string> unknown_warning(std::string_view what, const Corpus& corpus) {
  constexpr double mostly = 0.5;
  const double source = unknown_share(corpus.source()), target = unknown_share(corpus.target());
  if (source <= mostly && target <= mostly) return std::nullopt;
  const auto percent = [](double share) { return fixed_digits(100 * share, 0) + " %"; };
  return percent(source) + " of the " + std::string(what) + "'s source tokens and " + percent(target) +
         " of its target tokens are <unk>; lower min_frequency, or use the vocabularies of such data";
}

/// What is in the text that nobody may have wanted: into the report, and to `warn(sentence)`.
template <class Warn>
void describe_text(const Corpus& corpus, const Corpus* validation, TrainingReport& report, const Warn& warn) {
  report.cut_rows = corpus.cut_rows();
  report.source_unknown = unknown_share(corpus.source());
  report.target_unknown = unknown_share(corpus.target());
  for (const auto warning : {cut_warning, unknown_warning}) {
    if (const auto what = warning("training data", corpus)) warn(*what);
    if (!validation) continue;
    if (const auto what = warning("validation data", *validation)) warn(*what);
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
