#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

template <class Backend>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend, bd::Bidirectional>;

TEMPLATE_TEST_CASE("Gru with Additive and an encoder of both directions gives PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  golden::check_agreement<Model<TestType>>("gru_additive_bi");
}

TEMPLATE_TEST_CASE("Gru with Additive, both directions and residual connections gives PyTorch's numbers",
                   "[golden][residual]", TEST_BACKENDS) {
  golden::check_family<Model<TestType>>("residual_gru");
}
