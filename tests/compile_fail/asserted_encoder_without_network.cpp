// shows: Network
#include <string_view>

#include <bahdanau/model/encoder.hpp>

namespace bd = bahdanau;

struct Names {
  static constexpr std::string_view name = "names";
  static constexpr std::size_t directions = 1;
};
static_assert(bd::Encoder<Names>);
