// What papers say besides equations: sizes, first weights, optimizers; and what a model refuses of them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "family/laws.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

using B = TestBackend<double>;

TEST_CASE("RNNsearch has the paper's sizes, optimizer and first weights", "[family][defaults]") {
  using Model = bd::models::RnnSearch<B>;
  auto paper = bd::models::defaults<Model>();
  CHECK(paper.config.embed == 620);
  CHECK(paper.config.hidden == 1000);
  CHECK(paper.config.layers == 1);
  CHECK(paper.config.bridge == bd::Bridge::backward);
  CHECK(std::string(paper.optimizer.name) == "adadelta");
  CHECK(paper.optimizer.rho == 0.95);
  CHECK(paper.training.batch == 80);
  CHECK(paper.training.clip == Approx(80.0 / 10));
  paper.config.embed = 30;
  paper.config.hidden = 20;
  Model model(paper.config, {bd::Vocabulary::numbered(200), bd::Vocabulary::numbered(200), {}});
  paper.initialize(model, 1);
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name);
    const std::vector<double> w = model.weights().read(entry.parameter);
    double squares = 0;
    for (const double x : w) squares += x * x;
    const double deviation = std::sqrt(squares / static_cast<double>(w.size()));
    const auto has = [&](const char* part) { return entry.name.find(part) != std::string::npos; };
    if (has("bias") || has("w_v")) {
      CHECK(squares == 0);
    } else if (has("weight_hh")) {  // [3 · 20, 20]: three orthogonal matrices
      for (std::size_t a = 0; a < 60; ++a)
        for (std::size_t b = a / 20 * 20; b <= a; ++b) {
          double dot = 0;
          for (std::size_t c = 0; c < 20; ++c) dot += w[a * 20 + c] * w[b * 20 + c];
          CHECK(dot == Approx(a == b ? 1 : 0).margin(1e-12));
        }
    } else {
      CHECK(deviation == Approx(has("attention") ? 0.001 : 0.01).epsilon(0.15));
    }
  }
}

TEST_CASE("Luong's model has the paper's sizes, optimizer, schedule and first weights",
          "[family][defaults]") {
  using Model = bd::models::Luong<B>;
  auto paper = bd::models::defaults<Model>();
  CHECK(paper.config.layers == 4);
  CHECK(paper.config.hidden == 1000);
  // The paper's rate 1 and norm 5 are of gradients that are divided by 128 sentences, not by 10.
  CHECK(paper.optimizer.rate == Approx(10.0 / 128));
  CHECK(paper.training.clip == Approx(5 * 128.0 / 10));
  CHECK(bd::models::defaults<Model>(50).optimizer.rate == Approx(50.0 / 128));
  bd::ScheduleState state;
  std::vector<double> factors;
  for (int epoch = 0; epoch < 12; ++epoch) {
    factors.push_back(state.factor);
    state.observe(paper.training.schedule, 1);
  }
  CHECK(factors == std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.25, 0.125, 0.0625});
  paper.config.embed = paper.config.hidden = 10;
  Model model(paper.config, small_vocabularies());
  paper.initialize(model, 1);
  const auto& entry = model.parameters().entries().front();
  const std::vector<double> w = model.weights().read(entry.parameter);
  CHECK(*std::max_element(w.begin(), w.end()) <= 0.1);
  CHECK(*std::min_element(w.begin(), w.end()) >= -0.1);
  CHECK(*std::max_element(w.begin(), w.end()) > 0.08);
}

TEST_CASE("Sutskever's model has the paper's sizes, optimizer, schedule and order of the source",
          "[family][defaults]") {
  const auto paper = bd::models::defaults<bd::models::Sutskever<B>>(50);
  CHECK(paper.config.layers == 4);
  CHECK(paper.config.embed == 1000);
  CHECK(paper.config.hidden == 1000);
  CHECK(paper.config.dropout == 0);
  CHECK(paper.reverse_source);
  CHECK(paper.optimizer.rate == Approx(0.7 * 50 / 128));
  CHECK(paper.training.clip == Approx(5 * 128.0 / 50));
  CHECK(paper.training.epochs == 8);
  CHECK(paper.training.grouping == bd::Grouping::by_length);
  bd::ScheduleState state;
  std::vector<double> factors;
  for (int epoch = 0; epoch < 8; ++epoch) {
    factors.push_back(state.factor);
    state.observe(paper.training.schedule, 1);
  }
  CHECK(factors == std::vector<double>{1, 1, 1, 1, 1, 0.25, 0.0625, 0.015625});
  const auto bound = paper.initializer({"decoder.rnn.bias_hh_l0", {}, {}});
  CHECK(bound.kind == bd::Initializer::uniform(0.08).kind);
}

