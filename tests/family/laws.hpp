// What every model keeps, whatever its policies: steps, passes, searches, files, gradients and trainings
// agree with one another. Each combination that is built in, and each policy of a stranger's, goes through
// here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/file_bytes.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace bahdanau::test {

template <class Scalar>
inline constexpr bool is_float = std::is_same_v<Scalar, float>;

/// Ragged rows, neither sorted nor in the order of the other side.
inline Batch ragged_batch() {
  const std::vector<std::vector<Token>> source{{4, 5, 3}, {6, 7, 8, 4, 5, 3}, {8, 3}, {5, 5, 6, 3}};
  const std::vector<std::vector<Token>> target{{7, 4, 9, 6, 3}, {5, 3}, {8, 8, 7, 3}, {3}};
  return {Sequences::from_rows(source), Sequences::from_rows(target)};
}

inline Vocabularies small_vocabularies() {
  return {Vocabulary::numbered(9), Vocabulary::numbered(10), {.tokens = Tokens::none, .max_length = 6}};
}

/// Feeding tokens one by one, or in two pieces, gives what a teacher-forced pass gives.
template <class Model>
void check_steps(const Model& model) {
  const double limit = is_float<typename Model::Scalar> ? 1e-5 : 1e-12;
  const Batch batch = ragged_batch();
  const std::size_t rows = batch.source.rows(), width = 4, vocabulary = model.vocabularies().target.size();
  Sequences inputs(Array<Token, 2>::from_shape({rows, width}));
  for (std::size_t b = 0; b < rows; ++b)
    for (std::size_t t = 0; t < width; ++t)
      inputs.tokens(b, t) = t == 0 ? reserved::bos : static_cast<Token>(4 + (b + 2 * t) % 5);
  const auto encoded = model.encode(batch.source);
  auto whole = model.init_state(encoded), stepped = model.init_state(encoded),
       halved = model.init_state(encoded);
  const auto expected = model.decode(inputs, whole);
  for (std::size_t t = 0; t < width; ++t) {
    std::vector<Token> tokens;
    for (std::size_t b = 0; b < rows; ++b) tokens.push_back(inputs.tokens(b, t));
    const auto logits = model.step(tokens, stepped);
    double apart = 0;
    for (std::size_t b = 0; b < rows; ++b)
      for (std::size_t v = 0; v < vocabulary; ++v)
        apart = std::max(apart, std::abs(static_cast<double>(logits(b, v) - expected.logits(b, t, v))));
    CHECK(apart <= limit);
    CHECK(largest_difference(stepped.attention_weights()[t], whole.attention_weights()[t]) <= limit);
  }
  // Rows that go on for different lengths: each ends with its own state.
  Sequences first = inputs, second = inputs;
  first.lengths = {2, 1, 3, 1};
  for (std::size_t b = 0; b < rows; ++b) {
    const auto done = static_cast<std::size_t>(first.lengths[b]);
    second.lengths[b] = static_cast<Index>(width - done);
    for (std::size_t t = 0; t < width - done; ++t) second.tokens(b, t) = inputs.tokens(b, t + done);
  }
  model.decode(first, halved);
  const auto rest = model.decode(second, halved);
  double apart = 0;
  for (std::size_t b = 0; b < rows; ++b)
    for (std::size_t t = 0; t < static_cast<std::size_t>(second.lengths[b]); ++t)
      for (std::size_t v = 0; v < vocabulary; ++v)
        apart = std::max(apart, std::abs(static_cast<double>(
                                    rest.logits(b, t, v) -
                                    expected.logits(b, t + static_cast<std::size_t>(first.lengths[b]), v))));
  CHECK(apart <= limit);
}

/// What a search finds has the probabilities that forced decoding gives it, so each hypothesis had a state of
/// its own.
template <class Model>
void check_search(const Model& model) {
  const double limit = is_float<typename Model::Scalar> ? 1e-4 : 1e-10;
  const std::vector<std::string> sources{"4 5", "6 7 8 4 5", "8", "5 5 6"};
  std::size_t checked = 0;
  const auto check_found = [&](const std::string& source, const Translation& t) {
    const Translation forced = score_pairs(model, std::vector<SentencePair>{{source, t.text}}).front();
    // A translation that was cut has no <eos>; reserved tokens in the middle cannot be spelled.
    if (!std::equal(t.target.begin(), t.target.end(), forced.target.begin(),
                    forced.target.begin() +
                        static_cast<std::ptrdiff_t>(std::min(t.target.size(), forced.target.size()))))
      return;
    ++checked;
    for (std::size_t i = 0; i < t.target.size(); ++i) {
      CHECK(t.log_probs[i] == Approx(forced.log_probs[i]).margin(limit));
      for (std::size_t k = 0; k < t.attention.shape(1); ++k)
        CHECK(std::abs(t.attention(i, k) - forced.attention(i, k)) <= 1e-5F);
    }
  };
  const auto greedy = model.translate(sources, Greedy{.max_length = 6});
  const auto beams = translate_nbest(model, sources, Beam{.width = 4, .nbest = 4, .max_length = 6});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    CHECK(model.translate(sources[i], Greedy{.max_length = 6}).text == greedy[i].text);
    check_found(sources[i], greedy[i]);
    for (const Translation& t : beams[i]) check_found(sources[i], t);
  }
  CHECK(checked >= 8);
}

