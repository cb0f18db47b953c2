// Luong, Pham and Manning's: the query is the state after the step, and what was attended to is fed back.
#include <bahdanau/models/luong.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> luong_members() {
  return {member<bd::models::Luong<bd::Xtensor<float>>>("luong", "lstm, general, input_feeding")};
}

}  // namespace family
