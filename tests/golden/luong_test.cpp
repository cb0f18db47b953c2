#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Luong's model gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::models::Luong<TestType>>("luong");
}

TEMPLATE_TEST_CASE("Luong's model with residual connections gives PyTorch's numbers", "[golden][residual]",
                   TEST_BACKENDS) {
  golden::check_family<bd::models::Luong<TestType>>("residual_luong");
}
