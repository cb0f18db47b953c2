// The policies that the tool knows, and the way from a name to a type.
// A score or an encoder of one's own joins the tool by being added to its list; a cell or an architecture
// needs a models_<name>.cpp too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/models/cho.hpp>
#include <bahdanau/models/d2l.hpp>
#include <bahdanau/models/luong.hpp>
#include <bahdanau/models/rnn_search.hpp>
#include <bahdanau/models/sutskever.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

namespace cli {

namespace bd = bahdanau;

/// Policies of one family, told apart by the `name` that a model file gives them.
template <class... Policies>
struct OneOf {};

#ifdef BAHDANAU_CLI_GRU_ALONE  // half the time to compile, for a quick run of the tests
using Cells = OneOf<bd::Gru>;
#else
using Cells = OneOf<bd::Gru, bd::Lstm>;
#endif
using Scores = OneOf<bd::Additive, bd::ScaledDot>;
using Encoders = OneOf<bd::Unidirectional, bd::Bidirectional>;

/// Whole models, each from a paper; "d2l" is any cell, score and encoder of the lists above.
struct D2l {
  static constexpr std::string_view name = "d2l";
  using Model = bd::models::D2l<bd::Xtensor<float>>;
};
struct RnnSearch {
  static constexpr std::string_view name = "rnnsearch";
  using Model = bd::models::RnnSearch<bd::Xtensor<float>>;
};
struct Luong {
  static constexpr std::string_view name = "luong";
  using Model = bd::models::Luong<bd::Xtensor<float>>;
};
struct Sutskever {
  static constexpr std::string_view name = "sutskever";
  using Model = bd::models::Sutskever<bd::Xtensor<float>>;
};
struct Cho {
  static constexpr std::string_view name = "cho";
  using Model = bd::models::Cho<bd::Xtensor<float>>;
};
#ifdef BAHDANAU_CLI_GRU_ALONE
using Papers = OneOf<>;
#else
using Papers = OneOf<RnnSearch, Luong, Sutskever, Cho>;
#endif

/// The names of a family, in their order.
template <class... Policies>
std::vector<std::string> names(OneOf<Policies...>) {
  return {std::string(Policies::name)...};
}

/// Calls `use<Policy>()` for the policy of that name; throws, with the choices, if there is none.
template <class... Policies, class Use>
void choose(OneOf<Policies...>, std::string_view where, std::string_view family, std::string_view name,
            [[maybe_unused]] Use use) {
  if (((name == Policies::name && (use.template operator()<Policies>(), true)) || ...)) return;
  std::string choices;
  ((choices += (choices.empty() ? "" : ", ") + bd::detail::quote(Policies::name)), ...);
  bd::fail(where, std::string(family) + " (one of " + choices + ")", bd::detail::quote(name));
}

/// Calls `use<Score, Encoder>()` for the policies of these names; throws for names that are unknown, and for
/// policies that do not fit together.
template <class Use>
void choose_score_and_encoder(std::string_view where, std::string_view score, std::string_view encoder,
                              Use use) {
  choose(Scores{}, where, "a score", score, [&]<class Score>() {
    choose(Encoders{}, where, "an encoder", encoder, [&]<class Encoder>() {
      // What the compiler refuses must not be compiled: here it becomes an error of the run.
      if constexpr (Score::needs_equal_widths && Encoder::directions > 1) {
        bd::fail(where, "a score for keys wider than queries", bd::detail::quote(Score::name),
                 "a bidirectional encoder goes with \"additive\"");
      } else {
        use.template operator()<Score, Encoder>();
      }
    });
  });
}

}  // namespace cli
