// error: bahdanau: this score (ScaledDot, say) needs keys as wide as queries, but a Bidirectional encoder
// makes keys twice as wide; use Additive or General, or a Unidirectional encoder
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Local<bd::Dot, 5>, bd::Xtensor<float>, bd::Bidirectional>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
