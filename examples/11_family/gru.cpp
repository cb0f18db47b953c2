// Models with the cell `Gru`: d2l's, and Nematus's with two cells in a row.
#include <bahdanau/models/d2l.hpp>
#include <bahdanau/models/nematus.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> gru_members() {
  return {member<bd::models::D2l<bd::Xtensor<float>>>("d2l", "gru, additive"),
          member<bd::models::Nematus<bd::Xtensor<float>>>(
              "nematus", "gru, additive, bidirectional, conditional, tanh, tied")};
}

}  // namespace family
