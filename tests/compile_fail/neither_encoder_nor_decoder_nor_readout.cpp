// error: bahdanau: behind the backend, EncoderDecoder takes an encoder, a decoder and a readout, in any
// order, and this is none of them; use Bidirectional, InputFeeding, TanhReadout and the like, or a struct
// X of your own: static_assert(bahdanau::Encoder<X>), Decoder<X> or Readout<X> shows what it lacks,
// docs/own_model.md has one of each
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Bidirectional, bd::Gru>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
