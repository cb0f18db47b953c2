// bahdanau: recurrent encoder-decoder models with attention.
// This header includes the whole library but the GPU backend, MPI and SentencePiece; each header also stands
// alone.
#pragma once

#if !defined(__GNUC__)
#error "bahdanau needs g++ or clang++: its kernels are written with their vectors"
#endif
#if __cplusplus < 202002L
#error "bahdanau needs C++20: compile with -std=c++20 or later"
#endif

#include <bahdanau/align/error_rate.hpp>
#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/align/symmetrize.hpp>
#include <bahdanau/autograd/gradcheck.hpp>
#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/gru_reset_before.hpp>
#include <bahdanau/cell/layer_norm.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/cell/rnn.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/decode/forced.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/distributed/communicator.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/ensemble.hpp>
#include <bahdanau/frozen.hpp>
#include <bahdanau/io/average.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/io/start_from.hpp>
#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/metric/chrf.hpp>
#include <bahdanau/metric/error_rate.hpp>
#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/exact_match.hpp>
#include <bahdanau/metric/perplexity.hpp>
#include <bahdanau/metric/rouge.hpp>
#include <bahdanau/metric/ter.hpp>
#include <bahdanau/model/attention.hpp>
#include <bahdanau/model/attention_decoder.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/conditional.hpp>
#include <bahdanau/model/convolutional.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/model/hidden_readouts.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/model/step_then_attend.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/models/cho.hpp>
#include <bahdanau/models/d2l.hpp>
#include <bahdanau/models/gehring.hpp>
#include <bahdanau/models/luong.hpp>
#include <bahdanau/models/nematus.hpp>
#include <bahdanau/models/rnn_search.hpp>
#include <bahdanau/models/sutskever.hpp>
#include <bahdanau/plot/curve.hpp>
#include <bahdanau/plot/diagram.hpp>
#include <bahdanau/plot/heatmap.hpp>
#include <bahdanau/plot/page.hpp>
#include <bahdanau/plot/report.hpp>
#include <bahdanau/plot/terminal.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/coverage.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>
#include <bahdanau/score/multi_head.hpp>
#include <bahdanau/score/no_score.hpp>
#include <bahdanau/score/scaled_dot.hpp>
#include <bahdanau/session.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/text/vocabulary.hpp>
#include <bahdanau/train/corpus_file.hpp>
#include <bahdanau/train/trainer.hpp>
#include <bahdanau/train/training.hpp>
#include <bahdanau/translator.hpp>
#include <bahdanau/version.hpp>