/// Training's gradient is that of its loss, by central differences, in some weights of each parameter.
template <class Model>
void check_gradient_of(Model& model) {
  if constexpr (!is_float<typename Model::Scalar>) {
    const Batch batch = ragged_batch();
    Training<Model> training(model, Adam{}, {.clip = 0, .threads = 1, .checked = true});
    training.loss(batch);
    training.backward();
    double largest = 0;
    std::vector<std::vector<double>> gradients;
    for (const auto& entry : model.parameters().entries()) {
      gradients.push_back(training.gradients().read(entry.parameter));
      for (const double g : gradients.back()) largest = std::max(largest, std::abs(g));
    }
    REQUIRE(largest > 0);
    std::size_t number = 0;
    for (const auto& entry : model.parameters().entries()) {
      INFO(entry.name);
      const std::vector<double> values = model.weights().read(entry.parameter);
      const std::vector<double>& gradient = gradients[number++];
      const std::size_t apart = std::max<std::size_t>(1, values.size() / 7);
      for (std::size_t i = 0; i < values.size(); i += apart) {
        const double step = 1e-5;
        const auto loss_at = [&](double change) {
          std::vector<double> changed = values;
          changed[i] += change;
          model.weights().write(entry.parameter, changed);
          return training.evaluate(batch).sum;
        };
        const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
        CHECK(std::abs(slope - gradient[i]) <= 1e-7 * largest);
      }
      model.weights().write(entry.parameter, values);
    }
  }
}

/// A file brings the model back: the same translations, and the same bytes when it is written again.
template <class Model>
void check_file(const Model& model) {
  const TemporaryDirectory folder;
  model.save(folder / "a.safetensors");
  const Model loaded = Model::load(folder / "a.safetensors");
  CHECK(loaded.config() == model.config());
  loaded.save(folder / "b.safetensors");
  CHECK(contents(folder / "a.safetensors") == contents(folder / "b.safetensors"));
  const std::string sentence = "6 7 8 4 5";
  const Translation before = model.translate(sentence, Beam{.width = 3, .max_length = 6});
  const Translation after = loaded.translate(sentence, Beam{.width = 3, .max_length = 6});
  CHECK(before.text == after.text);
  CHECK(before.score == Approx(after.score).epsilon(1e-6));
}

inline std::vector<SentencePair> small_pairs() {
  std::vector<SentencePair> pairs;
  for (int i = 0; i < 24; ++i) {
    std::string source, target;
    for (int t = 0; t <= i % 4; ++t) {
      const std::string word(1, static_cast<char>('a' + (i + 3 * t) % 5));
      source += (t == 0 ? "" : " ") + word;
      target = word + (t == 0 ? "" : " ") + target;
    }
    pairs.push_back({source, target});
  }
  return pairs;
}

/// Training learns, and ends with the same bits with any number of threads, and after a resumed checkpoint.
template <class Model>
void check_training_of(const Config& config) {
  const Corpus corpus = Corpus::from_pairs(small_pairs(), {.max_length = 6});
  using Scalar = typename Model::Scalar;
  const auto train = [&](TrainerOptions options, std::size_t epochs) {
    Model model(config, corpus.vocabularies(), 3);
    options.epochs = epochs;
    options.batch = 8;
    options.progress = Progress::silent;
    const auto report = Trainer(model, Adam{.rate = 0.02}, options).fit(corpus);
    return std::pair(model.weights().read(), report.epochs.back().training.nats_per_token());
  };
  const auto first = train({.threads = 1}, 1), whole = train({.threads = 1}, 8);
  CHECK(whole.second < 0.9 * first.second);
  const TemporaryDirectory folder;
  const auto checkpoint = folder / "c.checkpoint";
  train({.threads = 2, .checkpoint = checkpoint, .checkpoint_seconds = 0}, 3);
  const auto resumed =
      train({.threads = 3, .checkpoint = checkpoint, .checkpoint_seconds = 0, .resume = true}, 8);
  if constexpr (std::is_same_v<typename Model::Backend, Xtensor<Scalar>>) CHECK(resumed.first == whole.first);
  CHECK(largest_difference(resumed.first, whole.first) <= (is_float<Scalar> ? 1e-2 : 1e-6));
}

/// All of them, for a small model.
template <class Model>
void check_laws(Config config = {}, std::size_t layers = 2) {
  config.embed = 5;
  config.hidden = 6;
  config.layers = layers;
  Model model(config, small_vocabularies(), 7);
  check_steps(model);
  check_search(model);
  check_gradient_of(model);
  check_file(model);
  check_training_of<Model>(config);
}

}  // namespace bahdanau::test
