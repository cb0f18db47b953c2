#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Sutskever's model gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::models::Sutskever<TestType>>("sutskever");
}
