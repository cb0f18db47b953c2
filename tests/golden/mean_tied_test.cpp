#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("A mean bridge with tied embeddings gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<
      bd::EncoderDecoder<bd::Lstm, bd::Additive, TestType, bd::Bidirectional, bd::TanhReadout>>("mean_tied");
}