TEST_CASE("Cho's model has the paper's sizes, optimizer and first weights", "[family][defaults]") {
  using Model = bd::models::Cho<B>;
  auto paper = bd::models::defaults<Model>();
  CHECK(paper.config.embed == 100);
  CHECK(paper.config.hidden == 1000);
  CHECK(paper.config.layers == 1);
  CHECK_FALSE(paper.reverse_source);
  CHECK(std::string(paper.optimizer.name) == "adadelta");
  CHECK(paper.optimizer.epsilon == 1e-6);
  CHECK(paper.training.batch == 64);
  CHECK(paper.training.clip == 0);
  paper.config.embed = paper.config.hidden = 20;
  Model model(paper.config, {bd::Vocabulary::numbered(200), bd::Vocabulary::numbered(200), {}});
  paper.initialize(model, 1);
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name);
    double squares = 0;
    const std::vector<double> w = model.weights().read(entry.parameter);
    for (const double x : w) squares += x * x;
    const double mean = squares / static_cast<double>(w.size());
    const auto has = [&](const char* part) { return entry.name.find(part) != std::string::npos; };
    if (has("bias"))
      CHECK(squares == 0);
    else  // a row of an orthogonal matrix of 20 has the length 1
      CHECK(std::sqrt(mean) == Approx(has("weight_hh") ? std::sqrt(1.0 / 20) : 0.01).epsilon(0.15));
  }
}

TEST_CASE("a model refuses choices that do not fit it, by name", "[family][error]") {
  using Plain = bd::EncoderDecoder<bd::Gru, bd::Additive, B>;
  CHECK(message_of([] { Plain({.bridge = bd::Bridge::mean}, small_vocabularies()); }) ==
        "Config.bridge: expected \"both\" for an encoder of one direction, whose states the decoder takes as "
        "they are, got \"mean\"; use Bidirectional");
  CHECK(
      message_of([] { Plain({.embed = 5, .hidden = 6, .tied = true}, small_vocabularies()); }) ==
      "Config.tied: expected a readout as wide as the embedding, 5, got 6; choose TanhReadout, or embed = 6");
  CHECK_NOTHROW(Plain({.embed = 6, .hidden = 6, .tied = true}, small_vocabularies()));
}

TEST_CASE("a file says which policies a model has, and another model refuses it by name", "[family][file]") {
  const TemporaryDirectory folder;
  using Fed = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::InputFeeding>;
  using Plain = bd::EncoderDecoder<bd::Gru, bd::Additive, B>;
  using Deep = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::DeepOutput<3>>;
  const bd::Config config{.embed = 5, .hidden = 6, .layers = 1};
  Fed(config, small_vocabularies()).save(folder / "fed");
  Deep(config, small_vocabularies()).save(folder / "deep");
  CHECK(message_of([&] { Plain::load(folder / "fed"); }) ==
        (folder / "fed").string() +
            ": expected a model with decoder \"attend_then_step\", got \"input_feeding\"; load it into an "
            "EncoderDecoder with that policy");
  CHECK(
      message_of([&] { Plain::load(folder / "deep"); }) ==
      (folder / "deep").string() +
          ": expected a model with readout \"linear\", got \"deep(3)\"; load it into an EncoderDecoder with "
          "that policy");
  // Of d2l's choices nothing is said: files are as 0.1 wrote them.
  Plain(config, small_vocabularies()).save(folder / "plain");
  const std::string bytes = contents(folder / "plain");
  for (const char* key : {"decoder\\\":", "readout", "bridge", "tied"})
    CHECK(bytes.find(std::string("\\\"") + key) == std::string::npos);
}

TEST_CASE("a state_dict with the tied weight twice loads if both are equal", "[family][file]") {
  const TemporaryDirectory folder;
  using Tied = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::TanhReadout>;
  Tied model({.embed = 5, .hidden = 6, .layers = 1, .tied = true}, small_vocabularies(), 1);
  const auto write = [&](const std::filesystem::path& path, double change) {
    bd::SafetensorsWriter file;
    for (const auto& entry : model.parameters().entries()) {
      std::vector<double> numbers = model.weights().read(entry.parameter);
      const std::vector<std::size_t> shape = bd::detail::extents_of(entry.parameter.shape);
      file.add(entry.name, shape, std::span<const double>(numbers));
      if (entry.name != "decoder.embedding.weight") continue;
      numbers.back() += change;
      file.add("decoder.dense.weight", shape, std::span<const double>(numbers));
    }
    file.write(path);
  };
  write(folder / "equal", 0);
  write(folder / "other", 1);
  Tied loaded(model.config(), small_vocabularies(), 2);
  loaded.load_weights(folder / "equal");
  CHECK(loaded.weights().read() == model.weights().read());
  CHECK(message_of([&] { loaded.load_weights(folder / "other"); }) ==
        (folder / "other").string() +
            ": expected \"decoder.dense.weight\" equal to \"decoder.embedding.weight\", as the model's are "
            "tied, "
            "got others");
}
