// The commands of the tool: what each is told, and the function that does it.
// One file each; arguments.cpp turns arguments into these options.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <bahdanau/align/symmetrize.hpp>

#include "any_model.hpp"
#include "metrics.hpp"

namespace cli {

/// Where the subword models of a training come from.
struct Subwords {
  std::filesystem::path source, target;  // files of SentencePiece's, or none: learnt from the data
  std::size_t pieces = 4000;             // of one that is learnt
  double coverage = 1;                   // the share of a text's characters that have pieces of their own
};

/// `bahdanau train`: from sentence pairs to a model file. The defaults are d2l's, but nothing is cut.
struct TrainOptions {
  std::filesystem::path data;
  std::filesystem::path model;
  PolicyNames policies;
  bd::Config config{.dropout = 0.1F};
  FirstWeights first = nullptr;
  bd::CorpusOptions corpus;
  bool stream = false;  // pairs stay in their files
  Subwords subwords;
  OptimizerChoice optimizer;
  bd::TrainerOptions trainer;
  std::uint64_t seed = 0;
  double timeout = 0;            // seconds to wait for another process; 0: for ever
  std::string validation;        // a file of pairs, a share of the data between 0 and 1, or none
  std::string best_by = "loss";  // of the validation set, or the name of a metric
  std::filesystem::path plot;    // a folder for pictures, or none
  std::filesystem::path log;     // a file with a line for each batch and each epoch, or none
  std::size_t keep = 0;          // models of the last epochs that stay beside it
  std::filesystem::path from;    // a model to go on from, or none
  bool extend = false;           // its vocabularies, by the tokens that they lack
  std::filesystem::path source_embeddings, target_embeddings;  // text files, or none
  bool quiet = false;
};
void train(const TrainOptions& options);

/// How `translate`, `evaluate` and `plot` search for translations.
struct SearchOptions {
  std::size_t beam = 0;  // hypotheses kept; 0: as few as `nbest` allows
  std::size_t nbest = 1;
  std::size_t max_length = 0;  // of a translation, `<eos>` included; 0: by the source's length
  double length_power = bd::Beam{}.length_power;
  bool replace_unknown = false;
  std::size_t max_source = 1000;  // tokens of a sentence with its `<eos>`
  std::size_t max_memory = 4096;  // megabytes for a batch, estimated from above; 0: any
  double deadline = 0;            // seconds for a sentence; 0: any
  double coverage_penalty = 0;
  std::size_t min_length = 0;
  std::string prefix{};
  std::vector<std::string> forbidden{}, required{};  // words; a required one needs a beam
  bool operator==(const SearchOptions&) const = default;

  /// Greedy for one hypothesis, else a beam. A deadline counts from now on.
  Search search() const {
    const bool wide = nbest > 1 || !required.empty() || coverage_penalty > 0;
    const std::size_t width = beam > 0 ? beam : wide ? std::max(nbest, bd::Beam{}.width) : 1;
    bd::Limits limits{.memory = max_memory << 20U};
    if (deadline > 0)
      limits.deadline =
          std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                 std::chrono::duration<double>(deadline));
    if (width == 1 && required.empty()) {
      bd::Greedy greedy{max_length, replace_unknown, 0, limits};
      tell(greedy);
      return greedy;
    }
    bd::Beam result{width, nbest, length_power, max_length, replace_unknown, 0, limits};
    tell(result);
    result.coverage_penalty = coverage_penalty;
    result.required = required;
    return result;
  }

 private:
  /// What all searches have.
  template <class Options>
  void tell(Options& options) const {
    options.min_length = min_length;
    options.prefix = prefix;
    options.forbidden = forbidden;
  }
};

/// `bahdanau translate`: sentences from standard input, translations to standard output.
struct TranslateOptions {
  std::filesystem::path model;
  SearchOptions search;
  std::size_t batch = 64;
  bool json = false;
  bool keep_going = false;  // beyond a line that has no answer
};
void translate(const TranslateOptions& options);

