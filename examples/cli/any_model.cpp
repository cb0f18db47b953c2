// From the name of a cell to the models with that cell.
#include "any_model.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

#include <bahdanau/io/model_description.hpp>

#include "models.hpp"
#include "policies.hpp"

namespace cli {
namespace {

std::unique_ptr<AnyModel> make(std::string_view where, const PolicyNames& names, const Origin& origin) {
  std::unique_ptr<AnyModel> result;
  choose(Cells{}, where, "a cell", names.cell,
         [&]<class Cell>() { result = model_with<Cell>(where, names, origin); });
  return result;
}

}  // namespace

std::unique_ptr<AnyModel> load_any_model(const std::filesystem::path& path) {
  const auto description = bd::ModelDescription::read(bd::SafetensorsFile::open(path));
  return make(path.string(), {description.cell, description.score, description.encoder}, FromFile{path});
}

std::unique_ptr<AnyModel> new_any_model(const PolicyNames& policies, const bd::Config& config,
                                        const bd::Vocabularies& vocabularies, std::uint64_t seed) {
  return make("model", policies, FromSeed{config, vocabularies, seed});
}

void check_policies(std::string_view where, const PolicyNames& policies) {
  choose(Cells{}, where, "a cell", policies.cell, []<class>() {});
  choose_score_and_encoder(where, policies.score, policies.encoder, []<class, class>() {});
}

}  // namespace cli
