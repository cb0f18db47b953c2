#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("RNNsearch gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<
      bd::EncoderDecoder<bd::GruResetBefore, bd::Additive, TestType, bd::Bidirectional, bd::DeepOutput<3>>>(
      "rnnsearch");
}
