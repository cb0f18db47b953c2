// Where programs of 0.1 include `EncoderDecoder` from.
#pragma once

#include <bahdanau/encoder_decoder.hpp>
