// A model whose policies are only known when the program runs: its file names them.
// Every combination is compiled; the names in the file choose one of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <bahdanau/bahdanau.hpp>

namespace cli {

namespace bd = bahdanau;

/// Policies of one family, told apart by the `name` that a model file gives them.
template <class... Policies>
struct OneOf {};

using Cells = OneOf<bd::Gru, bd::Lstm>;
using Scores = OneOf<bd::Additive, bd::ScaledDot>;
using Encoders = OneOf<bd::Unidirectional, bd::Bidirectional>;

/// Calls `use<Policy>()` for the policy of that name; throws, with the choices, if there is none.
template <class... Policies, class Use>
void choose(OneOf<Policies...>, std::string_view where, std::string_view family, std::string_view name,
            Use use) {
  if (((name == Policies::name && (use.template operator()<Policies>(), true)) || ...)) return;
  std::string choices;
  ((choices += (choices.empty() ? "" : ", ") + bd::detail::quote(Policies::name)), ...);
  bd::fail(where, std::string(family) + " (one of " + choices + ")", bd::detail::quote(name));
}

/// Loads a model file and calls `visitor(model)` with an `EncoderDecoder` of the policies that it names.
/// Throws, with the path, for a file that is no model, and for policies that are unknown or do not fit
/// together.
template <class Visitor>
void visit_model(const std::filesystem::path& path, Visitor visitor) {
  const auto description = bd::ModelDescription::read(bd::SafetensorsFile::open(path));
  const std::string where = path.string();
  choose(Cells{}, where, "a cell", description.cell, [&]<class Cell>() {
    choose(Scores{}, where, "a score", description.score, [&]<class Score>() {
      choose(Encoders{}, where, "an encoder", description.encoder, [&]<class Encoder>() {
        if constexpr (Score::needs_equal_widths && Encoder::directions > 1) {
          bd::fail(where, "a score for keys wider than queries", bd::detail::quote(Score::name),
                   "a bidirectional encoder goes with \"additive\"");
        } else {
          visitor(bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>, Encoder>::load(path));
        }
      });
    });
  });
}

}  // namespace cli
