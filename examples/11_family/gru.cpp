// Models with the cell `Gru`: d2l's.
#include <bahdanau/models/d2l.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> gru_members() {
  return {member<bd::models::D2l<bd::Xtensor<float>>>("d2l", "gru, additive")};
}

}  // namespace family
