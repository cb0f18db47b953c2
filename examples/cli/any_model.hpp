// Choosing policies at run time: the library's models are types, made when the program is compiled; a model
// file, or `--cell lstm`, names them when it runs. So every combination is compiled once, behind this
// interface, and a name picks one; what uses a model is ordinary code that knows no policy.
//
//   registry.hpp, .cpp   the list of what is compiled in, and the way from names to a model
//   models_<name>.cpp    one of the combinations; they compile side by side
//   model_of.hpp         AnyModel for one combination
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <bahdanau/decode/options.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/nn/parameter.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/train/corpus_file.hpp>
#include <bahdanau/train/options.hpp>

namespace bahdanau {
class EnsembleMember;
}

namespace cli {

namespace bd = bahdanau;

/// The names of a model's policies.
struct PolicyNames {
  std::string cell = "gru", score = "additive", encoder = "unidirectional", decoder = "attend_then_step",
              readout = "linear";
  bool operator==(const PolicyNames&) const = default;

  std::array<std::string_view, 5> all() const { return {cell, score, encoder, decoder, readout}; }
  bool attends() const { return score != "none"; }
};

/// An optimizer's name, and its learning rate if not the usual one.
struct OptimizerChoice {
  std::string name = "adam";
  std::optional<double> rate;
};

/// How each parameter is drawn; null: as the library does.
using FirstWeights = bd::Initializer (*)(const bd::ParameterList::Entry&);

/// What a paper says of its model besides its policies.
struct PaperChoices {
  bd::Config config;
  FirstWeights first;
  OptimizerChoice optimizer;
  bd::TrainerOptions training;
  bool reverse_source = false;
};

/// How translations are searched for.
using Search = std::variant<bd::Greedy, bd::Beam>;

/// A model of any policies.
class AnyModel {
 public:
  virtual ~AnyModel() = default;

  virtual PolicyNames policies() const = 0;
  virtual const bd::Config& config() const = 0;
  virtual const bd::Vocabularies& vocabularies() const = 0;
  /// How many numbers training learns.
  virtual std::size_t weights() const = 0;

  /// Scores given translations, `batch` at a time.
  virtual std::vector<bd::Translation> score(std::span<const bd::SentencePair> pairs,
                                             std::size_t batch) const = 0;
  /// Translates sentences in one batch; of each, the best translation or the `nbest` ones, best first.
  virtual std::vector<std::vector<bd::Translation>> translate(std::span<const std::string> sentences,
                                                              const Search& search) const = 0;
};

/// One for inference alone.
class FrozenModel : public AnyModel {
 public:
  /// It as one of several that translate together; `name` is for messages.
  virtual bd::EnsembleMember member(std::string name) const = 0;
};

/// One that can be trained, and saved.
class TrainableModel : public AnyModel {
 public:
  /// Trains as `bd::Trainer` does; without a validation set that is null.
  virtual bd::TrainingReport train(const bd::Corpus& corpus, const bd::Corpus* validation,
                                   const OptimizerChoice& optimizer, const bd::TrainerOptions& options) = 0;
  virtual bd::TrainingReport train(const bd::CorpusFile& corpus, const bd::CorpusFile* validation,
                                   const OptimizerChoice& optimizer, const bd::TrainerOptions& options) = 0;
  /// Writes the model file.
  virtual void save(const std::filesystem::path& path) const = 0;
  /// Takes over the weights of a model file, for the tokens that both know.
  virtual bd::KnownTokens start_from(const std::filesystem::path& path) = 0;
  /// Fill the embeddings of the tokens that a text file has, and say how many those are.
  virtual std::size_t load_source_embeddings(const std::filesystem::path& path) = 0;
  virtual std::size_t load_target_embeddings(const std::filesystem::path& path) = 0;
};

/// Loads a model of the policies that its file names, for inference alone. Throws, with the path, for a file
/// that is no model, and for policies that are not compiled in together.
std::unique_ptr<FrozenModel> load_any_model(const std::filesystem::path& path);

/// The files in a list with commas. A file that is there under the whole name is one, commas and all.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& list);

/// Loads a model, or, of a list of files with commas, an ensemble of models of any policies.
std::unique_ptr<AnyModel> load_models(const std::filesystem::path& list);

/// What a new model is made from.
struct NewModel {
  const bd::Config& config;
  const bd::Vocabularies& vocabularies;
  std::uint64_t seed;
  FirstWeights first = nullptr;
};

/// A new model of these policies. Throws as `load_any_model` does.
std::unique_ptr<TrainableModel> new_any_model(const PolicyNames& policies, const NewModel& made_from);

}  // namespace cli
