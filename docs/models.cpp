// The program of the page on the models of papers.
#include <cstddef>
#include <iostream>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Backend = bd::Xtensor<float>;
using D2l = bd::models::D2l<Backend>;
using RnnSearch = bd::models::RnnSearch<Backend>;
using Luong = bd::models::Luong<Backend>;
using Sutskever = bd::models::Sutskever<Backend>;
using Cho = bd::models::Cho<Backend>;
using Nematus = bd::models::Nematus<Backend>;
using Gehring = bd::models::Gehring<Backend>;

template <class Model>
void describe() {
  const auto paper = bd::models::defaults<Model>();
  std::cout << Model::Cell::name << ", " << Model::Score::name << ", " << Model::Encoder::name << ", "
            << Model::Decoder::name << ", " << Model::Readout::name << ":\n    embed " << paper.config.embed
            << ", hidden " << paper.config.hidden << ", layers " << paper.config.layers << ", "
            << paper.optimizer.name << " at " << paper.optimizer.rate << ", " << paper.training.epochs
            << " epochs, batches of " << paper.training.batch << ", clipped to " << paper.training.clip
            << '\n';
}

int main() {
  describe<D2l>();
  describe<RnnSearch>();
  describe<Luong>();
  describe<Sutskever>();
  describe<Cho>();
  describe<Nematus>();
  describe<Gehring>();

  const auto corpus =
      bd::Corpus::read("eng-fra.tsv", {.max_pairs = 20, .min_frequency = 1, .max_length = 50});
  auto paper = bd::models::defaults<RnnSearch>(corpus.vocabularies().text.loss_divisor());
  paper.config.embed = 16;  // the paper's 620 and 1000 want more than 20 pairs
  paper.config.hidden = 16;
  paper.training.progress = bd::Progress::silent;
  RnnSearch model(paper.config, corpus.vocabularies());
  paper.initialize(model, /*seed=*/1);
  const auto report = bd::Trainer(model, paper.optimizer, paper.training).fit(corpus);

  const auto loss = [&](std::size_t epoch) { return report.epochs[epoch].training.nats_per_token(); };
  std::cout << (loss(4) < loss(0) ? "the loss falls\n" : "the loss does not fall\n");
  for (const auto& entry : model.parameters().entries())
    std::cout << entry.name << ' ' << entry.parameter.shape.text() << '\n';
}
