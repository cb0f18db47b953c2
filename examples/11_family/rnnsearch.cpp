// Bahdanau, Cho and Bengio's: both directions, and a maxout layer that reads the state before the step.
#include <bahdanau/models/rnn_search.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> rnnsearch_members() {
  using Here =
      Model<bd::GruResetBefore, bd::Additive, bd::Bidirectional, bd::AttendThenStep, bd::DeepOutput<maxout>>;
  return {member<Here, bd::models::RnnSearch<bd::Xtensor<float>>>(
      "rnnsearch", "gru_reset_before, additive, bidirectional, deep(128)")};
}

}  // namespace family
