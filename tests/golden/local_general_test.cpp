#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Luong's model with local attention gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Lstm, bd::Local<bd::General, 2>, TestType, bd::InputFeeding>>(
      "local_general");
}
