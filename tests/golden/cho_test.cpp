#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Cho's model gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::GruResetBefore, bd::NoScore, TestType, bd::FixedContext,
                                          bd::DeepOutput<3, bd::OutputState::after>>>("cho");
}
