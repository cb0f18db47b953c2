// error: bahdanau: the first argument of EncoderDecoder is not a cell; use Gru, GruResetBefore, Lstm, Rnn,
// LayerNorm<Gru>, or a struct X of your own: static_assert(bahdanau::Cell<X>) shows what it lacks,
// docs/own_model.md has one
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

// The two policies the wrong way round.
using Model = bd::EncoderDecoder<bd::Additive, bd::Gru, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
