// bahdanau translate: a line in, a translation out, in order, a batch at a time.
// What comes before a bad line, or before one that the model has no answer to, is answered before the error.
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "json.hpp"
#include "output.hpp"

namespace cli {
namespace {

/// Some lines: the sentences among them, which of the lines those are, and what was wrong with the line after
/// them, if anything.
struct Lines {
  std::size_t count = 0;
  std::vector<std::string> sentences;
  std::vector<std::size_t> numbers;
  std::vector<std::string> places;
  std::exception_ptr error;
};

/// The next lines, at most `count`.
Lines read(SentenceReader& reader, const AnyModel& model, std::size_t count) {
  Lines lines;
  try {
    Room room(count);
    for (std::string sentence; room.left() && reader.next(sentence); ++lines.count) {
      room.take(sentence);
      if (bd::detail::is_blank(sentence)) continue;
      check_length(model, sentence, reader.where());
      lines.sentences.push_back(sentence);
      lines.numbers.push_back(lines.count);
      lines.places.push_back(reader.where());
    }
  } catch (const bd::Error&) {
    lines.error = std::current_exception();
  }
  return lines;
}

/// The answer to a line: none, one or several translations of its sentence.
void append_answer(std::string& out, const std::vector<bd::Translation>& found,
                   const TranslateOptions& options) {
  static const std::vector<bd::Translation> nothing(1);
  const bool ranked = options.search.nbest > 1;
  if (found.empty() && !options.json) out += '\n';
  std::size_t rank = 0;
  for (const bd::Translation& translation : found.empty() && options.json ? nothing : found) {
    ++rank;
    if (options.json) {
      json::append(out, translation, ranked ? rank : 0);
    } else {
      if (ranked) out += std::to_string(rank) + '\t' + fixed(translation.score, 4) + '\t';
      out += translation.text;
    }
    out += '\n';
  }
}

}  // namespace

void translate(const TranslateOptions& options) {
  const auto model = load_any_model(options.model);
  const Search search = options.search.search();
  SentenceReader reader(std::cin, "<stdin>");
  // Someone who types waits for the answer.
  const std::size_t batch = ::isatty(STDIN_FILENO) == 1 ? 1 : options.batch;
  for (bool more = true; more;) {
    const Lines lines = read(reader, *model, batch);
    std::vector<std::vector<bd::Translation>> found;
    try {
      found = model->translate(lines.sentences, search);
    } catch (const std::bad_alloc&) {
      bd::fail(lines.places.front(), "lines that fit into memory", "longer ones, or too many",
               "a smaller --batch, --beam or --max-length needs less");
    }
    std::string out;
    for (std::size_t i = 0, next = 0; i < lines.count; ++i) {
      const bool blank = next == found.size() || lines.numbers[next] != i;
      try {
        if (!blank)
          for (const bd::Translation& translation : found[next])
            check_finite(translation, lines.places[next], options.model.string());
      } catch (const bd::Error&) {
        write(out);
        throw;
      }
      append_answer(out, blank ? std::vector<bd::Translation>{} : found[next++], options);
    }
    write(out);
    if (lines.error) std::rethrow_exception(lines.error);
    more = lines.count > 0;
  }
}

}  // namespace cli
