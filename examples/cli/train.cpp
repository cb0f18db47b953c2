// bahdanau train: from a file of sentence pairs to a model file.
// What is said on the way goes to standard error; a checkpoint beside the model outlives whatever happens.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/io/file_handle.hpp>
#include <bahdanau/io/model_description.hpp>
#include <bahdanau/plot/curve.hpp>
#include <bahdanau/plot/heatmap.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/corpus_file.hpp>
#include <bahdanau/train/divergence.hpp>

#include "any_model.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "processes.hpp"
#include "subwords.hpp"
#include "validation_error.hpp"
#include "watch.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

class Talk {
 public:
  explicit Talk(bool quiet) : quiet_(quiet) {}
  void operator()(const std::string& line) const {
    if (!quiet_) std::cerr << line << '\n';
  }

 private:
  bool quiet_;
};

std::string counted(std::size_t count, const std::string& what) {
  return bd::detail::text(count) + " " + what + (count == 1 ? "" : "s");
}

/// The pairs that a model learns from, and those that it is measured on, if there are any; in memory, or in
/// their files.
template <class Pairs>
struct Data {
  Pairs training;
  std::optional<Pairs> validation;
};

template <class Pairs, class... Arguments>
Pairs read_pairs(const bd::AnyCommunicator& all, const Arguments&... arguments) {
  if constexpr (std::is_same_v<Pairs, bd::CorpusFile>)
    return bd::CorpusFile::open(arguments..., all);
  else
    return bd::Corpus::read(arguments...);
}

/// The number, if the whole text is one, and no file has that name.
std::optional<double> share_in(const std::string& text) {
  double share = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, share);
  if (error != std::errc{} || rest != end || fs::exists(text)) return std::nullopt;
  if (!(share > 0 && share < 1)) bd::fail("--validation", "a file, or a share between 0 and 1", text);
  return share;
}

template <class Pairs>
void describe(const Talk& say, const fs::path& path, const Pairs& corpus) {
  std::string line = path.string() + ": " + counted(corpus.size(), "pair");  // training says what was cut
  if (corpus.skipped_lines() > 0) line += ", " + counted(corpus.skipped_lines(), "line") + " skipped";
  say(line);
}

/// The corpus's settings, with the subword models that its sides need: read from files, or learnt from the
/// data.
bd::CorpusOptions with_subwords(const TrainOptions& options, const Talk& say) {
  bd::CorpusOptions corpus = options.corpus;
  std::vector<std::string> sources, targets;
  const auto wanted = [](const std::optional<bd::TextSide>& side) {
    return side && side->tokens == bd::Tokens::subwords;
  };
  const auto learns = [&](const std::optional<bd::TextSide>& side, const fs::path& file) {
    return wanted(side) && file.empty();
  };
  const Subwords& subwords = options.subwords;
  if (options.stream && (learns(corpus.source, subwords.source) || learns(corpus.target, subwords.target)))
    bd::fail("--stream", "subwords from a file", "subwords that are learnt from all of the data",
             "SentencePiece's spm_train learns them from a part of it");
  if (learns(corpus.source, subwords.source) || learns(corpus.target, subwords.target)) {
    bd::PairReader reader(options.data, corpus.bad_lines);
    for (bd::SentencePair pair;
         (corpus.max_pairs == 0 || sources.size() < corpus.max_pairs) && reader.next(pair);) {
      sources.push_back(std::move(pair.source));
      targets.push_back(std::move(pair.target));
    }
  }
  const auto give = [&](const char* which, std::optional<bd::TextSide>& side, const fs::path& file,
                        const std::vector<std::string>& sentences) {
    if (!wanted(side)) return;
    if (!file.empty()) {
      side->subwords = read_subwords(file);
    } else {
      side->subwords = learn_subwords(sentences, subwords.pieces, subwords.coverage, !side->cased());
      say(std::string(which) + " subwords: " + counted(side->subwords->pieces().size(), "piece"));
    }
  };
  give("source", corpus.source, subwords.source, sources);
  give("target", corpus.target, subwords.target, targets);
  return corpus;
}

bd::ModelDescription description_of(const fs::path& model) {
  return bd::ModelDescription::read(bd::SafetensorsFile::open(model));
}

