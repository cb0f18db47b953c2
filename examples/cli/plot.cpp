// bahdanau plot: what a model attends to, word by word, as an SVG file or in the terminal; or a diagram of
// it.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include <bahdanau/core/terminal.hpp>
#include <bahdanau/plot/diagram.hpp>
#include <bahdanau/plot/heatmap.hpp>
#include <bahdanau/plot/terminal.hpp>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace cli {
namespace {

void check_sentence(const std::string& option, const std::string& sentence) {
  bd::detail::require_utf8(option, sentence);
  if (bd::detail::is_blank(sentence)) bd::fail(option, "a sentence", "an empty one");
}

bd::Translation translation(const PlotOptions& options) {
  check_sentence("--source", options.source);
  if (!options.target.empty()) check_sentence("--target", options.target);
  const auto model = load_any_model(options.model);
  if (options.target.empty()) check_words(*model, options.search.search());
  check_length(*model, options.source, "--source");
  bd::Translation result;
  if (options.target.empty()) {
    SearchOptions search = options.search;
    search.max_memory = 0;  // it is one sentence of the user's own
    result = model->translate(std::vector{options.source}, search.search()).front().front();
  } else {
    result = model->score(std::vector{bd::SentencePair{options.source, options.target}}, 1).front();
  }
  check_finite(result, "--source", options.model.string());
  return result;
}

}  // namespace

void plot(const PlotOptions& options) {
  check_apart("--out", options.out, "--model", options.model);
  if (options.diagram) {
    bd::plot::diagram(options.out, bd::plot::ModelParts::read(options.model), {.title = options.title});
    std::cerr << "wrote " << options.out.string() << '\n';
    return;
  }
  const bd::Translation result = translation(options);
  if (options.terminal) {
    const bool colour = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    write(bd::plot::heatmap_text(result, colour, bd::detail::terminal_columns(STDOUT_FILENO)));
  }
  if (!options.out.empty()) {
    bd::plot::heatmap(options.out, result, {.title = options.title});
    std::cerr << "wrote " << options.out.string() << '\n';
  }
}

}  // namespace cli
