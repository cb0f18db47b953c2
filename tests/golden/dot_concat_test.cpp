#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE(
    "Dot, attending after the step, with a readout of state, context and token gives PyTorch's numbers",
    "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Gru, bd::Dot, TestType, bd::StepThenAttend, bd::ConcatReadout>>(
      "dot_concat");
}
