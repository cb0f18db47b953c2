// Models with the cell `Lstm`: that of Luong, Pham and Manning, whose query is the state after the step; that
// of Gehring et al., whose encoder is convolutional; and that of Sutskever, Vinyals and Le, without
// attention.
#include <bahdanau/models/gehring.hpp>
#include <bahdanau/models/luong.hpp>
#include <bahdanau/models/sutskever.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> lstm_members() {
  return {member<bd::models::Luong<bd::Xtensor<float>>>("luong", "lstm, general, input_feeding"),
          member<bd::models::Gehring<bd::Xtensor<float>>>("gehring", "lstm, general, convolutional(6,3)"),
          member<bd::models::Sutskever<bd::Xtensor<float>>>("sutskever", "lstm, plain, reversed sources")};
}

}  // namespace family