template <class Pairs>
Data<Pairs> read_data(const TrainOptions& options, const bd::AnyCommunicator& all, const Talk& say) {
  const std::optional<double> share = share_in(options.validation);
  const auto read = [&] {
    if (options.from.empty()) return read_pairs<Pairs>(all, options.data, with_subwords(options, say));
    const bd::Vocabularies known = description_of(options.from).vocabularies;
    const auto subwords = [](const bd::TextSide& side) { return side.tokens == bd::Tokens::subwords; };
    if (options.extend && subwords(known.text.source_side()) && subwords(known.text.target_side()))
      bd::fail("--extend-vocabulary", "a model of --from with tokens other than subwords on a side",
               "subwords on both", "their pieces spell all text, and none are added");
    return read_pairs<Pairs>(all, options.data, known,
                             bd::CorpusOptions{.max_pairs = options.corpus.max_pairs,
                                               .min_frequency = options.corpus.min_frequency,
                                               .bad_lines = options.corpus.bad_lines,
                                               .extend = options.extend,
                                               .sampling = options.corpus.sampling});
  };
  Data<Pairs> data{read(), std::nullopt};
  describe(say, options.data, data.training);
  if constexpr (std::is_same_v<Pairs, bd::Corpus>)
    if (share) {
      const std::size_t pairs = data.training.size();
      if (pairs < 2) bd::fail("--validation " + options.validation, "at least 2 pairs to divide", "1");
      const auto count = static_cast<std::size_t>(std::lround(*share * static_cast<double>(pairs)));
      auto [training, validation] =
          data.training.split(std::clamp<std::size_t>(count, 1, pairs - 1), options.seed);
      data = {std::move(training), std::move(validation)};
      say("validation: " + counted(data.validation->size(), "pair") + " of them, chosen at random");
    }
  if (!options.validation.empty() && !share) {
    data.validation = read_pairs<Pairs>(all, options.validation, data.training.vocabularies(),
                                        bd::CorpusOptions{.bad_lines = options.corpus.bad_lines});
    describe(say, options.validation, *data.validation);
  }
  const auto& [source, target, text] = data.training.vocabularies();
  say("vocabularies: " + bd::detail::text(source.size()) + " and " + bd::detail::text(target.size()) +
      " tokens");
  return data;
}

void describe(const Talk& say, const AnyModel& model) {
  const PolicyNames policies = model.policies(), usual;
  const bd::Config& config = model.config();
  std::string named = policies.cell + ", " + policies.score + ", " + policies.encoder;
  if (policies.decoder != usual.decoder) named += ", " + policies.decoder;
  if (policies.readout != usual.readout) named += ", " + policies.readout;
  say("model: " + named + ", " + counted(config.layers, "layer") + " of " + bd::detail::text(config.hidden) +
      ", " + counted(model.weights(), "weight"));
}

/// The sources of the first pairs of a file that the model was trained on whole, each once.
std::vector<std::string> first_sources(const fs::path& path, const AnyModel& model, std::size_t count) {
  bd::PairReader reader(path, bd::BadLines::skip);
  std::vector<std::string> sources;
  std::set<std::vector<std::string>> seen;
  for (bd::SentencePair pair; sources.size() < count && reader.next(pair);) {
    const std::size_t most = model.vocabularies().text.max_length;
    const std::vector<std::string> tokens = model.vocabularies().source_tokens(pair.source);
    const bool whole = most == 0 || tokens.size() < most;
    if (whole && seen.insert(tokens).second) sources.push_back(pair.source);
  }
  return sources;
}

/// Some of the first sources for the report, short ones and long ones.
std::vector<std::string> sample_sources(const fs::path& path, const AnyModel& model) {
  constexpr std::size_t looked_at = 200, shown = 4, longest = 25;
  std::vector<std::string> sources = first_sources(path, model, looked_at), out;
  const auto tokens = [&](const std::string& source) {
    return model.vocabularies().source_tokens(source).size();
  };
  std::erase_if(sources, [&](const std::string& source) { return tokens(source) > longest; });
  std::sort(sources.begin(), sources.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(tokens(a), a) < std::pair(tokens(b), b);
  });
  for (std::size_t i = 1; i <= std::min(shown, sources.size()); ++i)
    out.push_back(sources[sources.size() * i / std::min(shown, sources.size()) - 1]);
  return out;
}

