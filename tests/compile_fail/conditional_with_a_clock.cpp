// error: bahdanau: this decoder (Conditional, say) steps a cell twice per token, and this cell says that its
// steps count tokens (one_step_per_token); use AttendThenStep or InputFeeding, or another cell
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// A cell whose step depends on how many tokens it has read.
struct Clock : bd::Gru {
  static constexpr bool one_step_per_token = true;
};
static_assert(bd::Cell<Clock>);

using Model = bd::EncoderDecoder<Clock, bd::Additive, bd::Xtensor<float>, bd::Conditional>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
