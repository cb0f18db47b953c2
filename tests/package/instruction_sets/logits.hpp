// The logits of one model, computed by a file that is compiled for every machine and by one for wide vectors.
#pragma once

#include <bahdanau/core/array.hpp>

bahdanau::Array<float, 3> plain_logits();
bahdanau::Array<float, 3> wide_logits();
