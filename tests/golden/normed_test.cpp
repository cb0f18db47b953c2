#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("a normalised GRU with residual connections gives PyTorch's numbers", "[golden][norm]",
                   TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::LayerNorm<bd::Gru>, bd::Additive, TestType, bd::Bidirectional>>(
      "normed_gru");
}

TEMPLATE_TEST_CASE("a normalised LSTM gives PyTorch's numbers", "[golden][norm]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::LayerNorm<bd::Lstm>, bd::General, TestType>>("normed_lstm");
}
