// Models with the cell of 2014 and 2015: that of Bahdanau, Cho and Bengio, whose maxout layer reads the state
// before the step.
#include <bahdanau/models/rnn_search.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> gru_reset_before_members() {
  using Here =
      Model<bd::GruResetBefore, bd::Additive, bd::Bidirectional, bd::AttendThenStep, bd::DeepOutput<maxout>>;
  return {member<Here, bd::models::RnnSearch<bd::Xtensor<float>>>(
      "rnnsearch", "gru_reset_before, additive, bidirectional, deep(128)")};
}

}  // namespace family
