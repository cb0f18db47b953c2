// The program of the tutorial: d2l's chapter on Bahdanau attention, from text to heatmaps.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;
using Backend = bd::Xtensor<float>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;  // cell, score, backend

// The exercises: one word of the type each.
using WithLstm = bd::EncoderDecoder<bd::Lstm, bd::Additive, Backend>;
using WithScaledDot = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, Backend>;

/// Rows of a batch as the model gets them.
void show(const bd::Sequences& rows, const bd::Vocabulary& words) {
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t t = 0; t < rows.width(); ++t) std::printf("%s ", words.token(rows.tokens(r, t)).c_str());
    std::printf("(valid: %d)\n", static_cast<int>(rows.lengths[r]));
  }
}

void masks() {
  const bd::Attention<bd::Additive, Backend> attention({.query = 20, .key = 2, .hidden = 8});
  const bd::Array<float, 3> queries({2, 1, 20}, 0.5f);  // [batch, queries, width of a query]
  const bd::Array<float, 3> keys({2, 10, 2}, 1.0f);     // [batch, keys, width of a key]: all alike
  bd::Array<float, 3> values({2, 10, 4}, 0.0f);         // [batch, keys, width of a value]
  for (std::size_t b = 0; b < 2; ++b) std::iota(&values(b, 0, 0), &values(b, 0, 0) + 40, 0.0f);
  const std::vector<bd::Index> valid{2, 6};  // of ten keys

  const auto attended = attention(queries, keys, values, valid);
  for (std::size_t b = 0; b < 2; ++b) {
    std::printf("weights");
    for (std::size_t k = 0; k < 10; ++k) std::printf(" %.3f", attended.weights(b, 0, k));
    std::printf("\ncontext");
    for (std::size_t v = 0; v < 4; ++v) std::printf(" %.1f", attended.contexts(b, 0, v));
    std::printf("\n");
  }
}

void shapes() {
  const bd::Vocabulary ten = bd::Vocabulary::numbered(10);
  const Model model({.embed = 8, .hidden = 16, .layers = 2}, {ten, ten, {}});
  const bd::Sequences x(bd::Array<bd::Token, 2>({4, 7}, 0));  // 4 sentences of 7 tokens
  Model::State state = model.init_state(model.encode(x));
  const auto decoded = model.decode(x, state);

  const auto logits = decoded.logits.shape();            // [batch, steps, target vocabulary]
  const auto outputs = state.encoder_outputs().shape();  // [batch, steps, hidden]
  const auto hidden = state.hidden()[0].shape();         // [batch, hidden], one per layer
  std::printf("logits (%zu, %zu, %zu)\n", logits[0], logits[1], logits[2]);
  std::printf("encoder outputs (%zu, %zu, %zu)\n", outputs[0], outputs[1], outputs[2]);
  std::printf("hidden state %zu x (%zu, %zu)\n", state.hidden().size(), hidden[0], hidden[1]);

  const auto weights = state.attention_weights()[0].shape();  // [batch, steps], one per step of the decoder
  std::printf("attention %zu x (%zu, %zu)\n", state.attention_weights().size(), weights[0], weights[1]);
}

int main() {
  const auto corpus =
      bd::Corpus::read("eng-fra.tsv", {.max_pairs = 600, .min_frequency = 2, .max_length = 10});
  const bd::Vocabularies& words = corpus.vocabularies();
  std::printf("%zu pairs, vocabularies of %zu and %zu\n", corpus.size(), words.source.size(),
              words.target.size());

  const bd::Batch batch = bd::make_batch(corpus, std::vector<std::size_t>{0, 15});
  show(batch.source, words.source);
  show(batch.target, words.target);

  masks();
  shapes();

  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1f}, words, /*seed=*/2);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005}, {.epochs = 250, .batch = 64, .clip = 1});
  const bd::TrainingReport report = trainer.fit(corpus);

  bd::plot::diagram("model.svg", model);
  bd::plot::Curve curve{"training", {}};
  for (const bd::EpochReport& epoch : report.epochs) curve.values.push_back(epoch.training.d2l());
  bd::plot::curve("loss.svg", std::vector{curve}, {.title = "d2l's loss"});
  std::printf("%s\n", curve.values.back() < 0.01 ? "the loss is below 0.01" : "the loss is too high");

  const std::vector<bd::SentencePair> sentences{
      {"go .", "va !"}, {"i lost .", "j'ai perdu ."}, {"i'm home .", "je suis chez moi ."}};
  for (const bd::SentencePair& pair : sentences) {
    const bd::Translation t = model.translate(pair.source);
    const double bleu = bd::sentence_bleu(std::string_view(t.text), std::string_view(pair.target), 2);
    std::printf("%s => %s, bleu %.3f\n", pair.source.c_str(), t.text.c_str(), bleu);
  }

  const bd::Translation t = model.translate("i'm home .");
  bd::plot::heatmap("attention.svg", t);
  for (std::size_t row = 0; row < t.target.size(); ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < t.source.size(); ++column) sum += t.attention(row, column);
    std::printf("%s %.3f\n", t.target[row].c_str(), sum);
  }
  model.save("eng-fra.safetensors");
}
