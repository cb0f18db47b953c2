// bahdanau translate: a line in, a translation out, in order, a batch at a time.
// What comes before a line that has no answer is answered before the error; with --keep-going, what comes
// after it too.
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

/// A line, and what became of it: a blank one has no sentence; `problem` says why there is no answer.
struct TranslateLine {
  std::string place, sentence, problem;
  std::vector<bd::Translation> found;
};

/// The next lines, at most `count`.
std::vector<TranslateLine> read(SentenceReader& reader, const AnyModel& model,
                                const TranslateOptions& options, std::size_t count) {
  return read_lines<TranslateLine>(reader, count, options.keep_going,
                                   [&](TranslateLine& line, BatchBudget& budget) {
                                     std::string sentence;
                                     if (!reader.next(sentence)) return false;
                                     line.place = reader.where();
                                     const bool blank = bd::detail::is_blank(sentence);
                                     if (!blank)
                                       check_length(model, sentence, line.place, options.search.max_source);
                                     budget.take(sentence);
                                     if (!blank) line.sentence = std::move(sentence);
                                     return true;
                                   });
}

/// Translates one line, or says why it cannot be.
void translate_alone(const AnyModel& model, TranslateLine& line, const TranslateOptions& options) {
  try {
    line.found = model.translate(std::vector{line.sentence}, options.search.search()).front();
  } catch (const bd::Error& e) {
    line.problem = at_place(line.place, e.what());
  } catch (const std::bad_alloc&) {
    line.problem =
        line.place +
        ": expected a line that fits into memory, got a longer one; a smaller --beam or --max-length "
        "needs less";
  }
}

/// Translates lines in one batch, or, where that goes wrong, one by one.
void translate_all(const AnyModel& model, std::vector<TranslateLine>& lines,
                   const TranslateOptions& options) {
  std::vector<std::string> sentences;
  std::vector<TranslateLine*> asked;
  for (TranslateLine& line : lines) {
    if (line.sentence.empty()) continue;
    sentences.push_back(line.sentence);
    asked.push_back(&line);
  }
  bool together = asked.size() > 1;  // a line by itself has one deadline, not two
  if (together) try {
      auto found = model.translate(sentences, options.search.search());
      for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->found = std::move(found[i]);
    } catch (const bd::Error&) {
      together = false;
    } catch (const std::bad_alloc&) {
      together = false;
    }
  if (!together)
    for (TranslateLine* line : asked) {
      translate_alone(model, *line, options);
      if (!line->problem.empty() && !options.keep_going) break;
    }
  for (TranslateLine* line : asked)
    for (const bd::Translation& translation : line->found) {
      try {
        check_finite(translation, line->place, options.model.string());
      } catch (const bd::Error& e) {
        line->problem = e.what();
      }
    }
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
      if (ranked) out += bd::detail::text(rank) + '\t' + fixed(translation.score, 4) + '\t';
      out += translation.text;
    }
    out += '\n';
  }
}

}  // namespace

void translate(const TranslateOptions& options) {
  const auto model = load_models(options.model);
  check_words(*model, options.search.search());
  if (options.search.replace_unknown && !model->policies().attends() &&
      files_in(options.model).size() == 1)  // of several, others may attend
    bd::fail("--replace-unknown", "a model that attends",
             "one with the score " + bd::detail::quote(model->policies().score));
  SentenceReader reader(std::cin, "<stdin>");
  Unanswered unanswered;
  // Someone who types waits for the answer; and a deadline is one line's.
  const bool one_by_one = ::isatty(STDIN_FILENO) == 1 || options.search.deadline > 0;
  const std::size_t batch = one_by_one ? 1 : options.batch;
  for (bool more = true; more;) {
    std::vector<TranslateLine> lines = read(reader, *model, options, batch);
    translate_all(*model, lines, options);
    std::string out;
    for (const TranslateLine& line : lines) {
      if (line.problem.empty()) {
        append_answer(out, line.found, options);
        continue;
      }
      if (!options.keep_going) {
        write(out);
        throw bd::Error(line.problem);
      }
      unanswered.add(line.problem);
      json::append_problem(out, line.problem, options.json);
    }
    write(out);
    more = !lines.empty();
  }
  unanswered.check("<stdin>", reader.line());
}

}  // namespace cli
