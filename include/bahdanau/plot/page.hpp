// Translations as a page for a browser: one file that fetches nothing, with what each word attends to, how
// probable it was and what else might have come, the beam's tree, the n best, references and gold alignments.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/align/alignment.hpp>
#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/page/base_script.hpp>
#include <bahdanau/plot/page/beam_script.hpp>
#include <bahdanau/plot/page/document.hpp>
#include <bahdanau/plot/page/list_script.hpp>
#include <bahdanau/plot/page/matrix_script.hpp>
#include <bahdanau/plot/page/words_script.hpp>

namespace bahdanau::plot {

/// A sentence of a page: its translations, best first, and what they are held against, where there is
/// something.
struct PageSentence {
  std::vector<Translation> translations;
  std::vector<std::string> reference = {};           // tokens without `<eos>`; empty: none
  std::optional<Translation> scored = std::nullopt;  // the reference by forced decoding: it is shown, too
  std::optional<Alignment> gold = std::nullopt;  // of source and reference; without one, of the translation
};

/// How a page looks; `bleu` is the k of `sentence_bleu`, the longest n-grams that count.
struct PageOptions {
  std::string title = "Translations";
  std::size_t bleu = 2;
};

}  // namespace bahdanau::plot

namespace bahdanau::detail {

/// [[parent,token,ln p,score,fate,rank,place],…] of each step.
inline void append_page_history(std::string& out, const SearchHistory& history) {
  out += '[';
  for (std::size_t t = 0; t < history.steps.size(); ++t) {
    out += t == 0 ? "[" : ",[";
    for (std::size_t i = 0; i < history.steps[t].size(); ++i) {
      const Hypothesis& each = history.steps[t][i];
      append_text(out += (i == 0 ? "[" : ",[") + text(each.parent) + ",", each.token);
      append_rounded(out += ',', each.log_prob);
      append_rounded(out += ',', each.score);
      out.append(1, ',').append(text(static_cast<int>(each.fate)));
      append_rounded(out += ',', each.rank);
      out.append(1, ',').append(text(each.place)).append(1, ']');
    }
    out += ']';
  }
  out += ']';
}

/// Throws for a history whose parents are not there: a script would stumble.
inline void require_history(std::string_view where, const SearchHistory& history) {
  for (std::size_t t = 1; t < history.steps.size(); ++t)
    for (const Hypothesis& each : history.steps[t])
      if (each.parent >= history.steps[t - 1].size())
        fail(where,
             "a parent among the " + text(history.steps[t - 1].size()) + " hypotheses of step " + text(t - 1),
             text(each.parent));
}

inline void append_page_sentence(std::string& out, const std::string& where,
                                 const plot::PageSentence& sentence, std::size_t bleu) {
  if (sentence.translations.empty()) fail(where, "at least one translation", "none");
  const Translation& best = sentence.translations.front();
  const Translation& aligned = sentence.scored ? *sentence.scored : best;
  append_tokens(out += R"({"source":)", best.source);
  if (!sentence.reference.empty()) append_tokens(out += R"(,"reference":)", sentence.reference);
  if (sentence.gold) {
    out += R"(,"gold":[)";
    for (std::size_t i = 0; const Link& link : sentence.gold->links()) {
      if (link.source >= aligned.source.size() || link.target >= aligned.target.size())
        fail(where,
             "gold links of " + text(aligned.source.size()) + " source and " + text(aligned.target.size()) +
                 " target tokens",
             text(link.source) + "-" + text(link.target));
      out +=
          (i++ == 0 ? "[" : ",[") + text(link.source) + "," + text(link.target) + (link.sure ? ",1]" : ",0]");
    }
    out += ']';
  }
  if (best.history) {
    require_history(where, *best.history);
    append_page_history(out += R"(,"history":)", *best.history);
    if (best.history->width > 0) out += R"(,"width":)" + text(best.history->width);
  }
  out += R"(,"nbest":)";
  char before = '[';
  for (const Translation& translation : sentence.translations) {
    require_page_attention(where, translation);
    append_page_translation(out += before, translation);
    if (!sentence.reference.empty())
      append_rounded(out += R"(,"bleu":)",
                     sentence_bleu(std::span(translation.target).first(words_in(translation.target)),
                                   sentence.reference, bleu));
    out += '}';
    before = ',';
  }
  if (sentence.scored) {
    require_page_attention(where, *sentence.scored);
    append_page_translation(out += before, *sentence.scored);
    out += R"(,"forced":true})";
  }
  out += "]}";
}

}  // namespace bahdanau::detail

namespace bahdanau::plot {

/// The page as HTML. Throws for a sentence without translations, and for attention or links that do not fit
/// their tokens; models that do not attend have no heatmaps there.
inline std::string page_html(std::span<const PageSentence> sentences, const PageOptions& options = {}) {
  std::string json;
  detail::append_text(json += R"({"title":)", options.title);
  json += R"(,"sentences":[)";
  for (std::size_t i = 0; i < sentences.size(); ++i)
    detail::append_page_sentence(json += i == 0 ? "\n" : ",\n", "page, sentence " + detail::text(i),
                                 sentences[i], options.bleu);
  json += "\n]}";
  return detail::html_document(
      options.title, {}, json,
      {detail::page_base_script, detail::page_words_script, detail::page_matrix_script,
       detail::page_beam_script, detail::page_list_script});
}

/// Writes that page; the old file stays if this throws.
inline void page(const std::filesystem::path& path, std::span<const PageSentence> sentences,
                 const PageOptions& options = {}) {
  write_atomically(path, page_html(sentences, options));
}
inline void page(const std::filesystem::path& path, const std::vector<PageSentence>& sentences,
                 const PageOptions& options = {}) {
  page(path, std::span(sentences), options);
}
/// The same of translations alone, a sentence each.
inline void page(const std::filesystem::path& path, std::span<const Translation> translations,
                 const PageOptions& options = {}) {
  std::vector<PageSentence> sentences;
  for (const Translation& translation : translations) sentences.push_back({{translation}});
  page(path, std::span<const PageSentence>(sentences), options);
}
inline void page(const std::filesystem::path& path, const std::vector<Translation>& translations,
                 const PageOptions& options = {}) {
  page(path, std::span(translations), options);
}

}  // namespace bahdanau::plot
