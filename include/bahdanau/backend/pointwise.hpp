// Where programs of 0.1 include pointwise maths from.
// It is in kernel/pointwise.hpp, as all backends share it.
#pragma once

#include <bahdanau/kernel/pointwise.hpp>
