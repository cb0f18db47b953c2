// Scheduled sampling: how the teacher's share falls, what the decoder reads then, and what it does not
// change.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace {

namespace bd = bahdanau;
using namespace bd::test;
using bd::ScheduledSampling;
using Decay = ScheduledSampling::Decay;
using Choice = ScheduledSampling::Choice;
using B = TestBackend<double>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B>;

Model small_model(float dropout = 0) {
  bd::Config config{.embed = 5, .hidden = 6, .layers = 2, .dropout = dropout};
  config.embedding_dropout = dropout;
  config.dropout_masks = bd::DropoutMasks::per_sequence;
  return Model(config, small_vocabularies(), 7);
}

/// Always the same share of true tokens.
ScheduledSampling constant(double teacher, Choice choice) {
  return {.decay = Decay::linear, .k = teacher, .choice = choice};
}

/// What the decoder of a model reads, row after row, `<pad>` behind the ends; some rows of a batch.
std::vector<bd::Token> inputs_of(const Model& model, const bd::Batch& batch, bd::RowRange rows,
                                 double teacher, Choice choice) {
  using Mode = bd::Tape<B>::Mode;
  bd::Tape<B> tape(Mode::infer), quiet(Mode::infer);
  bd::bind(tape, model.weights());
  bd::bind(quiet, model.weights());
  Model::Scratch scratch;
  scratch.sampling = {&quiet, teacher, bd::random::Key{11}, choice};
  model.objective(tape, batch, rows, {}, scratch);
  const std::size_t width = batch.target.width();
  std::vector<bd::Token> read(rows.count * width, bd::reserved::pad);
  scratch.pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
    read[sentence * width + t] = scratch.pass.ids[row];
  });
  return read;
}

/// The weights after some steps on one batch, and the loss of the last one.
std::pair<std::vector<double>, double> trained(const ScheduledSampling& sampling, std::size_t threads,
                                               float dropout = 0.3F) {
  Model model = small_model(dropout);
  bd::Training<Model> training(model, bd::Adam{.rate = 0.02},
                               {.clip = 1, .threads = threads, .scheduled_sampling = sampling});
  const bd::Batch batch{random_sequences(70, 6, 9, 1), random_sequences(70, 6, 10, 2)};
  bd::Loss loss;
  for (int step = 0; step < 4; ++step) {
    loss = training.loss(batch);
    training.backward();
    training.step();
    training.evaluate(batch);  // which uses the same tapes
  }
  return {model.weights().read(), loss.sum};
}

}  // namespace

TEST_CASE("the teacher's share falls as the paper says", "[sampling]") {
  CHECK(ScheduledSampling{}.teacher(1000) == 1);
  const ScheduledSampling linear{.decay = Decay::linear, .k = 0.9, .slope = 0.01, .least = 0.25};
  CHECK(linear.teacher(0) == 0.9);
  CHECK(linear.teacher(30) == Approx(0.6));
  CHECK(linear.teacher(1000) == 0.25);
  const ScheduledSampling exponential{.decay = Decay::exponential, .k = 0.5};
  CHECK(exponential.teacher(0) == 1);
  CHECK(exponential.teacher(3) == 0.125);
  const ScheduledSampling sigmoid{.decay = Decay::inverse_sigmoid, .k = 10};
  CHECK(sigmoid.teacher(0) == Approx(10.0 / 11));
  CHECK(sigmoid.teacher(20) == Approx(10 / (10 + std::exp(2.0))));
  CHECK(sigmoid.teacher(1000000) == 0);
}

TEST_CASE("without a teacher the decoder reads its own greedy tokens", "[sampling]") {
  const Model model = small_model();
  const bd::Batch batch = ragged_batch();
  const std::size_t rows = batch.target.rows(), width = batch.target.width();
  const auto read = inputs_of(model, batch, {0, rows}, 0, Choice::best);
  auto state = model.init_state(model.encode(batch.source));
  std::vector<bd::Token> tokens(rows, bd::reserved::bos);
  std::size_t own = 0;
  for (std::size_t t = 0; t < width; ++t) {
    for (std::size_t b = 0; b < rows; ++b)
      if (t < static_cast<std::size_t>(batch.target.lengths[b])) {
        CHECK(read[b * width + t] == tokens[b]);
        own += t > 0 && tokens[b] != batch.target.tokens(b, t - 1) ? 1U : 0U;
      }
    const auto logits = model.step(tokens, state);
    for (std::size_t b = 0; b < rows; ++b) {
      const double* first = logits.data() + b * logits.shape(1);
      tokens[b] = static_cast<bd::Token>(std::max_element(first, first + logits.shape(1)) - first);
    }
  }
  CHECK(own > 0);  // some of them are not the true ones
}

TEST_CASE("with a teacher the decoder reads the true tokens", "[sampling]") {
  const Model model = small_model();
  const bd::Batch batch = ragged_batch();
  const auto read = inputs_of(model, batch, {0, batch.target.rows()}, 1, Choice::drawn);
  for (std::size_t b = 0; b < batch.target.rows(); ++b)
    for (std::size_t t = 0; t < static_cast<std::size_t>(batch.target.lengths[b]); ++t)
      CHECK(read[b * batch.target.width() + t] ==
            (t == 0 ? bd::reserved::bos : batch.target.tokens(b, t - 1)));
}