void draw(const fs::path& folder, const bd::TrainingReport& report, const AnyModel& model,
          const fs::path& sentences, const Talk& say) {
  bd::plot::Curve training{"training", {}}, validation{"validation", {}};
  for (const bd::EpochReport& epoch : report.epochs) {
    training.values.push_back(epoch.training.nats_per_token());
    if (epoch.validation) validation.values.push_back(epoch.validation->nats_per_token());
  }
  std::vector<bd::plot::Curve> curves{training};
  if (!validation.values.empty()) curves.push_back(validation);
  const auto wrote = [&](const fs::path& path) { say("wrote " + path.string()); };
  if (!report.epochs.empty()) {
    bd::plot::curve(folder / "loss.svg", curves, {.title = "Training", .y_label = "nats per token"});
    wrote(folder / "loss.svg");
  }
  if (!model.policies().attends()) return say("no pictures of attention: the model has none");
  std::size_t number = 0;
  const std::vector<std::string> sources = first_sources(sentences, model, 4);
  for (const auto& found : model.translate(sources, bd::Greedy{})) {
    const fs::path path = folder / ("attention-" + bd::detail::text(++number) + ".svg");
    bd::plot::heatmap(path, found.front());
    wrote(path);
  }
}

/// Throws now, not after hours of training, if the place for a file is no place.
void check_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) bd::fail(file.string(), "a folder to write it to", "none");
  const bd::AtomicFile attempt(file);  // given up again
}

/// The folder for pictures, made if it is not there.
void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error))
    bd::fail("--plot", "a folder for pictures", folder.string() + ", which is none and cannot be made");
  const bd::AtomicFile attempt(folder / "loss.svg");
}

/// Throws for a file that would be written over although it is read, and for a checkpoint that is gone.
void check_files(const TrainOptions& options, const fs::path& checkpoint) {
  if (options.data == "-")
    bd::fail("--data", "a file", "-, standard input",
             "write it to a file: resuming and --plot read it again");
  check_folder(options.model);
  for (const fs::path& written : {options.model, checkpoint})
    if (!options.log.empty() && options.log == written)
      bd::fail("--log", "another file than --model and its checkpoint", options.log.string());
  for (const auto& [name, path] : {std::pair<std::string, fs::path>("--data", options.data),
                                   std::pair<std::string, fs::path>("--from", options.from),
                                   std::pair<std::string, fs::path>("--validation", options.validation)}) {
    for (const fs::path& written : {options.model, checkpoint}) check_apart("--model", written, name, path);
    if (!options.log.empty()) check_apart("--log", options.log, name, path);
  }
  if (options.trainer.resume && !fs::exists(checkpoint) && fs::exists(options.model))
    bd::fail(checkpoint.string(), "a checkpoint to go on from", "none beside a finished model",
             "train without --resume to replace " + options.model.string() + ", or give another --model");
}

/// Policies and sizes of the model that a training goes on from; what it is regularised by may be given anew.
TrainOptions with_model(TrainOptions options) {
  const bd::ModelDescription other = description_of(options.from);
  bd::Config config = other.config;
  config.dropout = options.config.dropout;
  config.embedding_dropout = options.config.embedding_dropout;
  config.dropout_masks = options.config.dropout_masks;
  options.config = config;
  options.policies = {other.cell, other.score, other.encoder, other.decoder, other.readout};
  return options;
}

/// The first weights that come from files.
void fill(TrainableModel& model, const TrainOptions& options, const Talk& say) {
  const bd::Vocabularies& v = model.vocabularies();
  const auto said = [](std::size_t known, const bd::Vocabulary& vocabulary, const char* side) {
    return bd::detail::text(known) + " of " + bd::detail::text(vocabulary.size()) + " " + side + " tokens";
  };
  if (!options.from.empty()) {
    const bd::KnownTokens known = model.start_from(options.from);
    say("from " + options.from.string() + ": weights of " + said(known.source, v.source, "source") + " and " +
        said(known.target, v.target, "target"));
  }
  if (!options.source_embeddings.empty())
    say(options.source_embeddings.string() + ": embeddings of " +
        said(model.load_source_embeddings(options.source_embeddings), v.source, "source"));
  if (!options.target_embeddings.empty())
    say(options.target_embeddings.string() + ": embeddings of " +
        said(model.load_target_embeddings(options.target_embeddings), v.target, "target"));
}

std::unique_ptr<TrainableModel> new_model(const TrainOptions& options, const bd::Vocabularies& vocabularies) {
  const bd::Config& config = options.config;
  const std::string sizes = "--embed " + bd::detail::text(config.embed) + " --hidden " +
                            bd::detail::text(config.hidden) + " --layers " + bd::detail::text(config.layers);
  try {
    return new_any_model(options.policies, {options.config, vocabularies, options.seed, options.first});
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // beyond what can be asked for
  }
  bd::fail("model", "sizes that fit into memory", sizes);
}

