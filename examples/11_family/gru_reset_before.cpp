// Models with the cell of 2014 and 2015: that of Bahdanau, Cho and Bengio, whose maxout layer reads the state
// before the step, and that of Cho et al., which has one context for all steps.
#include <bahdanau/models/cho.hpp>
#include <bahdanau/models/rnn_search.hpp>

#include "train.hpp"

namespace family {

std::vector<Member> gru_reset_before_members() {
  using Backend = bd::Xtensor<float>;
  using RnnSearch =
      Model<bd::GruResetBefore, bd::Additive, bd::Bidirectional, bd::AttendThenStep, bd::DeepOutput<maxout>>;
  using Cho = Model<bd::GruResetBefore, bd::NoScore, bd::FixedContext,
                    bd::DeepOutput<maxout, bd::OutputState::after>>;
  return {member<RnnSearch, bd::models::RnnSearch<Backend>>(
              "rnnsearch", "gru_reset_before, additive, bidirectional, deep(128)"),
          member<Cho, bd::models::Cho<Backend>>("cho", "gru_reset_before, fixed_context, deep(128,after)")};
}

}  // namespace family
