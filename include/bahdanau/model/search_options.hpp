// Where programs of 0.1 include `Greedy` and `Beam` from.
#pragma once

#include <bahdanau/decode/options.hpp>
