// shows: network.run(tape, input, encoding)
#include <string_view>

#include <bahdanau/model/encoder.hpp>

namespace bd = bahdanau;

struct Idle {
  static constexpr std::string_view name = "idle";
  static constexpr std::size_t directions = 1;
  template <class Cell>
  struct Network {
    Network(bd::Scope root, std::size_t vocabulary, const bd::Config& config);
  };
};
static_assert(bd::Encoder<Idle>);
