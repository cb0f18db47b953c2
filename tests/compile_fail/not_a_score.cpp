// error: bahdanau: the second argument of EncoderDecoder is not a score; use Additive, ScaledDot, Dot,
// General, or a struct X of your own: static_assert(bahdanau::Score<X>) shows what it lacks,
// docs/own_model.md has one
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Multiplicative {};
using Model = bd::EncoderDecoder<bd::Gru, Multiplicative, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
