// shows: S::prepare(weights, keys)
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bd = bahdanau;

struct Lazy {
  static constexpr std::string_view name = "lazy";
  static constexpr bool needs_equal_widths = false;
  struct Weights {};
  static Weights declare(bd::Scope, bd::ScoreWidths);
  template <bd::Backend B>
  static bd::Variable<B> scores(const Weights&, const bd::Variable<B>& query, const bd::Variable<B>& prepared,
                                const bd::SpanView<B>& spans);
};
static_assert(bd::Score<Lazy>);
