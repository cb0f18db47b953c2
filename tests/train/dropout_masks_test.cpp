// Dropout with one mask a sentence, and dropout on embeddings: which numbers fall, and that gradients are
// right.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
using bd::DropoutMasks;
using B = TestBackend<double>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::Bidirectional>;

Model small_model(DropoutMasks masks, float layers, float embeddings) {
  bd::Config config{.embed = 8, .hidden = 6, .layers = 2, .dropout = layers};
  config.dropout_masks = masks;
  config.embedding_dropout = embeddings;
  return Model(config, small_vocabularies(), 7);
}

/// What the decoder sees of the embedded tokens in a training step, and what it would see without dropout.
struct Seen {
  Model::Scratch scratch;
  bd::Array<double, 2> dropped, whole;  // [tokens, embed]

  Seen(const Model& model, const bd::Batch& batch, std::uint64_t step) {
    using Mode = bd::Tape<B>::Mode;
    bd::Tape<B> tape(Mode::infer), plain(Mode::infer);
    for (auto* bound : {&tape, &plain}) bd::bind(*bound, model.weights());
    Model::Scratch without;
    const bd::RowRange rows{0, batch.source.rows()};
    model.objective(plain, batch, rows, {}, without);
    model.objective(tape, batch, rows, model.dropout_plan(bd::random::Key{step}), scratch);
    whole = value<2>(without.pass.read.embedding());
    dropped = value<2>(scratch.pass.read.embedding());
  }
};

}  // namespace

TEST_CASE("one mask a sentence: equal at all positions, another in other sentences", "[dropout]") {
  const bd::Batch batch{random_sequences(6, 6, 9, 1), random_sequences(6, 6, 10, 2)};
  const Model model = small_model(DropoutMasks::per_sequence, 0.5F, 0.5F);
  std::size_t fallen = 0, all = 0, differ = 0;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const Seen seen(model, batch, step);
    const auto is_dropped = [&](std::size_t row, std::size_t c) { return seen.dropped(row, c) == 0; };
    seen.scratch.pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      const auto first = static_cast<std::size_t>(seen.scratch.pass.packing.rank()[sentence]);
      for (std::size_t c = 0; c < 8; ++c) {
        CHECK(is_dropped(row, c) == is_dropped(first, c));
        if (!is_dropped(row, c)) CHECK(seen.dropped(row, c) == 2 * seen.whole(row, c));  // E[mask] = 1
        if (t > 0) continue;
        ++all;
        fallen += is_dropped(row, c) ? 1U : 0U;
        differ += is_dropped(row, c) != is_dropped((row + 1) % 6, c) ? 1U : 0U;
      }
    });
    // What names the masks between layers, in decoder and encoder: the sentence.
    seen.scratch.pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t) {
      CHECK(seen.scratch.pass.sequences[row] == static_cast<bd::Index>(sentence));
    });
    seen.scratch.encoding.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t) {
      CHECK(seen.scratch.encoding.names[row] == static_cast<bd::Index>(sentence));
    });
  }
  // Half of them, give or take five standard deviations.
  const double share = 2.5 / std::sqrt(static_cast<double>(all));
  CHECK(std::abs(static_cast<double>(fallen) / static_cast<double>(all) - 0.5) < share);
  CHECK(std::abs(static_cast<double>(differ) / static_cast<double>(all) - 0.5) < share);
}

TEST_CASE("one mask a position: another at each", "[dropout]") {
  const bd::Batch batch{random_sequences(6, 6, 9, 1), random_sequences(6, 6, 10, 2)};
  const Model model = small_model(DropoutMasks::per_position, 0, 0.5F);
  std::size_t differ = 0, all = 0;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const Seen seen(model, batch, step);
    seen.scratch.pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      if (t == 0) return;
      const auto first = static_cast<std::size_t>(seen.scratch.pass.packing.rank()[sentence]);
      for (std::size_t c = 0; c < 8; ++c, ++all)
        differ += (seen.dropped(row, c) == 0) != (seen.dropped(first, c) == 0) ? 1U : 0U;
    });
  }
  CHECK(std::abs(static_cast<double>(differ) / static_cast<double>(all) - 0.5) <
        2.5 / std::sqrt(static_cast<double>(all)));
}

TEST_CASE("with fixed masks of either kind the gradient is that of the loss", "[dropout][gradient]") {
  for (const DropoutMasks masks : {DropoutMasks::per_sequence, DropoutMasks::per_position}) {
    Model model = small_model(masks, 0.4F, 0.3F);
    const bd::Batch batch = ragged_batch();
    bd::Training<Model> training(model, bd::Adam{}, {.clip = 0, .threads = 1, .seed = 5, .checked = true});
    training.loss(batch);
    training.backward();
    std::vector<std::vector<double>> gradients;
    double largest = 0;
    for (const auto& entry : model.parameters().entries()) {
      gradients.push_back(training.gradients().read(entry.parameter));
      for (const double g : gradients.back()) largest = std::max(largest, std::abs(g));
    }
    std::size_t number = 0;
    for (const auto& entry : model.parameters().entries()) {
      INFO(entry.name);
      const std::vector<double> values = model.weights().read(entry.parameter);
      const std::vector<double>& gradient = gradients[number++];
      for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(1, values.size() / 5)) {
        const auto loss_at = [&](double change) {
          std::vector<double> changed = values;
          changed[i] += change;
          model.weights().write(entry.parameter, changed);
          training.set_batches(0);  // the same masks again
          return training.loss(batch).sum;
        };
        CHECK(std::abs((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5 - gradient[i]) <= 1e-7 * largest);
      }
      model.weights().write(entry.parameter, values);
    }
  }
}

TEST_CASE("a model file says how dropout goes where that is unusual", "[dropout][io]") {
  const TemporaryDirectory folder;
  const Model model = small_model(DropoutMasks::per_sequence, 0.5F, 0.25F);
  model.save(folder / "m");
  CHECK(Model::load(folder / "m").config() == model.config());
  CHECK(message_of([] { small_model(DropoutMasks::per_position, 0, 1); }) ==
        "Config.embedding_dropout: expected a probability from 0 up to, not including, 1, got 1");
  CHECK(message_of([] { bd::dropout_masks_from_name("always"); }) ==
        "dropout_masks: expected \"per_position\" or \"per_sequence\", got \"always\"");
}
