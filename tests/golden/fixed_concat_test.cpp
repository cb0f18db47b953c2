#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE(
    "a fixed context, behind two directions and in a readout of all three, gives PyTorch's numbers",
    "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Gru, bd::NoScore, TestType, bd::Bidirectional, bd::FixedContext,
                                          bd::ConcatReadout>>("fixed_concat");
}