TEST_CASE("what a row reads does not depend on the rows beside it", "[sampling]") {
  const Model model = small_model();
  const bd::Batch batch{random_sequences(9, 6, 9, 1), random_sequences(9, 6, 10, 2)};
  for (const Choice choice : {Choice::best, Choice::drawn}) {
    const auto all = inputs_of(model, batch, {0, 9}, 0.4, choice);
    std::vector<bd::Token> parts;
    for (const bd::RowRange rows : {bd::RowRange{0, 4}, bd::RowRange{4, 1}, bd::RowRange{5, 4}}) {
      const auto some = inputs_of(model, batch, rows, 0.4, choice);
      parts.insert(parts.end(), some.begin(), some.end());
    }
    CHECK(parts == all);
  }
}

TEST_CASE("tokens are drawn as often as they are probable", "[sampling][ops]") {
  constexpr std::size_t count = 20000, cols = 150;  // more than two of the blocks in which sums are taken
  std::vector<double> logits(count * cols, -1e9), shares;
  for (std::size_t r = 0; r < count; ++r) {
    logits[r * cols + 3] = std::log(0.2);
    logits[r * cols + 70] = std::log(0.5);
    logits[r * cols + 149] = std::log(0.3);
    shares.push_back(bd::random::Key{5}.uniform(r));
  }
  bd::Tape<B> tape(bd::Tape<B>::Mode::infer);
  bd::Index* ids = tape.allocate_indices(count);
  bd::draw_of_rows(tape.constant({count, cols}, logits), tape.constant({count}, shares), ids);
  std::vector<double> seen(cols);
  for (const bd::Index id : on_host<B>(ids, count)) seen[static_cast<std::size_t>(id)] += 1.0 / count;
  CHECK(std::abs(seen[3] - 0.2) < 0.015);
  CHECK(std::abs(seen[70] - 0.5) < 0.015);
  CHECK(std::abs(seen[149] - 0.3) < 0.015);
  CHECK(seen[3] + seen[70] + seen[149] == Approx(1));  // nothing that has no probability
}

TEST_CASE("a share of 1 trains as teacher forcing does, others differ, whatever the threads", "[sampling]") {
  const auto plain = trained({}, 1);
  CHECK(trained(constant(1, Choice::drawn), 2) == plain);
  for (const Choice choice : {Choice::best, Choice::drawn}) {
    const auto sampled = trained(constant(0.5, choice), 1);
    CHECK(std::isfinite(sampled.second));
    CHECK(sampled.first != plain.first);
    if constexpr (std::is_same_v<B, bd::Xtensor<double>>) {
      CHECK(trained(constant(0.5, choice), 2) == sampled);
      CHECK(trained(constant(0.5, choice), 3) == sampled);
    }
  }
}

TEST_CASE("a training with scheduled sampling is resumed with the same bits, and with the same settings",
          "[sampling][checkpoint]") {
  const bd::Corpus corpus = bd::Corpus::from_pairs(small_pairs(), {.max_length = 6});
  const TemporaryDirectory folder;
  const auto train = [&](std::size_t epochs, double slope, bd::TrainerOptions options) {
    Model model({.embed = 5, .hidden = 6, .layers = 1, .dropout = 0.2F}, corpus.vocabularies(), 3);
    options.epochs = epochs;
    options.batch = 8;
    options.progress = bd::Progress::silent;
    options.scheduled_sampling = {.decay = Decay::linear, .slope = slope, .least = 0.2};
    bd::Trainer(model, bd::Adam{.rate = 0.02}, options).fit(corpus);
    return model.weights().read();
  };
  const auto whole = train(6, 0.1, {.threads = 1});
  const auto checkpoint = folder / "c.checkpoint";
  train(2, 0.1, {.threads = 2, .checkpoint = checkpoint, .checkpoint_seconds = 0});
  const bd::TrainerOptions resume{
      .threads = 3, .checkpoint = checkpoint, .checkpoint_seconds = 0, .resume = true};
  CHECK(message_of([&] { train(6, 0.2, resume); })
            .find("scheduled_sampling linear, k 1, slope 0.1, least 0.2, drawn, as when the checkpoint was "
                  "made, got linear, k 1, slope 0.2, least 0.2, drawn") != std::string::npos);
  const auto resumed = train(6, 0.1, resume);
  if constexpr (std::is_same_v<B, bd::Xtensor<double>>) CHECK(resumed == whole);
  CHECK(largest_difference(resumed, whole) <= 1e-6);
}

TEST_CASE("settings of scheduled sampling that are out of range are refused", "[sampling][error]") {
  const auto check = [](const ScheduledSampling& s) { return message_of([&] { s.check(); }); };
  CHECK(check({.decay = Decay::linear, .k = 1.5}) ==
        "ScheduledSampling.k: expected from 0 to 1, for a linear decay, got 1.5");
  CHECK(check({.decay = Decay::exponential, .k = 0}) ==
        "ScheduledSampling.k: expected above 0 and at most 1, for an exponential decay, got 0");
  CHECK(check({.decay = Decay::inverse_sigmoid, .k = 0.5}) ==
        "ScheduledSampling.k: expected at least 1, for an inverse sigmoid decay, got 0.5");
  CHECK(check({.decay = Decay::linear, .slope = -1}) ==
        "ScheduledSampling.slope: expected at least 0, got -1");
  CHECK(check({.decay = Decay::linear, .least = 2}) ==
        "ScheduledSampling.least: expected from 0 to 1, got 2");
  CHECK(message_of([] { bd::sampling_decay_from_name("cosine"); }) ==
        "scheduled_sampling: expected \"none\", \"linear\", \"exponential\" or \"inverse_sigmoid\", got "
        "\"cosine\"");
}
