// shows: R::width(sizes)
#include <string_view>

#include <bahdanau/model/readout.hpp>

namespace bd = bahdanau;

struct Boundless {
  static constexpr std::string_view name = "boundless";
  static constexpr bd::ReadoutInputs reads{};
  struct Weights {};
  static Weights declare(bd::Scope scope, const bd::ReadoutSizes& sizes);
  template <bd::Backend B>
  static bd::Variable<B> features(const Weights& weights, const bd::Features<B>& features);
};
static_assert(bd::Readout<Boundless>);
