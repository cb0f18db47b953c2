// Several model files as one model: they translate together, whatever their policies.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/ensemble.hpp>

#include "any_model.hpp"

namespace cli {
namespace {

/// Policies and config are those of the first model.
class EnsembleModel final : public AnyModel {
 public:
  EnsembleModel(std::vector<std::unique_ptr<FrozenModel>> models, bd::Ensemble ensemble)
      : models_(std::move(models)), ensemble_(std::move(ensemble)) {}

  PolicyNames policies() const override { return models_.front()->policies(); }
  const bd::Config& config() const override { return models_.front()->config(); }
  const bd::Vocabularies& vocabularies() const override { return ensemble_.vocabularies(); }
  std::size_t weights() const override {
    std::size_t total = 0;
    for (const auto& model : models_) total += model->weights();
    return total;
  }
  std::vector<bd::Translation> score(std::span<const bd::SentencePair> pairs,
                                     std::size_t batch) const override {
    return bd::score_pairs(ensemble_, pairs, batch);
  }
  std::vector<std::vector<bd::Translation>> translate(std::span<const std::string> sentences,
                                                      const Search& search) const override {
    if (const auto* beam = std::get_if<bd::Beam>(&search))
      return bd::translate_nbest(ensemble_, sentences, *beam);
    std::vector<std::vector<bd::Translation>> out;
    for (bd::Translation& best : ensemble_.translate(sentences, std::get<bd::Greedy>(search)))
      out.emplace_back().push_back(std::move(best));
    return out;
  }

 private:
  std::vector<std::unique_ptr<FrozenModel>> models_;
  bd::Ensemble ensemble_;
};

}  // namespace

std::vector<std::filesystem::path> files_in(const std::filesystem::path& list) {
  const std::string names = list.string();
  if (std::filesystem::exists(list) || names.find(',') == names.npos) return {list};
  std::vector<std::filesystem::path> out;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (end == begin) bd::fail("--model", "files with commas between them", bd::detail::quote(names));
    out.emplace_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::unique_ptr<AnyModel> load_models(const std::filesystem::path& list) {
  const std::vector<std::filesystem::path> files = files_in(list);
  if (files.size() == 1) return load_any_model(files.front());
  std::vector<std::unique_ptr<FrozenModel>> models;
  std::vector<bd::EnsembleMember> members;
  for (const std::filesystem::path& file : files) {
    models.push_back(load_any_model(file));
    members.push_back(models.back()->member(file.string()));
  }
  bd::Ensemble ensemble(members);
  return std::make_unique<EnsembleModel>(std::move(models), std::move(ensemble));
}

}  // namespace cli
