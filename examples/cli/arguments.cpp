// The arguments of every command: their names, what they may be, and what is said of them.
// What is wrong with them is a CLI::ParseError here, before anything is read.
#include "arguments.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <bahdanau/core/quote.hpp>

#include "commands.hpp"
#include "metrics.hpp"
#include "registry.hpp"

namespace cli {
namespace {

/// A command of that name with options of its own, which live as long as the command.
template <class Options>
std::pair<CLI::App*, Options&> add(CLI::App& app, const std::string& name, const std::string& purpose,
                                   void (*run)(const Options&), const std::string& footer) {
  CLI::App* command = app.add_subcommand(name, purpose);
  command->footer(footer);
  command->option_defaults()->take_last();  // so that a script's options can be overridden
  const auto options = std::make_shared<Options>();
  command->final_callback([options, run] { run(*options); });
  return {command, *options};
}

/// A check whose bounds stand in messages, but not in the help, where nobody would meet them.
template <class Fits>
CLI::Validator expect(std::string what, Fits fits) {
  return CLI::Validator(
      [what = std::move(what), fits](const std::string& text) {
        return fits(text) ? std::string() : "expected " + what + ", got " + bd::detail::quote(text);
      },
      "");
}

/// The number that the whole text is, if it is one.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

CLI::Validator whole(std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return expect("a whole number from " + bd::detail::text(least) + " to " + bd::detail::text(most),
                [=](const std::string& text) {
                  const auto value = number_in<std::uint64_t>(text);
                  return value && *value >= least && *value <= most;
                });
}
/// A number for which `fits` is true; never so for NaN, nor for what is infinite.
template <class Fits>
CLI::Validator real(const std::string& what, Fits fits) {
  return expect(what, [fits](const std::string& text) {
    const auto value = number_in<double>(text);
    return value && std::isfinite(*value) && fits(*value);
  });
}

const CLI::Validator above_zero = whole(1, 1 << 24);
const CLI::Validator any_count = whole(0, 1 << 30);
const CLI::Validator any_length = whole(1, bd::TextOptions::longest);
const CLI::Validator any_share =
    real("a number from 0 to 0.999", [](double x) { return x >= 0 && x <= 0.999; });

template <class Number>
CLI::Option* number(CLI::App* command, const std::string& name, Number& value, const std::string& purpose,
                    const CLI::Validator& range) {
  return command->add_option(name, value, purpose)->check(range)->capture_default_str();
}

void add_model(CLI::App* command, std::filesystem::path& model) {
  command->add_option("--model", model, "Model file (.safetensors)")->required();
}
void add_models(CLI::App* command, std::filesystem::path& models) {
  command
      ->add_option("--model", models,
                   "Model file (.safetensors), or several with commas between them, which translate "
                   "together: the mean of their log-probabilities decides")
      ->required();
}
void add_data(CLI::App* command, std::filesystem::path& data) {
  command->add_option("--data", data, "Lines of source TAB target; - is standard input")->required();
}
void add_batch(CLI::App* command, std::size_t& batch, const std::string& purpose) {
  number(command, "--batch", batch, purpose, whole(1, 65536));
}
void add_longest(CLI::App* command, std::size_t& longest) {
  number(command, "--max-source", longest, "Longest sentence in tokens with its <eos>, on either side",
         any_length);
}
CLI::Option* add_metrics(CLI::App* command, std::vector<std::string>& metrics, const std::string& purpose,
                         const std::vector<std::string>& known) {
  return command->add_option("--metric", metrics, purpose)
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known));
}

void add_search(CLI::App* command, SearchOptions& search) {
  command->add_option("--beam", search.beam, "Hypotheses kept in beam search; 1 is greedy [1]")
      ->check(whole(1, 1024));
  number(command, "--length-power", search.length_power,
         "A beam's hypotheses are ranked by score / length^power",
         real("a number from 0 to 10", [](double x) { return x >= 0 && x <= 10; }));
  command
      ->add_option(
          "--max-length", search.max_length,
          "Longest translation in tokens with its <eos> [twice the source's tokens plus 10, at least "
          "--max-length of the training, if it had one, and at most 1000]")
      ->check(any_length);
  command
      ->add_option("--min-length", search.min_length,
                   "Shortest translation in tokens with its <eos>, which is not chosen before")
      ->check(any_length);
  number(command, "--coverage-penalty", search.coverage_penalty,
         "GNMT's, for what was not attended to; sets a beam",
         real("a number from 0 to 100", [](double x) { return x >= 0 && x <= 100; }));
  command->add_option("--prefix", search.prefix, "Words that every translation begins with");
  // A word at a time, as words may be phrases.
  const auto words = [&](const std::string& name, std::vector<std::string>& list,
                         const std::string& purpose) {
    command->add_option(name, list, purpose)->take_all()->allow_extra_args(false);
  };
  words("--forbid", search.forbidden, "A word or phrase that no translation has; may be given again");
  words("--require", search.required,
        "A word or phrase that every translation has; may be given again; sets a beam");
}

void add_limits(CLI::App* command, SearchOptions& search) {
  number(command, "--max-source", search.max_source, "Longest source in tokens with its <eos>", any_length);
  number(command, "--max-memory", search.max_memory,
         "Megabytes that a batch may need, estimated from above; 0 is any", whole(0, 1 << 24));
}

