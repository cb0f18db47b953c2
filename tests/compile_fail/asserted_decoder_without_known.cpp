// shows: network.known(tokens)
#include <span>
#include <string_view>

#include <bahdanau/model/stacked_cells.hpp>

namespace bd = bahdanau;

struct Unknowing {
  static constexpr std::string_view name = "unknowing";
  static constexpr bool attends_before_step = false;
  template <class Cell>
  struct Network {
    template <bd::Backend B>
    using State = bd::StackedState<Cell, B>;
    Network(bd::Scope scope, const bd::DecoderSizes& sizes);
    std::size_t output_width() const;
    template <bd::Backend B>
    void start(bd::Tape<B>&, std::span<const bd::CellState<Cell, B>> first, State<B>& state) const;
  };
};
static_assert(bd::Decoder<Unknowing>);
