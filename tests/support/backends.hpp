// The backends that typed tests run on, as the arguments of TEMPLATE_TEST_CASE.
#pragma once

#include <bahdanau/backend/xtensor.hpp>

#define TEST_BACKENDS bahdanau::Xtensor<float>, bahdanau::Xtensor<double>