/// `bahdanau serve`: translations by HTTP, and a page to look at them.
struct ServeOptions {
  std::filesystem::path model;
  std::string host = "127.0.0.1";
  std::size_t port = 8080;         // 0: one that is free, which is said
  std::size_t batch = 64;          // sentences that are decoded together
  std::size_t queue = 1024;        // sentences that wait; more are refused
  std::size_t connections = 128;   // clients at once; more wait
  std::size_t max_body = 1 << 20;  // bytes of a request
  std::size_t max_sentences = 64;  // of a request
  std::size_t max_source = 250;    // tokens of a sentence with its `<eos>`
  std::size_t max_target = 500;    // tokens of a translation with its `<eos>`
  std::size_t max_beam = 16;
  std::size_t max_memory = 1024;  // megabytes for a batch, estimated from above; 0: any
  double deadline = 10;           // seconds for a request
};
void serve(const ServeOptions& options);

/// `bahdanau score`: how probable given translations are, and what was attended to.
struct ScoreOptions {
  std::filesystem::path model;
  std::filesystem::path data;     // `source TAB target` lines; `-` is standard input
  std::size_t max_source = 1000;  // tokens of a sentence with its `<eos>`, on either side
  bool json = false;
  std::size_t batch = 32;
  bool keep_going = false;  // beyond a line that has no answer
};
void score(const ScoreOptions& options);

/// How attention becomes alignments, in `align` and `evaluate`.
struct AlignmentOptions {
  std::filesystem::path reverse_model;  // of the other direction, or none
  bd::Symmetrization symmetrization = bd::Symmetrization::grow_diag_final_and;
  double threshold = 0;  // of the weights that are links; 0: the greatest of each target word
};

/// `bahdanau align`: which words of sentence pairs translate one another.
struct AlignOptions {
  std::filesystem::path model;
  std::filesystem::path data;  // `source TAB target` lines; `-` is standard input
  AlignmentOptions alignment;
  std::size_t max_source = 1000;  // tokens of a sentence with its `<eos>`, on either side
  std::size_t batch = 32;
};
void align(const AlignOptions& options);

/// `bahdanau evaluate`: how good a model's translations are.
struct EvaluateOptions {
  std::filesystem::path model;
  std::filesystem::path data;  // `source TAB target` lines; `-` is standard input
  SearchOptions search;
  std::size_t batch = 64;
  std::size_t max_pairs = 0;  // 0: all
  bool skip_bad_lines = false;
  MetricOptions metrics;
  std::filesystem::path gold;  // alignments of the lines, or none
  AlignmentOptions alignment;
  bool json = false;
};
void evaluate(const EvaluateOptions& options);

/// `bahdanau compare`: how good translations in files are, whoever has made them.
struct CompareOptions {
  std::filesystem::path reference;           // lines
  std::vector<std::filesystem::path> files;  // one or two, of as many lines
  std::vector<std::string> metrics{"bleu"};
};
void compare(const CompareOptions& options);

/// `bahdanau average`: the mean of models.
struct AverageOptions {
  std::filesystem::path models;  // files with commas between them
  std::filesystem::path out;
};
void average(const AverageOptions& options);

/// `bahdanau plot`: what a model attends to, as a picture, or the model itself.
struct PlotOptions {
  std::filesystem::path model;
  std::string source;
  std::string target;         // given, or empty: the model's own translation
  std::filesystem::path out;  // an SVG file, or none
  std::string title;
  bool terminal = false;
  bool diagram = false;  // of the model
  SearchOptions search;
};
void plot(const PlotOptions& options);

/// `bahdanau explain`: translations as a page for a browser.
struct ExplainOptions {
  std::filesystem::path model;
  std::filesystem::path data;  // lines of a source, or `source TAB target`; `-` is standard input
  std::filesystem::path out;   // an HTML file
  std::filesystem::path gold;  // alignments of the lines, or none
  std::string title;           // empty: the model's name
  std::size_t runners_up = 5;
  std::size_t max_pairs = 1000;
  std::size_t batch = 64;
  SearchOptions search{.beam = 5, .nbest = 3};
};
void explain(const ExplainOptions& options);

}  // namespace cli
