// shows: S::scores(weights, query, keys, spans)
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bd = bahdanau;

struct Lazy {
  static constexpr std::string_view name = "lazy";
  static constexpr bool needs_equal_widths = false;
  struct Weights {};
  static Weights declare(bd::Scope, bd::ScoreWidths);
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights&, const bd::Variable<B>& keys);
};
static_assert(bd::Score<Lazy>);