void add_alignment(CLI::App* command, AlignmentOptions& alignment) {
  CLI::Option* reverse = command->add_option(
      "--reverse-model", alignment.reverse_model,
      "A model from the target's language to the source's; the links of both become one alignment");
  command
      ->add_option_function<std::string>(
          "--symmetrize",
          [&alignment](const std::string& how) {
            alignment.symmetrization = bd::symmetrization_from_name(how);
          },
          "How: intersection, union, grow-diag, grow-diag-final or grow-diag-final-and "
          "[grow-diag-final-and]")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(bd::detail::symmetrization_names),
                                                     std::end(bd::detail::symmetrization_names))))
      ->needs(reverse);
  command
      ->add_option("--threshold", alignment.threshold,
                   "Link words with at least this weight [the greatest of each target word]")
      ->check(real("a number above 0 and up to 1", [](double x) { return x > 0 && x <= 1; }));
}

/// The options that choose policies, and what they choose.
struct PolicyOption {
  const char* name;
  std::string PolicyNames::*family;
  const char* purpose;
};
constexpr PolicyOption policy_options[] = {
    {"--cell", &PolicyNames::cell, "Recurrent cell"},
    {"--score", &PolicyNames::score, "How a query meets the keys"},
    {"--encoder", &PolicyNames::encoder, "How the source is read"},
    {"--decoder", &PolicyNames::decoder, "What happens in a step"},
    {"--readout", &PolicyNames::readout, "What the output layer reads"}};

/// Takes what an architecture says, and what its paper does if wanted, but for what was given.
void take_architecture(const std::string& architecture, bool as_in_paper, const CLI::App& command,
                       TrainOptions& o) {
  const Combination& chosen = architecture_of("--architecture", architecture);
  const PaperChoices paper = chosen.paper(bd::TextOptions{.max_length = o.corpus.max_length}.loss_divisor());
  for (const PolicyOption& option : policy_options)
    if (command.count(option.name) == 0) o.policies.*option.family = chosen.policies.*option.family;
  // What belongs to a part that was replaced goes with it.
  if (command.count("--bridge") == 0 && o.policies.encoder == chosen.policies.encoder)
    o.config.bridge = paper.config.bridge;
  if (command.count("--tied") == 0 && o.policies.readout == chosen.policies.readout)
    o.config.tied = paper.config.tied;
  if (command.count("--reverse-source") == 0) o.corpus.reverse_source = paper.reverse_source;
  if (!as_in_paper) return;
  o.first = paper.first;
  const auto take = [&](const char* name, auto& value, const auto& of_paper) {
    if (command.count(name) == 0) value = of_paper;
  };
  take("--embed", o.config.embed, paper.config.embed);
  take("--hidden", o.config.hidden, paper.config.hidden);
  take("--layers", o.config.layers, paper.config.layers);
  take("--dropout", o.config.dropout, paper.config.dropout);
  if (command.count("--optimizer") == 0 && command.count("--rate") == 0) o.optimizer = paper.optimizer;
  take("--epochs", o.trainer.epochs, paper.training.epochs);
  take("--batch", o.trainer.batch, paper.training.batch);
  take("--clip", o.trainer.clip, paper.training.clip);
  take("--decay-after", o.trainer.schedule.after, paper.training.schedule.after);
  take("--decay", o.trainer.schedule.decay, paper.training.schedule.decay);
  o.trainer.grouping = paper.training.grouping;
}

/// Throws for a bridge that the encoder does not have. An encoder of one's own checks it itself.
void check_bridge(bd::Bridge bridge, const std::string& encoder) {
  const std::string got = "got " + bd::detail::quote(bd::name(bridge));
  if (encoder == "unidirectional")
    throw CLI::ValidationError("--bridge: expected an encoder that has one, " + got +
                               " with \"unidirectional\", whose states the decoder takes as they are; choose "
                               "--encoder bidirectional");
  if (encoder.starts_with("convolutional") && bridge != bd::Bridge::mean)
    throw CLI::ValidationError("--bridge: expected \"mean\" with " + bd::detail::quote(encoder) +
                               ", which has no last states, " + got + "; choose --encoder bidirectional");
}

/// Throws for tied embeddings that are not as wide as what the output layer reads.
void check_tied(const TrainOptions& o, const Combination& chosen) {
  const std::size_t embed = o.config.embed, width = chosen.readout_width(o.config);
  if (width == embed) return;
  bd::Config wider = o.config;
  wider.embed = width;
  const std::string size = bd::detail::text(width);
  throw CLI::ValidationError("--tied: expected a readout as wide as the embeddings, " +
                             bd::detail::text(embed) + ", got " + size + " from " +
                             bd::detail::quote(o.policies.readout) + "; choose --readout tanh" +
                             (chosen.readout_width(wider) == width ? ", or --embed " + size : ""));
}

