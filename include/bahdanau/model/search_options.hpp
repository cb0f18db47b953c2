// Where programs of 0.1 include `Greedy` and `Beam` from.
// They are in decode/options.hpp, as a model knows nothing of searches.
#pragma once

#include <bahdanau/decode/options.hpp>
