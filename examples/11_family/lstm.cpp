// Models with the cell `Lstm`: that of Luong, Pham and Manning, whose query is the state after the step.
#include <bahdanau/models/luong.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> lstm_members() {
  return {member<bd::models::Luong<bd::Xtensor<float>>>("luong", "lstm, general, input_feeding")};
}

}  // namespace family
