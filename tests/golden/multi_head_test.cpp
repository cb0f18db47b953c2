#include <string>

#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

namespace {

/// What PyTorch's heads attend to, each by itself.
template <class Model>
void check_heads(const std::string& name) {
  const Model model = Model::load(golden::golden_path(name + ".model.safetensors"));
  const auto expected = bd::SafetensorsFile::open(golden::golden_path(name + ".expected.safetensors"));
  const auto heads = model.forward(golden::golden_batch(expected)).heads;
  CHECK(golden::difference(heads, expected, "heads").largest <=
        golden::Tolerance<typename Model::Scalar>::outputs);
}

}  // namespace

TEMPLATE_TEST_CASE("attention of several heads gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  using Model = bd::EncoderDecoder<bd::Gru, bd::MultiHead<bd::ScaledDot, 2>, TestType>;
  golden::check_family<Model>("multi_head");
  check_heads<Model>("multi_head_l1");
}

TEMPLATE_TEST_CASE("several heads over keys of another width give PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  using Model = bd::EncoderDecoder<bd::Lstm, bd::MultiHead<bd::ScaledDot, 2>, TestType, bd::Bidirectional,
                                   bd::ConcatReadout>;
  golden::check_family<Model>("multi_head_bi");
  check_heads<Model>("multi_head_bi_l3");
}
