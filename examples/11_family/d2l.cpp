// d2l's model.
#include <bahdanau/models/d2l.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> d2l_members() {
  return {member<bd::models::D2l<bd::Xtensor<float>>>("d2l", "gru, additive")};
}

}  // namespace family
