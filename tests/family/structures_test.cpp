// Conditional decoders and convolutional encoders as laws of all models, and what their papers say besides.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"

namespace bd = bahdanau;
using namespace bd::test;

using B = TestBackend<double>;
using Nematus = bd::models::Nematus<B>;
using Gehring = bd::models::Gehring<B>;

namespace {

double deviation(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

}  // namespace

TEST_CASE("Nematus keeps the laws of all models", "[family]") {
  check_laws<Nematus>({.bridge = bd::Bridge::mean, .tied = true});
}

TEST_CASE("Gehring's model keeps the laws of all models, and dropout those of training", "[family]") {
  check_laws<Gehring>({.bridge = bd::Bridge::mean}, 1);
  check_training_of<Gehring>({.embed = 5, .hidden = 6, .layers = 2, .dropout = 0.1F});
}

TEST_CASE("a conditional LSTM behind wide convolutions keeps the laws", "[family]") {
  check_laws<bd::EncoderDecoder<bd::Lstm, bd::Dot, B, bd::Convolutional<1, 5>, bd::Conditional>>();
}

TEST_CASE("Nematus has its toolkit's sizes, optimizer and first weights", "[family][defaults]") {
  auto paper = bd::models::defaults<Nematus>();
  CHECK(paper.config.embed == 512);
  CHECK(paper.config.hidden == 1000);
  CHECK(paper.config.layers == 1);
  CHECK(paper.config.bridge == bd::Bridge::mean);
  CHECK(paper.config.tied);
  CHECK(paper.optimizer.rate == Approx(1e-4));
  CHECK(paper.training.batch == 80);
  CHECK(paper.training.clip == Approx(80.0 / 10));
  paper.config.embed = 30;
  paper.config.hidden = 20;
  Nematus model(paper.config, {bd::Vocabulary::numbered(200), bd::Vocabulary::numbered(200), {}});
  paper.initialize(model, 1);
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name);
    const auto has = [&](const char* part) { return entry.name.find(part) != std::string::npos; };
    const double spread = deviation(model.weights().read(entry.parameter));
    if (has("bias"))
      CHECK(spread == 0);
    else if (has("weight_hh"))  // a row of an orthogonal matrix has the length 1
      CHECK(spread == Approx(1 / std::sqrt(20.0)).epsilon(1e-9));
    else
      CHECK(spread == Approx(0.01).epsilon(0.3));
  }
}

TEST_CASE("Gehring's model has the paper's sizes, optimizer and first weights", "[family][defaults]") {
  auto paper = bd::models::defaults<Gehring>();
  CHECK(paper.config.embed == 256);
  CHECK(paper.config.hidden == 512);
  CHECK(paper.config.layers == 1);
  CHECK(paper.config.bridge == bd::Bridge::mean);
  CHECK(paper.optimizer.rate == Approx(3.125e-4));
  CHECK(paper.training.batch == 32);
  paper.config.embed = 30;
  paper.config.hidden = 20;
  Gehring model(paper.config, {bd::Vocabulary::numbered(200), bd::Vocabulary::numbered(200), {}});
  paper.initialize(model, 1);
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name);
    const bool convolution =
        entry.name.starts_with("encoder.keys") || entry.name.starts_with("encoder.values");
    const double bound = convolution ? 1 / std::sqrt(3 * 20.0) : 0.05;
    const std::vector<double> w = model.weights().read(entry.parameter);
    CHECK(*std::max_element(w.begin(), w.end()) <= bound);
    CHECK(*std::min_element(w.begin(), w.end()) >= -bound);
    if (w.size() > 100) CHECK(*std::max_element(w.begin(), w.end()) > 0.9 * bound);  // of many draws
  }
}
