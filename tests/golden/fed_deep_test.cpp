#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Input feeding with a deep output after the step gives PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::GruResetBefore, bd::General, TestType, bd::Bidirectional,
                                          bd::InputFeeding, bd::DeepOutput<3, bd::OutputState::after>>>(
      "fed_deep");
}
