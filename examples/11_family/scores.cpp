// d2l's model with scores that change another: a window, a memory, several heads.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/coverage.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> score_members() {
  return {
      member<Model<bd::Gru, bd::Local<bd::General, 10>>>("local", "gru, local(general,10)"),
      member<Model<bd::Gru, bd::Coverage<bd::Additive>>>("coverage", "gru, coverage(additive)"),
      member<Model<bd::Gru, bd::MultiHead<bd::ScaledDot, 4>>>("multi-head", "gru, multi_head(scaled_dot,4)")};
}

}  // namespace family
