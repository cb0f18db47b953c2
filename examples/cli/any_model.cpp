// From the names of policies to the models that have them.
#include "any_model.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <bahdanau/io/model_description.hpp>

#include "models.hpp"
#include "policies.hpp"

namespace cli {
namespace {

/// The policies of an architecture.
template <class Architecture>
PolicyNames policies_of() {
  using Model = typename Architecture::Model;
  return {std::string(Model::Cell::name), std::string(Model::Score::name), std::string(Model::Encoder::name),
          std::string(Model::Decoder::name), std::string(Model::Readout::name)};
}

/// Calls `use<Architecture>()` for the paper whose model has these policies; says whether there is one.
template <class... Papers, class Use>
bool choose_paper(OneOf<Papers...>, [[maybe_unused]] const PolicyNames& policies, [[maybe_unused]] Use use) {
  return ((policies == policies_of<Papers>() && (use.template operator()<Papers>(), true)) || ...);
}

/// Whether these are policies of d2l's model, or others in the place of its cell, score and encoder.
bool is_d2l(const PolicyNames& policies) {
  const PolicyNames usual;
  return policies.decoder == usual.decoder && policies.readout == usual.readout &&
         !choose_paper(Papers{}, policies, []<class>() {});
}

[[noreturn]] void refuse(std::string_view where, const PolicyNames& p) {
  std::string known = bd::detail::quote(D2l::name);
  for (const std::string& name : names(Papers{})) known += ", " + bd::detail::quote(name);
  bd::fail(where, "a model that the tool knows (" + known + ")",
           "one of " + p.cell + ", " + p.score + ", " + p.encoder + ", " + p.decoder + ", " + p.readout,
           "load it in a program of yours, with these policies");
}

std::unique_ptr<AnyModel> make(std::string_view where, const PolicyNames& policies, const Origin& origin) {
  std::unique_ptr<AnyModel> result;
  if (is_d2l(policies))
    choose(Cells{}, where, "a cell", policies.cell,
           [&]<class Cell>() { result = model_with<Cell>(where, policies, origin); });
  else if (!choose_paper(Papers{}, policies, [&]<class Paper>() { result = model_of_paper<Paper>(origin); }))
    refuse(where, policies);
  return result;
}

/// A paper's optimizer by its name.
template <class Optimizer>
OptimizerChoice choice_of(const Optimizer& optimizer) {
  return {std::string(Optimizer::name), optimizer.rate};
}

}  // namespace

PaperChoices choices_of_paper(std::string_view architecture, std::size_t loss_divisor) {
  PaperChoices result;
  const auto take = [&]<class Architecture>() {
    const auto paper = bd::models::defaults<typename Architecture::Model>(loss_divisor);
    result = {policies_of<Architecture>(), paper.config, choice_of(paper.optimizer), paper.training};
  };
  if (architecture == D2l::name)
    take.template operator()<D2l>();
  else
    choose(Papers{}, "--architecture", "an architecture", architecture, take);
  return result;
}

std::unique_ptr<FrozenModel> load_any_model(const std::filesystem::path& path) {
  const auto d = bd::ModelDescription::read(bd::SafetensorsFile::open(path));
  auto made = make(path.string(), {d.cell, d.score, d.encoder, d.decoder, d.readout}, FromFile{path});
  return std::unique_ptr<FrozenModel>(static_cast<FrozenModel*>(made.release()));  // see model_from
}

std::unique_ptr<TrainableModel> new_any_model(const PolicyNames& policies, const bd::Config& config,
                                              const bd::Vocabularies& vocabularies, std::uint64_t seed,
                                              FirstWeights first) {
  auto made = make("model", policies, FromSeed{config, vocabularies, seed, first});
  return std::unique_ptr<TrainableModel>(static_cast<TrainableModel*>(made.release()));  // see model_from
}

void check_policies(std::string_view where, const PolicyNames& policies) {
  if (!is_d2l(policies)) return;  // a paper's, which fit
  choose(Cells{}, where, "a cell", policies.cell, []<class>() {});
  choose_score_and_encoder(where, policies.score, policies.encoder, []<class, class>() {});
}

}  // namespace cli
