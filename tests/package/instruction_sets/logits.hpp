// A model that is made by one file and used by another: one is compiled for every machine, the other for wide
// vectors.
#pragma once

#include <string>

#include <bahdanau/bahdanau.hpp>

using Model = bahdanau::EncoderDecoder<bahdanau::Gru, bahdanau::Additive, bahdanau::Xtensor<float>>;

namespace plain {
Model make();
bahdanau::Array<float, 3> logits(const Model& model);
std::string translation(const Model& model);
}  // namespace plain
namespace wide {
Model make();
bahdanau::Array<float, 3> logits(const Model& model);
std::string translation(const Model& model);
}  // namespace wide