/// Another text for a file of other bytes.
std::string fingerprint_of(const fs::path& path) {
  auto [file, left] = bd::detail::open_regular_file(path);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  bd::random::Key key{left};
  for (std::size_t offset = 0; left > 0;) {
    const std::span<std::byte> part(buffer.data(), std::min(left, buffer.size()));
    bd::detail::read_at(path, file, offset, part);
    key = {bd::fingerprint(part, key)};
    offset += part.size();
    left -= part.size();
  }
  return "fingerprint " + bd::detail::text(key.state);
}

bd::TrainerOptions trainer_options(const TrainOptions& options, const fs::path& checkpoint) {
  bd::TrainerOptions result = options.trainer;
  result.seed = options.seed;
  result.checkpoint = checkpoint;
  for (const auto& [name, path] :
       {std::pair("from", &options.from), std::pair("source_embeddings", &options.source_embeddings),
        std::pair("target_embeddings", &options.target_embeddings)})
    if (!path->empty()) result.origin.emplace(name, fingerprint_of(*path));
  result.checkpoint_every = 1;  // not more often than checkpoint_seconds allows
  if (options.quiet) result.progress = bd::Progress::silent;
  return result;
}

/// Where the model of an epoch is kept: m.epoch-7.safetensors beside m.safetensors.
fs::path epoch_model(const fs::path& model, std::size_t epoch) {
  fs::path name = model.stem();
  name += ".epoch-" + bd::detail::text(epoch) + model.extension().string();
  return model.parent_path() / name;
}

/// The number of the epoch, if that is the name of one of the model's files of epochs.
std::optional<std::size_t> epoch_in(const fs::path& file, const fs::path& model) {
  const std::string name = file.filename().string(), start = model.stem().string() + ".epoch-",
                    end = model.extension().string();
  if (name.size() <= start.size() + end.size() || !name.starts_with(start) || !name.ends_with(end))
    return std::nullopt;
  const char* const last = name.data() + name.size() - end.size();
  std::size_t epoch = 0;
  const auto [rest, error] = std::from_chars(name.data() + start.size(), last, epoch);
  if (error != std::errc{} || rest != last) return std::nullopt;
  return epoch;
}

/// Removes the models of epochs that `goes` says: all of them, as a training that was killed may have left
/// several.
template <class Goes>
void remove_epoch_models(const fs::path& model, const Goes& goes) {
  std::vector<fs::path> gone;
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const auto epoch = epoch_in(entry.path(), model); epoch && goes(*epoch)) gone.push_back(entry.path());
  for (const fs::path& file : gone) fs::remove(file);
}

/// The signal that any of the processes has got.
int agreed_signal(const bd::AnyCommunicator& all, int mine) {
  return bd::ordered_sum(all, mine, [](int a, int b) { return std::max(a, b); });
}

