// bahdanau explain: translations of sentences as a page for a browser, with all that the search has seen.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/plot/page.hpp>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace cli {
namespace {

/// A line of the data: a source, and a reference if there is a tab.
struct ExplainLine {
  std::string place;
  bd::SentencePair pair;
  std::size_t number = 0;
};

std::vector<ExplainLine> read(const ExplainOptions& options, const AnyModel& model) {
  std::ifstream file;
  if (options.data != "-") {
    file.open(options.data);
    if (!file || std::filesystem::is_directory(options.data))
      bd::fail(options.data.string(), "a file of sentences", "none that can be read");
  }
  const std::string name = options.data == "-" ? "<stdin>" : options.data.string();
  SentenceReader reader(options.data == "-" ? std::cin : file, name);
  std::vector<ExplainLine> lines;
  for (std::string text; lines.size() < options.max_pairs && reader.next(text);) {
    if (bd::detail::is_blank(text)) continue;
    const std::size_t tab = std::min(text.find('\t'), text.size());
    ExplainLine line{reader.where(), {text.substr(0, tab), {}}, reader.line()};
    if (tab < text.size()) {  // what follows a second tab is ignored
      const std::size_t end = std::min(text.find('\t', tab + 1), text.size());
      line.pair.target = text.substr(tab + 1, end - tab - 1);
    }
    if (bd::detail::is_blank(line.pair.source)) bd::fail(line.place, "a source", "an empty one");
    if (bd::detail::is_blank(line.pair.target)) line.pair.target.clear();
    check_lengths(model, line.pair, line.place, options.search.max_source);
    lines.push_back(std::move(line));
  }
  if (lines.empty()) bd::fail(name, "at least one sentence", "none");
  return lines;
}

/// The search with all that it can tell.
Search told(const ExplainOptions& options) {
  Search search = options.search.search();
  std::visit(
      [&](auto& each) {
        each.heads = true;
        each.runners_up = options.runners_up;
        if constexpr (requires { each.history; }) each.history = true;
      },
      search);
  return search;
}

}  // namespace

void explain(const ExplainOptions& options) {
  check_apart("--out", options.out, "--model", options.model);
  check_apart("--out", options.out, "--data", options.data);
  if (!options.gold.empty()) check_apart("--out", options.out, "--gold", options.gold);
  const auto model = load_models(options.model);
  check_words(*model, options.search.search());
  const std::vector<ExplainLine> lines = read(options, *model);
  const std::vector<bd::Alignment> gold =
      options.gold.empty() ? std::vector<bd::Alignment>() : bd::read_pharaoh(options.gold);
  std::vector<bd::plot::PageSentence> sentences;
  for (std::size_t begin = 0; begin < lines.size();) {
    std::vector<std::string> sources;
    std::vector<bd::SentencePair> pairs;
    BatchBudget budget(options.batch);
    for (std::size_t i = begin; i < lines.size() && budget.left(); ++i) {
      budget.take(lines[i].pair.source);
      sources.push_back(lines[i].pair.source);
      if (!lines[i].pair.target.empty()) pairs.push_back(lines[i].pair);
    }
    std::vector<std::vector<bd::Translation>> found;
    try {
      found = model->translate(sources, told(options));
    } catch (const bd::LimitError& e) {
      throw bd::Error(at_place(lines[begin + e.sentence()].place, e.what()));
    }
    std::vector<bd::Translation> scored = model->score(pairs, options.batch);
    for (std::size_t i = 0, given = 0; i < found.size(); ++i) {
      const ExplainLine& line = lines[begin + i];
      for (const bd::Translation& translation : found[i])
        check_finite(translation, line.place, options.model.string());
      bd::plot::PageSentence sentence{std::move(found[i])};
      if (!line.pair.target.empty()) {
        sentence.reference = model->vocabularies().target_tokens(line.pair.target);
        sentence.scored = std::move(scored[given++]);
      }
      if (!options.gold.empty()) {
        if (line.number > gold.size())
          bd::fail(options.gold.string(),
                   "a line for each line of --data, at least " + bd::detail::text(line.number),
                   bd::detail::text(gold.size()));
        sentence.gold = gold[line.number - 1];
      }
      sentences.push_back(std::move(sentence));
    }
    begin += sources.size();
  }
  bd::plot::page(options.out, sentences,
                 {.title = options.title.empty() ? options.model.filename().string() : options.title});
  std::cerr << "wrote " << options.out.string() << '\n';
}

}  // namespace cli
