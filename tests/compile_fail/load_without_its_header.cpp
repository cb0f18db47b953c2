// error: bahdanau: `save` and `load` are in io/model_file.hpp; include it, or bahdanau/bahdanau.hpp
#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/encoder_decoder.hpp>
#include <bahdanau/score/additive.hpp>

namespace bd = bahdanau;

auto load() { return bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>::load("a.safetensors"); }