/// What all processes do; the first alone prints and writes.
template <class Pairs>
void train_on(const TrainOptions& asked, const bd::AnyCommunicator& all) {
  bd::detail::require_processes(all, asked.trainer.replicas);  // before anything is read
  const TrainOptions options = asked.from.empty() ? asked : with_model(asked);
  const Talk say(options.quiet || !all.first());
  const fs::path checkpoint = options.model.string() + ".checkpoint";
  bd::throw_together(all, [&] {
    if (!all.first()) return;
    check_files(options, checkpoint);
    if (!options.plot.empty()) make_folder(options.plot);
  });
  bd::TrainerOptions trainer = trainer_options(options, checkpoint);
  trainer.communicator = all;
  const auto require_no_pipe = [](const char* name, const fs::path& path, const std::string& why) {
    if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path))
      bd::fail(name, "a regular file, " + why, path.string());
  };
  if (all.several()) {  // each would read a part of it
    require_no_pipe("--data", options.data, "which all processes can read");
    require_no_pipe("--validation", options.validation, "which all processes can read");
  }
  if (options.best_by != "loss")
    require_no_pipe("--validation", options.validation, "which --best-by reads once more");
  const Data<Pairs> data = read_data<Pairs>(options, all, say);
  const Pairs* validation = data.validation ? &*data.validation : nullptr;
  const auto model = new_model(options, data.training.vocabularies());
  describe(say, *model);
  fill(*model, options, say);
  if (fs::exists(checkpoint)) {
    say(options.trainer.resume
            ? "going on from " + checkpoint.string()
            : "starting anew, over " + checkpoint.string() + "; --resume would go on from it");
  } else if (options.trainer.resume) {
    say("no " + checkpoint.string() + " to go on from: starting anew");
  }

  const bool from_file = validation != nullptr && !share_in(options.validation);
  std::optional<ValidationError> error;
  if (options.best_by != "loss") {
    if (!from_file)
      bd::fail("--best-by " + options.best_by, "a file for --validation", "a share of the data");
    error.emplace(options.best_by, options.validation, options.corpus.bad_lines, trainer.threads, *model);
    trainer.criterion = {error->name(), [&] { return error->measure(); }};
  }
  const fs::path samples = from_file ? fs::path(options.validation) : options.data;
  std::optional<TrainingLog> log;
  std::optional<TrainingPage> page;
  bd::throw_together(all, [&] {
    if (!all.first()) return;
    if (!options.log.empty()) log.emplace(options.log, options.trainer.resume && fs::exists(checkpoint));
    if (!options.plot.empty())
      page.emplace(options.plot / "report.html", "Training " + options.model.filename().string(),
                   options.trainer.epochs, [&, sources = sample_sources(samples, *model)] {
                     std::vector<bd::Translation> best;
                     for (auto& found : model->translate(sources, bd::Greedy{.runners_up = 3}))
                       best.push_back(std::move(found.front()));
                     return best;
                   });
  });
  if (log || page)
    trainer.on_batch = [&](const bd::BatchReport& report) {
      if (log) log->add(report);
      if (page) page->add(report);
    };

  bool trained = false;
  trainer.on_epoch = [&](const bd::EpochReport& report) {
    trained = true;
    if (log) log->add(report);
    if (page) page->add(report);
    if (options.keep == 0) return;
    model->save(epoch_model(options.model, report.epoch));
    remove_epoch_models(options.model,
                        [&](std::size_t epoch) { return epoch + options.keep <= report.epoch; });
  };
  bd::TrainingReport report;
  int signal = 0;
  const auto last_written = [&] {
    std::error_code none;
    return fs::last_write_time(checkpoint, none);
  };
  const auto before = last_written();
  try {
    const InterruptHandlers handlers(options.quiet || !all.first());
    trainer.interrupt = handlers.flag();
    report = model->train(data.training, validation, options.optimizer, trainer);
    signal = agreed_signal(all, handlers.signal());
  } catch (const bd::NotFinite&) {
    // The weights from before what went wrong; the others wait for the one that writes them.
    bd::throw_together(all, [&] {
      if (trained) model->save(options.model);
    });
    throw;
  } catch (const bd::Error& e) {
    if (!fs::exists(checkpoint) || last_written() == before) throw;
    throw bd::Error(std::string(e.what()) + "; " + checkpoint.string() + " has what was done before");
  }
  if (report.interrupted) {
    const std::string done = "interrupted in epoch " + bd::detail::text(report.epochs.size() + 1) + " of " +
                             bd::detail::text(options.trainer.epochs);
    throw Interrupted{signal, fs::exists(checkpoint),
                      report.last_checkpoint_failed
                          ? done + ", and " + checkpoint.string() + " could not be written" +
                                (fs::exists(checkpoint) ? "; what it has is older" : "")
                          : done + "; " + checkpoint.string() + " has all that was done"};
  }
  if (!all.first()) return;
  if (report.stopped_early)
    say("stopped early: nothing better since epoch " + bd::detail::text(report.best_epoch));
  model->save(options.model);
  say("wrote " + options.model.string());
  if (options.keep > 0)  // those that a longer training before this one has left
    remove_epoch_models(options.model, [&](std::size_t epoch) { return epoch > report.epochs.size(); });
  fs::remove(checkpoint);
  if (options.plot.empty()) return;
  if (page->finish()) say("wrote " + (options.plot / "report.html").string());
  draw(options.plot, report, *model, samples, say);
}

void train_together(const TrainOptions& options, const bd::AnyCommunicator& all) {
  if (!options.stream) return train_on<bd::Corpus>(options, all);
  if (share_in(options.validation))
    bd::fail("--stream", "a file for --validation", "a share of the data",
             "pairs that stay in their file are not divided");
  train_on<bd::CorpusFile>(options, all);
}

}  // namespace

void train(const TrainOptions& options) {
  const bd::AnyCommunicator all = processes(options.timeout, options.quiet);
  if (all.first()) return bd::fail_together(all, [&] { train_together(options, all); });
  // All processes have the same errors, and the first prints them; any other has ended all of them.
  try {
    bd::fail_together(all, [&] { train_together(options, all); });
  } catch (const Interrupted& e) {
    throw SaidElsewhere{e.signal};
  } catch (const std::exception&) {
    throw SaidElsewhere{};
  }
}

}  // namespace cli
