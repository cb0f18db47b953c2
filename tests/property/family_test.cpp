// What random cases ask of d2l's models, asked of the family: each policy that is built in, in a model at
// least.
#include <bahdanau/bahdanau.hpp>

#include "property/training_property.hpp"

namespace bd = bahdanau;
using bd::test::Drawn;
using bd::test::RandomCase;

namespace {

using B = bd::test::Watched<double>;

/// RNNsearch with local attention; all bridges.
struct Searching : Drawn<bd::EncoderDecoder<bd::GruResetBefore, bd::Local<bd::General, 2>, B,
                                            bd::Bidirectional, bd::DeepOutput<5>>> {
  static RandomCase fitted(RandomCase c) {
    c.tied = false;
    return c;
  }
};

/// Luong's, of normed cells.
using Feeding = Drawn<bd::EncoderDecoder<bd::LayerNorm<bd::Lstm>, bd::General, B, bd::InputFeeding>>;

/// Nematus with coverage; all bridges, tied or not.
struct Covering : Drawn<bd::EncoderDecoder<bd::Gru, bd::Coverage<bd::Additive>, B, bd::Bidirectional,
                                           bd::Conditional, bd::TanhReadout>> {
  static RandomCase fitted(RandomCase c) { return c; }
};

/// Gehring's with two heads. Its encoder has no last states, so that there is nothing to step over padding.
struct Convolving
    : Drawn<bd::EncoderDecoder<bd::Lstm, bd::MultiHead<bd::ScaledDot, 2>, B, bd::Convolutional<2, 3>>> {
  static RandomCase fitted(RandomCase c) {
    c = Drawn::fitted(c);
    c.hidden += c.hidden % 2;
    c.padded = false;
    return c;
  }
};

/// Luong's without feeding, of plain cells.
using Attending = Drawn<bd::EncoderDecoder<bd::Rnn, bd::Dot, B, bd::StepThenAttend, bd::ConcatReadout>>;

/// Cho's.
using Summed = Drawn<bd::EncoderDecoder<bd::GruResetBefore, bd::NoScore, B, bd::FixedContext,
                                        bd::DeepOutput<4, bd::OutputState::after>>>;

/// Sutskever's, of plain cells; tied or not.
struct Plain : Drawn<bd::EncoderDecoder<bd::Rnn, bd::NoScore, B, bd::Plain>> {
  static RandomCase fitted(RandomCase c) {
    c.bridge = bd::Bridge::both;
    if (c.tied) c.embed = c.hidden;
    return c;
  }
};

}  // namespace

TEST_CASE("the family: a batch's gradient is the sum over its rows, and threads change no bit",
          "[property][family][gradient][threads][bits]") {
  bd::test::try_models<Searching, Feeding, Covering, Convolving, Attending, Summed, Plain>("the family", 0.2);
}
