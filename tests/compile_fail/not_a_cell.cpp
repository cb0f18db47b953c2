// error: bahdanau: the first argument of EncoderDecoder is not a cell; use Gru, GruResetBefore, Lstm, Rnn,
// LayerNorm<Gru>, or a struct X of your own: static_assert(bahdanau::Cell<X>) shows what it lacks,
// docs/own_model.md has one
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Transformer {};
using Model = bd::EncoderDecoder<Transformer, bd::Additive, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
