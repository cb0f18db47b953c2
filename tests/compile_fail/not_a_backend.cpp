// error: bahdanau: the third argument of EncoderDecoder is not a backend; use Xtensor<float>,
// Xtensor<double>, or a struct that models bahdanau::Backend (backend/backend.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, float>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
