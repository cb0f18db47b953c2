#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("plain cells with attention give PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Rnn, bd::Additive, TestType>>("rnn");
}