/// Throws for options that the model of --from has decided already.
void check_from(const CLI::App& command) {
  if (command.count("--from") == 0) return;
  for (const char* name : {"--architecture",
                           "--cell",
                           "--score",
                           "--encoder",
                           "--decoder",
                           "--readout",
                           "--paper",
                           "--embed",
                           "--hidden",
                           "--layers",
                           "--bridge",
                           "--tied",
                           "--residual",
                           "--final-state",
                           "--max-length",
                           "--tokens",
                           "--source-tokens",
                           "--target-tokens",
                           "--case",
                           "--source-case",
                           "--target-case",
                           "--source-language",
                           "--target-language",
                           "--subwords",
                           "--character-coverage",
                           "--source-subwords",
                           "--target-subwords",
                           "--reverse-source"})
    if (command.count(name) > 0)
      throw CLI::ValidationError(std::string(name) +
                                 ": expected none beside --from, whose model has its own, got one");
  if (command.count("--min-frequency") > 0 && command.count("--extend-vocabulary") == 0)
    throw CLI::ValidationError(
        "--min-frequency: expected --extend-vocabulary beside it and --from, whose model has its own "
        "vocabularies, got none");
}

/// How the text of both sides is read; for one side alone, what is not empty.
struct TextChoices {
  struct Side {
    std::string tokens, letter_case, language = "none";
  };
  std::string tokens = "words", letter_case = "lower";
  Side source, target;

  /// The settings of a side; throws for those that do not go together.
  bd::TextSide side(const std::string& which, const Side& own, const std::filesystem::path& subwords) const {
    const std::string& chosen = own.letter_case.empty() ? letter_case : own.letter_case;
    bd::TextSide side{.tokens = bd::tokens_from_name(own.tokens.empty() ? tokens : own.tokens),
                      .lowercase = chosen == "lower",
                      .truecase = chosen == "true",
                      .language = bd::language_from_name(own.language)};
    const std::string kind(name(side.tokens));
    const bool words = side.tokens == bd::Tokens::words || side.tokens == bd::Tokens::words_and_marks;
    if (side.truecase && !words)
      throw CLI::ValidationError("--case true: expected words or words_and_marks as " + which +
                                 " tokens, got " + kind);
    if (side.language != bd::Language::none && !words)
      throw CLI::ValidationError("--" + which + "-language: expected words or words_and_marks as " + which +
                                 " tokens, got " + kind + ", which give text back as it was");
    if (!subwords.empty() && side.tokens != bd::Tokens::subwords)
      throw CLI::ValidationError("--" + which + "-subwords: expected subwords as " + which + " tokens, got " +
                                 kind);
    return side;
  }
};

/// Throws for settings of subword models that are learnt, where none is.
void check_learnt_subwords(const CLI::App& command, const TrainOptions& o) {
  const auto learnt = [](const std::optional<bd::TextSide>& side, const std::filesystem::path& file) {
    return side->tokens == bd::Tokens::subwords && file.empty();
  };
  if (learnt(o.corpus.source, o.subwords.source) || learnt(o.corpus.target, o.subwords.target)) return;
  for (const char* name : {"--subwords", "--character-coverage"})
    if (command.count(name) > 0)
      throw CLI::ValidationError(
          std::string(name) +
          ": expected a side whose subwords are learnt from the data, got none; choose "
          "--tokens subwords, and no file for that side");
}

void add_text(CLI::App* c, TextChoices& text, Subwords& subwords, bd::SubwordSampling& sampling) {
  const auto choice = [&](const std::string& name, std::string& value, const std::string& purpose,
                          std::vector<std::string> choices) {
    return c->add_option(name, value, purpose)->check(CLI::IsMember(std::move(choices)))->group("Text");
  };
  const std::vector<std::string> kinds(std::begin(bd::detail::tokens_names),
                                       std::end(bd::detail::tokens_names));
  const std::vector<std::string> languages(std::begin(bd::detail::language_names),
                                           std::end(bd::detail::language_names));
  const std::vector<std::string> cases{"lower", "keep", "true"};
  choice(
      "--tokens", text.tokens,
      "words: as d2l splits them; words_and_marks: words and all punctuation marks; characters: for scripts "
      "without spaces; subwords: pieces of words, by SentencePiece; none: split on spaces and left alone",
      kinds)
      ->capture_default_str();
  choice("--source-tokens", text.source.tokens, "The same for the source alone [--tokens]", kinds);
  choice("--target-tokens", text.target.tokens, "The same for the target alone [--tokens]", kinds);
  choice(
      "--case", text.letter_case,
      "lower: all in lower case; keep: as it is written; true: the first word of a sentence as it is inside "
      "of sentences, and a capital at the start of translations, for words",
      cases)
      ->capture_default_str();
  choice("--source-case", text.source.letter_case, "The same for the source alone [--case]", cases);
  choice("--target-case", text.target.letter_case, "The same for the target alone [--case]", cases);
  choice("--source-language", text.source.language,
         "Whose punctuation words are put together with, where sources are shown", languages)
      ->capture_default_str();
  choice("--target-language", text.target.language,
         "Whose punctuation words are put together with in translations; none: spaces between all", languages)
      ->capture_default_str();
  number(c, "--subwords", subwords.pieces, "Pieces of a subword model that is learnt from the data",
         whole(8, 1 << 20))
      ->group("Text");
  number(c, "--character-coverage", subwords.coverage,
         "Share of the text's characters that have pieces of their own, 0.98 to 1; the others become bytes",
         real("a number from 0.98 to 1", [](double x) { return x >= 0.98 && x <= 1; }))
      ->group("Text");
  number(c, "--subword-sampling", sampling.best,
         "Split text anew in each epoch, in one of the N best ways; 1 is the best one alone", whole(1, 512))
      ->group("Text");
  number(c, "--subword-alpha", sampling.alpha, "Ways are drawn in proportion to p^alpha",
         real("a number of at least 0", [](double x) { return x >= 0; }))
      ->needs("--subword-sampling")
      ->group("Text");
  c->add_option("--source-subwords", subwords.source, "SentencePiece model for the source [learnt]")
      ->group("Text");
  c->add_option("--target-subwords", subwords.target, "SentencePiece model for the target [learnt]")
      ->group("Text");
}

