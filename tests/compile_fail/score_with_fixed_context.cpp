// error: bahdanau: this decoder (Plain, say) does not attend, so that nothing would ask this score; use
// NoScore, or a decoder that attends, AttendThenStep say
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::General, bd::Xtensor<float>, bd::FixedContext>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
