#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Nematus gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::models::Nematus<TestType>>("nematus");
}
