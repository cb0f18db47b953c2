// Where programs of 0.1 include `EncoderDecoder` from.
// It is in bahdanau/encoder_decoder.hpp, as it brings translation and files along.
#pragma once

#include <bahdanau/encoder_decoder.hpp>
