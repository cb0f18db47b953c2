// The models that the table is about.
#pragma once

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/models/gehring.hpp>
#include <bahdanau/models/luong.hpp>
#include <bahdanau/models/nematus.hpp>
#include <bahdanau/models/rnn_search.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/coverage.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>
#include <bahdanau/score/multi_head.hpp>
#include <bahdanau/score/no_score.hpp>
#include <bahdanau/score/scaled_dot.hpp>

namespace benchmark {

namespace bd = bahdanau;

using GruAdditive = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
using GruAdditiveBidirectional =
    bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Bidirectional>;
using GruCoverage = bd::EncoderDecoder<bd::Gru, bd::Coverage<bd::Additive>, bd::Xtensor<float>>;
using GruFourHeads = bd::EncoderDecoder<bd::Gru, bd::MultiHead<bd::ScaledDot, 4>, bd::Xtensor<float>>;
using GruLocal = bd::EncoderDecoder<bd::Gru, bd::Local<bd::General, 10>, bd::Xtensor<float>>;
using GruScaledDot = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<float>>;
using LstmAdditive = bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>>;

// Without attention: the cells of a whole target are known before its first step.
using Plain = bd::EncoderDecoder<bd::Lstm, bd::NoScore, bd::Xtensor<float>, bd::Plain>;
using FixedContext = bd::EncoderDecoder<bd::Gru, bd::NoScore, bd::Xtensor<float>, bd::FixedContext>;

using Gehring = bd::models::Gehring<bd::Xtensor<float>>;
using Luong = bd::models::Luong<bd::Xtensor<float>>;
using Nematus = bd::models::Nematus<bd::Xtensor<float>>;
using RnnSearch = bd::models::RnnSearch<bd::Xtensor<float>>;

}  // namespace benchmark