void add_train(CLI::App& app) {
  auto [command, options] =
      add(app, "train", "Train a model on sentence pairs", &train,
          "A checkpoint, MODEL.checkpoint, is kept while training and removed at the end.\n"
          "The same data, seed and settings give the same model to the bit, with any number\n"
          "of threads, and of interruptions followed by --resume: the first Ctrl-C or SIGTERM\n"
          "finishes the batch, writes the checkpoint and says how to go on; the second ends at once.\n"
          "Messages and progress go to standard error.");
  CLI::App* c = command;
  TrainOptions& o = options;
  c->add_option("--data", o.data,
                "Training data: lines of source TAB target; what follows a second tab is ignored")
      ->required();
  c->add_option("--model", o.model, "Model file to write (.safetensors)")->required();

  const auto choice = [c](const std::string& name, std::string& value, const std::string& purpose,
                          std::vector<std::string> choices) {
    return c->add_option(name, value, purpose)
        ->check(CLI::IsMember(std::move(choices)))
        ->capture_default_str();
  };
  const auto architecture = std::make_shared<std::string>("d2l");
  choice("--architecture", *architecture,
         "Whose model; the next five options put others in the place of its parts, where that is compiled in",
         architectures())
      ->group("Model");
  for (const auto& [name, family, purpose] : policy_options)
    c->add_option(name, o.policies.*family, std::string(purpose) + " [the architecture's]")
        ->check(CLI::IsMember(names_of(family)))
        ->group("Model");
  const auto as_in_paper = std::make_shared<bool>(false);
  c->add_flag("--paper", *as_in_paper,
              "Sizes, first weights, optimizer, batches and epochs as the architecture's paper has them, "
              "where they are not given here")
      ->group("Model");
  number(c, "--embed", o.config.embed, "Width of the embeddings", above_zero)->group("Model");
  number(c, "--hidden", o.config.hidden, "Width of the hidden states", above_zero)->group("Model");
  number(c, "--layers", o.config.layers, "Cells on top of one another", whole(1, 1024))->group("Model");
  number(c, "--dropout", o.config.dropout, "Between layers and on attention weights, 0 up to 1", any_share)
      ->group("Model");
  number(c, "--embedding-dropout", o.config.embedding_dropout,
         "On the embedded tokens of both languages, 0 up to 1", any_share)
      ->group("Model");
  const auto variational = std::make_shared<bool>(false);
  c->add_flag("--variational", *variational,
              "One dropout mask a sentence for all its positions, between layers and on embeddings")
      ->group("Model");
  c->add_flag("--residual", o.config.residual,
              "From the second layer on a layer's input is added to its output")
      ->group("Model");
  const auto bridge = std::make_shared<std::string>();
  c->add_option(
       "--bridge", *bridge,
       "What the decoder starts from behind a bidirectional encoder: the last states of both directions or "
       "of the backward one, or the mean of its outputs [the architecture's]")
      ->check(CLI::IsMember(std::vector<std::string>{"both", "backward", "mean"}))
      ->group("Model");
  c->add_flag("--tied,!--no-tied", o.config.tied,
              "The output layer's weight is the target embedding, as --architecture nematus has it by itself")
      ->group("Model");
  const auto final_state = std::make_shared<std::string>("valid");
  choice("--final-state", *final_state,
         "Where the encoder stops: valid, at a sentence's end; padded, as d2l's "
         "code, after <pad> up to --max-length",
         {"valid", "padded"})
      ->group("Model");

  c->add_option("--max-pairs", o.corpus.max_pairs, "Use the first N pairs [all]")
      ->check(whole(1))
      ->group("Text");
  c->add_flag("--stream", o.stream,
              "Leave the pairs in their file and read those of a batch when it comes: for more than memory "
              "holds")
      ->group("Text");
  c->add_option("--max-length", o.corpus.max_length,
                "Longest row in tokens with its <eos>; longer ones are cut [nothing is cut]")
      ->check(any_length)
      ->group("Text");
  number(c, "--min-frequency", o.corpus.min_frequency, "Tokens seen less often become <unk>", any_count)
      ->group("Text");
  const auto text = std::make_shared<TextChoices>();
  add_text(c, *text, o.subwords, o.corpus.sampling);
  c->get_option("--subword-sampling")->excludes("--stream");
  c->add_flag("--reverse-source,!--no-reverse-source", o.corpus.reverse_source,
              "Read sources from their ends, <eos> first, as --architecture sutskever does by itself")
      ->group("Text");
  const auto skip = std::make_shared<bool>(false);
  c->add_flag("--skip-bad-lines", *skip, "Leave out, and count, lines that are no pairs")->group("Text");

  number(c, "--epochs", o.trainer.epochs, "Passes over the data", any_count)->group("Training");
  add_batch(c, o.trainer.batch, "Sentence pairs in a batch");
  c->get_option("--batch")->group("Training");
  const auto rate = std::make_shared<double>(0);
  c->add_option("--rate", *rate, "Learning rate [0.005; sgd 0.1, adadelta 1]")
      ->check(real("a number above 0", [](double x) { return x > 0; }))
      ->group("Training");
  choice("--optimizer", o.optimizer.name, "How gradients move weights", {"adam", "adamw", "sgd", "adadelta"})
      ->group("Training");
  number(c, "--clip", o.trainer.clip, "Bound of the gradient's norm; 0 does not clip",
         real("a number of at least 0", [](double x) { return x >= 0; }))
      ->group("Training");
  number(c, "--label-smoothing", o.trainer.label_smoothing, "Share of probability spread over the vocabulary",
         any_share)
      ->group("Training");
  number(c, "--warm-up", o.trainer.schedule.warm_up, "Steps over which the rate rises from 0", any_count)
      ->group("Training");
  number(c, "--decay-patience", o.trainer.schedule.patience,
         "Multiply the rate by --decay after N epochs without a better loss, or what --best-by says; 0 never "
         "does",
         any_count)
      ->group("Training");
  number(c, "--decay-after", o.trainer.schedule.after,
         "Multiply the rate by --decay after epoch N and each one that follows; 0 never does", any_count)
      ->group("Training");
  number(c, "--decay", o.trainer.schedule.decay, "What the rate is multiplied by",
         real("a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; }))
      ->group("Training");
  const auto decay = std::make_shared<std::string>("none");
  bd::ScheduledSampling& sampling = o.trainer.scheduled_sampling;
  CLI::Option* scheduled =
      choice(
          "--scheduled-sampling", *decay,
          "Read own tokens in place of true ones while training, with a share of true ones that falls with "
          "the number i of the batch: linear, k - slope i; exponential, k^i; inverse_sigmoid, "
          "k / (k + e^(i/k))",
          {"none", "linear", "exponential", "inverse_sigmoid"})
          ->group("Training");
  const auto at_least_0 = real("a number of at least 0", [](double x) { return x >= 0; });
  number(c, "--sampling-k", sampling.k, "The k of --scheduled-sampling", at_least_0)
      ->needs(scheduled)
      ->group("Training");
  number(c, "--sampling-slope", sampling.slope, "The slope of --scheduled-sampling linear", at_least_0)
      ->needs(scheduled)
      ->group("Training");
  number(c, "--sampling-least", sampling.least, "The least share of true tokens", any_share)
      ->needs(scheduled)
      ->group("Training");
  const auto sampling_best = std::make_shared<bool>(false);
  c->add_flag("--sampling-best", *sampling_best, "The most probable token, not one that is drawn")
      ->needs(scheduled)
      ->group("Training");
  const auto by_length = std::make_shared<bool>(false);
  c->add_flag("--group-by-length", *by_length, "Sentences of similar lengths together: faster on long ones")
      ->group("Training");
  c->add_option("--validation", o.validation,
                "Pairs to measure on after every epoch, a file or a share of the data between 0 and 1; the "
                "model that did best on them is kept")
      ->check(expect("a file, or a share between 0 and 1",
                     [](const std::string& given) { return !given.empty(); }))
      ->group("Training");
  std::vector<std::string> criteria = metric_names();
  criteria.insert(criteria.begin(), "loss");
  choice("--best-by", o.best_by,
         "What makes an epoch better, for the model that is kept, --patience and --decay-patience: the loss "
         "on the "
         "validation set, or a metric of its translations, which takes a file and is greedy; lines of one "
         "source are "
         "one sentence with several references",
         criteria)
      ->needs("--validation")
      ->group("Training");
  number(c, "--patience", o.trainer.patience,
         "Stop after N epochs without a better one on the validation set; 0 never does", any_count)
      ->needs("--validation")
      ->group("Training");
  number(c, "--min-delta", o.trainer.min_delta,
         "An epoch is better only if its validation loss fell by more than this, in nats per token; with "
         "--best-by, what "
         "that counts",
         real("a number of at least 0", [](double x) { return x >= 0; }))
      ->needs("--validation")
      ->group("Training");
  number(c, "--seed", o.seed, "Of the first weights, the order of the pairs and dropout", whole(0))
      ->group("Training");
  number(c, "--replicas", o.trainer.replicas,
         "Parts of a batch whose gradients are added, a power of two: shared by the processes that mpirun "
         "starts, "
         "or one after the other. The result depends on it, and not on the number of processes",
         whole(1, 65536))
      ->group("Training");
  number(c, "--threads", o.trainer.threads, "0 is one per core; the result does not depend on it",
         whole(0, 4096))
      ->group("Training");
  number(c, "--timeout", o.timeout,
         "Under mpirun: seconds after which a process that has not answered ends all, 0 never; longer than "
         "opening the data, a checkpoint and a validation take",
         real("a number of at least 0", [](double x) { return x >= 0; }))
      ->group("Training");

  c->add_option("--from", o.from,
                "Go on from this model, on other data: its policies, sizes, vocabularies and weights")
      ->group("Fine-tuning");
  c->add_flag("--extend-vocabulary", o.extend, "Add the tokens of the data that the model of --from lacks")
      ->needs("--from")
      ->group("Fine-tuning");
  c->add_option(
       "--fix", o.trainer.fixed,
       "A parameter that stays as it is, by its name in the file, * for any characters; may be given "
       "again")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Fine-tuning");
  c->add_option("--source-embeddings", o.source_embeddings,
                "First embeddings of source tokens: a text file, as of word2vec, GloVe or fastText")
      ->group("Fine-tuning");
  c->add_option("--target-embeddings", o.target_embeddings, "The same for target tokens")
      ->group("Fine-tuning");

  c->add_flag("--resume", o.trainer.resume,
              "Go on from MODEL.checkpoint, if it is there; with a finished model instead, an error");
  number(c, "--keep", o.keep,
         "Keep the models of the last N epochs too, m.epoch-7.safetensors beside m.safetensors; see bahdanau "
         "average",
         whole(0, 1000));
  c->add_option("--plot", o.plot,
                "Folder for pictures: the loss curve, the attention of some translations, and report.html, a "
                "page that loads itself anew while training runs");
  c->add_option(
      "--log", o.log,
      "File for a line of JSON per batch and per epoch: loss, gradient norm, rate, tokens per second");
  c->add_flag("--quiet", o.quiet, "Say nothing but errors");

  c->parse_complete_callback([c, &o, architecture, as_in_paper, bridge, final_state, text, skip, rate,
                              by_length, variational, decay, sampling_best] {
    check_from(*c);
    take_architecture(*architecture, *as_in_paper, *c, o);
    try {
      const Combination& chosen = combination_of("train", o.policies);
      if (!bridge->empty()) {
        o.config.bridge = bd::bridge_from_name(*bridge);
        check_bridge(o.config.bridge, o.policies.encoder);
      }
      if (o.config.tied) check_tied(o, chosen);
    } catch (const bd::Error& e) {
      throw CLI::ValidationError(e.what());
    }
    o.config.final_state = bd::final_state_from_name(*final_state);
    if (o.config.final_state == bd::FinalState::padded && o.corpus.max_length == 0)
      throw CLI::ValidationError(
          "--final-state: expected a --max-length with padded, which steps over <pad> up to it, "
          "got none");
    o.corpus.source = text->side("source", text->source, o.subwords.source);
    o.corpus.target = text->side("target", text->target, o.subwords.target);
    check_learnt_subwords(*c, o);
    if (*skip) o.corpus.bad_lines = bd::BadLines::skip;
    if (*rate > 0) o.optimizer.rate = *rate;
    if (*by_length) o.trainer.grouping = bd::Grouping::by_length;
    if (*variational) o.config.dropout_masks = bd::DropoutMasks::per_sequence;
    if (c->count("--decay") > 0 && o.trainer.schedule.patience == 0 && o.trainer.schedule.after == 0)
      throw CLI::ValidationError(
          "--decay: expected --decay-patience or --decay-after above 0, got neither, so that the rate would "
          "stay as it is");
    o.trainer.scheduled_sampling.decay = bd::sampling_decay_from_name(*decay);
    if (*sampling_best) o.trainer.scheduled_sampling.choice = bd::ScheduledSampling::Choice::best;
    const auto& sampling_options = o.trainer.scheduled_sampling;
    if (c->count("--scheduled-sampling") > 0 && sampling_options.teacher(1000000) == 1)
      throw CLI::ValidationError(
          "--scheduled-sampling: expected a --sampling-slope above 0 (linear) or a --sampling-k below 1, got "
          "neither, so that all tokens would be true ones");
    try {
      sampling_options.check();
    } catch (const bd::Error& e) {
      throw CLI::ValidationError(e.what());
    }
  });
}

void add_translate(CLI::App& app) {
  auto [command, options] =
      add(app, "translate", "Translate lines of standard input", &translate,
          "A line of input gives a line of output, in order; an empty line an empty line.\n"
          "With --nbest N above 1 a sentence gives up to N lines, best first, of rank TAB score TAB\n"
          "text; rank 1 begins the next sentence. The score is the sum of the tokens'\n"
          "log-probabilities. With --json a line is an object {\"source\",\"target\",\"score\",\n"
          "\"log_probs\",\"attention\",\"text\"}, with --nbest also \"rank\"; that of an empty line has "
          "empty arrays.\n"
          "A tab is a space here. A word spelt <unk>, <pad>, <bos> or <eos> is that token to the model.\n"
          "A program that waits for each answer asks for --batch 1.\n"
          "A line that is not UTF-8 or beyond a limit ends the command after the answers before it.\n"
          "With --keep-going it is answered by an empty line (--json: {\"error\"}), named on standard\n"
          "error, and the exit code is 1 at the end.");
  TranslateOptions& o = options;
  add_models(command, o.model);
  add_search(command, o.search);
  add_limits(command, o.search);
  number(command, "--deadline", o.search.deadline,
         "Seconds that a line may take; lines then go one by one; 0 is any",
         real("a number of at least 0", [](double x) { return x >= 0 && x < 1e9; }));
  command->add_flag("--keep-going", o.keep_going, "Answer the other lines where one has no answer");
  number(command, "--nbest", o.search.nbest,
         "Up to N translations of a sentence; needs a beam as wide, and sets one", whole(1, 1024));
  command->add_flag("--replace-unknown", o.search.replace_unknown,
                    "Write the source word attended to most instead of <unk>");
  add_batch(command, o.batch, "Lines translated, and written, at a time; 1 if a person types");
  command->add_flag("--json", o.json, "One JSON object per line, with log-probabilities and attention");
  command->parse_complete_callback([&o] {
    if (o.search.beam > 0 && o.search.nbest > o.search.beam)
      throw CLI::ValidationError("--nbest: expected at most the beam's width, " +
                                 bd::detail::text(o.search.beam) + ", got " +
                                 bd::detail::text(o.search.nbest));
  });
}

void add_serve(CLI::App& app) {
  auto [command, options] = add(
      app, "serve", "Translate for others, by HTTP, and on a page", &serve,
      "POST /translate with {\"source\": \"...\"} or {\"sources\": [...]}; beam, nbest, max_length, "
      "min_length,\n"
      "length_power, coverage_penalty, prefix, forbidden, required, replace_unknown and attention may "
      "follow.\n"
      "GET /health says that it is there; GET / is a page. Requests that wait together are decoded "
      "together.\n"
      "A request that is no good is answered by 400 and {\"error\"}, one too many by 503.\n"
      "It listens on the loopback address, which other machines do not reach, unless --host says otherwise.\n"
      "SIGTERM and Ctrl-C finish what is under way.");
  ServeOptions& o = options;
  add_models(command, o.model);
  command->add_option("--host", o.host, "Address to listen on")
      ->check(expect("an address", [](const std::string& text) { return !text.empty(); }))
      ->capture_default_str();
  number(command, "--port", o.port, "Port to listen on; 0 is one that is free", whole(0, 65535));
  add_batch(command, o.batch, "Sentences that are decoded together");
  number(command, "--queue", o.queue, "Sentences that may wait; more are refused", above_zero);
  number(command, "--connections", o.connections, "Clients that are served at once; others wait",
         whole(1, 4096));
  number(command, "--max-body", o.max_body, "Bytes of a request", whole(64, 1 << 30));
  number(command, "--max-sentences", o.max_sentences, "Sentences of a request", above_zero);
  number(command, "--max-source", o.max_source, "Tokens of a source, with its <eos>", any_length);
  number(command, "--max-target", o.max_target, "Tokens of a translation, with its <eos>", any_length);
  number(command, "--max-beam", o.max_beam, "Hypotheses of a request", whole(1, 1024));
  number(command, "--max-memory", o.max_memory,
         "Megabytes that a batch may take, estimated from above; 0 is any", any_count);
  number(command, "--deadline", o.deadline, "Seconds that a request may take",
         real("a number above 0", [](double x) { return x > 0 && x < 1e6; }));
}

void add_score(CLI::App& app) {
  auto [command, options] =
      add(app, "score", "How probable given translations are, token by token", &score, "");
  add_models(command, options.model);
  add_data(command, options.data);
  command->add_flag(
      "--json", options.json,
      "One JSON object per line, with log-probabilities and attention; otherwise the score, the "
      "source and the target");
  add_batch(command, options.batch, "Sentence pairs scored at a time");
  add_longest(command, options.max_source);
  command->add_flag("--keep-going", options.keep_going,
                    "Answer a bad line by an empty one (--json: {\"error\"}), name it on standard error, go "
                    "on, and end with exit code 1");
}

void add_evaluate(CLI::App& app) {
  auto [command, options] =
      add(app, "evaluate", "BLEU, perplexity and speed on sentence pairs, and other metrics", &evaluate,
          "Lines of name TAB value: pairs; BLEU-4, 0 to 100, of the corpus's tokens;\n"
          "perplexity of the given targets; tokens translated in a second. With --gold alignment\n"
          "error rate, precision and recall, 0 to 1, of the given targets' alignments: a line of gold\n"
          "for each line of --data, 0-1 a sure link, 0?1 or 0p1 a possible one, see bahdanau align.\n"
          "Then, for each --metric, a line of name TAB value TAB [low, high] TAB signature: the\n"
          "interval holds 95 % of 1000 resamples, the signature is written as sacrebleu's. Targets\n"
          "are compared in the spelling in which the model writes.");
  EvaluateOptions& o = options;
  add_models(command, o.model);
  add_data(command, o.data);
  add_search(command, o.search);
  add_limits(command, o.search);
  add_batch(command, o.batch, "Sentence pairs at a time");
  command->add_option("--max-pairs", o.max_pairs, "Use the first N pairs [all]")->check(above_zero);
  command->add_flag("--skip-bad-lines", o.skip_bad_lines,
                    "Leave out, and count, lines that are no pairs, or too long");
  CLI::Option* metric =
      add_metrics(command, o.metrics.names, "Other metrics, with commas between them, each with its interval",
                  metric_names());
  command
      ->add_flag("--join-sources", o.metrics.join_sources,
                 "Lines with the same source are one sentence with several references to --metric, as the "
                 "pronunciations of a word are")
      ->needs(metric);
  CLI::Option* gold = command->add_option(
      "--gold", o.gold, "File of alignments made by hand, one per line: the model's are compared with them");
  add_alignment(command, o.alignment);
  for (const char* name : {"--reverse-model", "--threshold"}) command->get_option(name)->needs(gold);
  command->add_flag("--json", o.json,
                    "One JSON object: pairs, bleu, perplexity, tokens_per_second, and, if asked for, "
                    "alignment and metrics");
}

void add_align(CLI::App& app) {
  auto [command, options] =
      add(app, "align", "Which words of given sentence pairs translate one another", &align,
          "A line of source TAB target gives a line of links in Pharaoh's format: 0-0 1-2 links the\n"
          "first words, and the second of the source with the third of the target. Words are the\n"
          "model's tokens; <eos> has no links. Each target word is linked to the source word that it\n"
          "attends to most while the given target is decoded.");
  AlignOptions& o = options;
  add_models(command, o.model);
  add_data(command, o.data);
  add_alignment(command, o.alignment);
  add_batch(command, o.batch, "Sentence pairs at a time");
  add_longest(command, o.max_source);
}

void add_compare(CLI::App& app) {
  auto [command, options] =
      add(app, "compare", "Compare translations with references, and two systems with one another", &compare,
          "Files have a sentence a line; texts are compared as they are written, case included.\n"
          "For one file, a line for each --metric of name TAB value TAB [low, high] TAB signature,\n"
          "as evaluate has it. For two: name TAB first TAB second TAB difference TAB [low, high] TAB\n"
          "p TAB signature. The interval is that of the difference, second - first, in 1000 resamples\n"
          "of the same sentences for both (paired bootstrap); p is how often chance gives as much.\n"
          "bleu splits as sacrebleu's 13a, bleu-char as its char, bleu-none on spaces.");
  CompareOptions& o = options;
  command->add_option("files", o.files, "One or two files of translations")
      ->required()
      ->expected(1, 2)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  command->add_option("--reference", o.reference, "File of references")->required();
  add_metrics(command, o.metrics, "Metrics, with commas between them", metric_names())->capture_default_str();
}

void add_average(CLI::App& app) {
  auto [command, options] =
      add(app, "average", "Write the mean of model files as one", &average,
          "The files are of one model: the same sizes, policies and vocabularies, as train --keep\n"
          "leaves them. Each weight is the mean of theirs.");
  command->add_option("--model", options.models, "Model files with commas between them")->required();
  command->add_option("--out", options.out, "Model file to write (.safetensors)")->required();
}

void add_plot(CLI::App& app) {
  auto [command, options] =
      add(app, "plot", "Draw what the model attends to for each word, or the model", &plot, "");
  PlotOptions& o = options;
  add_model(command, o.model);
  CLI::Option* source = command->add_option("--source", o.source, "Sentence to translate");
  command->add_option("--target", o.target, "A translation to look at [the model's own]");
  add_search(command, o.search);
  command->add_option("--out", o.out, "SVG file to write");
  command->add_option("--title", o.title, "Title of the picture");
  command->add_flag("--terminal", o.terminal, "Draw into the terminal, in colour if it is one");
  command
      ->add_flag("--diagram", o.diagram,
                 "Draw the model itself, without a sentence: policies, tensors and their shapes")
      ->excludes(source);
  command->parse_complete_callback([&o, source] {
    if (o.diagram && (o.out.empty() || o.terminal))
      throw CLI::RequiredError("--out, and no --terminal, beside --diagram");
    if (!o.diagram && source->count() == 0) throw CLI::RequiredError("--source");
    if (o.out.empty() && !o.terminal) throw CLI::RequiredError("--out or --terminal");
  });
}

void add_explain(CLI::App& app) {
  auto [command, options] =
      add(app, "explain", "Write a page for a browser: what each word attends to, and why it came", &explain,
          "One HTML file that fetches nothing: source and translation with links between words, the\n"
          "attention as a heatmap and of each head, the probability of each word and of those that\n"
          "might have come, the beam's tree, the n best side by side, references with their BLEU\n"
          "(d2l's, of up to 2 words), and gold alignments over the reference's attention.\n"
          "A line of --data is a source, or source TAB reference.");
  ExplainOptions& o = options;
  add_models(command, o.model);
  add_data(command, o.data);
  command->add_option("--out", o.out, "HTML file to write")->required();
  command->add_option("--gold", o.gold, "File of alignments made by hand, a line for each line of --data");
  command->add_option("--title", o.title, "Title of the page [the model's file]");
  add_search(command, o.search);
  command->get_option("--beam")->description("Hypotheses kept in beam search; 1 is greedy [5]");
  number(command, "--nbest", o.search.nbest, "Translations of a sentence, at most as many as --beam",
         whole(1, 1024));
  number(command, "--runners-up", o.runners_up, "Words beside each that might have come", whole(0, 1000));
  number(command, "--max-pairs", o.max_pairs, "Use the first N sentences", above_zero);
  add_limits(command, o.search);
  command->parse_complete_callback([c = command, &o] {
    if (o.search.nbest <= o.search.beam) return;
    if (c->count("--nbest") > 0)
      throw CLI::ValidationError("--nbest: expected at most the beam's width, " +
                                 bd::detail::text(o.search.beam) + ", got " +
                                 bd::detail::text(o.search.nbest));
    o.search.nbest = o.search.beam;
  });
}

}  // namespace

void add_commands(CLI::App& app) {
  add_train(app);
  add_translate(app);
  add_score(app);
  add_align(app);
  add_evaluate(app);
  add_compare(app);
  add_average(app);
  add_plot(app);
  add_explain(app);
  add_serve(app);
}

}  // namespace cli
