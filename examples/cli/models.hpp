// Where models come from, and the functions that make them, one for each cell and each paper.
// They are declared here and compiled in models_<name>.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <variant>

#include "any_model.hpp"

namespace cli {

struct FromFile {
  std::filesystem::path path;
  template <class Model>
  std::unique_ptr<AnyModel> make() const;
};
struct FromSeed {
  const bd::Config& config;
  const bd::Vocabularies& vocabularies;
  std::uint64_t seed;
  FirstWeights first;
  template <class Model>
  std::unique_ptr<AnyModel> make() const;
};
using Origin = std::variant<FromFile, FromSeed>;

/// A model with that cell, and with the score and the encoder of these names.
template <class Cell>
std::unique_ptr<AnyModel> model_with(std::string_view where, const PolicyNames& names, const Origin& origin);

/// The model of a paper, one of `Papers` (policies.hpp).
template <class Paper>
std::unique_ptr<AnyModel> model_of_paper(const Origin& origin);

}  // namespace cli
