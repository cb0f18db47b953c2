// error: bahdanau: `translate` is in decode/translate.hpp; include it, or bahdanau/bahdanau.hpp
#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/encoder_decoder.hpp>
#include <bahdanau/score/additive.hpp>

namespace bd = bahdanau;

auto translate(const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>& model) {
  return model.translate("go .");
}
