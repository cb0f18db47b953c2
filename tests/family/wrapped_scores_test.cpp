// Scores that change another, in models: the laws of all models, and what is asked of each head.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

template <class Score, class... Others>
using With = bd::EncoderDecoder<bd::Gru, Score, TestBackend<double>, Others...>;

/// Each head's attention, of which the translation's is the mean, is that of forced decoding.
template <class Model>
void check_heads(const Model& model, std::size_t heads) {
  const std::vector<std::string> sources{"6 7 8 4 5", "8", "4 5"};
  const auto check = [&](const std::string& source, const bd::Translation& t) {
    const std::size_t rows = t.target.size(), keys = t.attention.shape(1);
    REQUIRE(t.heads.shape(0) == heads);
    REQUIRE(t.heads.shape(1) == rows);
    REQUIRE(t.heads.shape(2) == keys);
    const bd::Translation forced =
        bd::score_pairs(model, std::vector<bd::SentencePair>{{source, t.text}}).front();
    REQUIRE(forced.heads.shape(0) == heads);
    const std::size_t same = std::min(rows, forced.target.size());
    const bool spelled = std::equal(t.target.begin(), t.target.begin() + static_cast<std::ptrdiff_t>(same),
                                    forced.target.begin());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < keys; ++k) {
        float sum = 0;
        for (std::size_t h = 0; h < heads; ++h) {
          sum += t.heads(h, i, k);
          if (spelled && i < same) CHECK(std::abs(t.heads(h, i, k) - forced.heads(h, i, k)) <= 1e-5F);
        }
        CHECK(std::abs(sum / static_cast<float>(heads) - t.attention(i, k)) <= 1e-6F);
      }
    return spelled;
  };
  const auto greedy = model.translate(sources, bd::Greedy{.max_length = 5, .heads = true});
  const auto beams =
      bd::translate_nbest(model, sources, bd::Beam{.width = 3, .nbest = 3, .max_length = 5, .heads = true});
  std::size_t compared = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    compared += check(sources[i], greedy[i]);
    for (const bd::Translation& t : beams[i]) compared += check(sources[i], t);
    CHECK(model.translate(sources[i], bd::Greedy{.max_length = 5}).heads.size() == 0);  // nobody has asked
  }
  CHECK(compared >= 4);
}

}  // namespace

TEST_CASE("Luong's model with local attention keeps the laws of all models", "[family][local]") {
  check_laws<
      bd::EncoderDecoder<bd::Lstm, bd::Local<bd::General, 2>, TestBackend<double>, bd::InputFeeding>>();
}

TEST_CASE("a model with coverage keeps the laws of all models", "[family][coverage]") {
  check_laws<With<bd::Coverage<bd::Additive>, bd::Bidirectional>>();
}

TEST_CASE("a model with several heads keeps the laws of all models", "[family][multi_head]") {
  using Model = With<bd::MultiHead<bd::ScaledDot, 2>, bd::StepThenAttend>;
  check_laws<Model>();
  check_training_of<Model>({.embed = 5, .hidden = 6, .layers = 1, .dropout = 0.1F});
  check_heads(Model({.embed = 5, .hidden = 6, .layers = 1}, small_vocabularies(), 7), 2);
  // Of sources that are read from their ends each head, too, is in the order of the source.
  bd::Vocabularies reversed = small_vocabularies();
  reversed.text.reverse_source = true;
  check_heads(Model({.embed = 5, .hidden = 6, .layers = 1}, reversed, 7), 2);
  // A width at which a frozen model packs each third of in_proj_weight: its numbers are those of training.
  Model wide({.embed = 8, .hidden = 64, .layers = 1}, small_vocabularies(), 7);
  const bd::Batch batch = ragged_batch();
  const auto log_probs = bd::log_probabilities(wide.forward(batch).logits, batch.target);
  double nats = 0;
  for (const double log_prob : log_probs) nats -= log_prob;
  bd::Training<Model> training(wide, bd::Adam{}, {.threads = 1});
  CHECK(training.evaluate(batch).nats == Approx(nats).epsilon(1e-12));
}

TEST_CASE("several heads over keys of another width keep the laws of all models", "[family][multi_head]") {
  using Model = With<bd::MultiHead<bd::ScaledDot, 3>, bd::Bidirectional, bd::ConcatReadout>;
  check_laws<Model>();
  const Model model({.embed = 5, .hidden = 6, .layers = 1}, small_vocabularies(), 7);
  check_heads(model, 3);
  // a search of one's own sees the heads of two rows that continue one
  bd::Session session(model.freeze());
  session.restart({"6 7 8"});
  session.step(std::vector<bd::Index>{0}, std::vector<bd::Token>{bd::reserved::bos}, 2);
  session.step(std::vector<bd::Index>{0, 0}, std::vector<bd::Token>{4, 5}, 2);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (std::size_t h = 0; h < session.heads(); ++h) sum += session.attention(row, h)[k];
      CHECK(sum / 3 == Approx(session.attention(row)[k]).epsilon(1e-12));
    }
  // Heads are a single model's.
  const bd::Ensemble ensemble(model.freeze(), model.freeze());
  CHECK(score_pairs(ensemble, std::vector<bd::SentencePair>{{"6 7 8", "4 5"}}).front().heads.size() == 0);
  CHECK(ensemble.translate("6 7 8", bd::Greedy{.max_length = 5, .heads = true}).heads.size() == 0);
  CHECK(message_of([&] { (void)session.attention(0, 3); }) == "Session: expected a head below 3, got 3");
}

TEST_CASE("a model whose heads do not divide its width is refused", "[family][multi_head][error]") {
  using Model = With<bd::MultiHead<bd::ScaledDot, 3>, bd::Bidirectional, bd::ConcatReadout>;
  CHECK(message_of([] { Model({.embed = 5, .hidden = 8, .layers = 1}, small_vocabularies(), 7); }) ==
        "MultiHead: expected a hidden width that 3 heads divide, got 8");
}
