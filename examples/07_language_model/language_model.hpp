// A recurrent language model: each word from those before it. It models bd::TrainableModel.
#pragma once

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

template <class Cell, class B>
class LanguageModel : public bd::Parameterized<B> {
 public:
  using Batch = bd::Batch;  // of which it reads the source sentences
  struct Scratch {          // lists that are used again from batch to batch
    bd::Packing packing;
    std::vector<bd::Index> inputs, labels;
  };

  LanguageModel(std::size_t words, std::size_t width, std::uint64_t seed) : words_(words), width_(width) {
    bd::Scope scope = this->scope();
    embedding_ = scope.add("embedding.weight", {words, width}, bd::Initializer::standard_normal());
    cell_ = Cell::declare(scope.in("rnn."), width, width);
    dense_ = {scope.matrix("dense.weight", words, width), scope.bias("dense.bias", words, width)};
    this->initialize(seed);
  }

  std::size_t check(const Batch& batch) const {
    batch.source.check("language model", words_);
    return batch.source.rows();
  }

  bd::Objective<B> objective(bd::Tape<B>& tape, const Batch& batch, bd::RowRange rows, const bd::DropoutPlan&,
                             Scratch& scratch) const {
    auto& [packing, inputs, labels] = scratch;
    packing.assign(std::span(batch.source.lengths).subspan(rows.first, rows.count));
    inputs.resize(packing.tokens());
    labels.resize(packing.tokens());
    packing.for_tokens(
        [&, &in = inputs, &out = labels](std::size_t row, std::size_t sentence, std::size_t t) {
          const auto word = [&](std::size_t at) { return batch.source.tokens(rows.first + sentence, at); };
          in[row] = t == 0 ? bd::reserved::bos : word(t - 1);
          out[row] = word(t);
        });
    const auto embedded =
        gather_rows(tape[embedding_], std::span<const bd::Index>(inputs));  // [tokens, width]
    const auto layer = bd::run_layer<Cell, B>(cell_, width_, embedded, packing);
    return bd::Classification<B>{layer.outputs, dense_, labels};
  }

 private:
  std::size_t words_, width_;
  bd::Parameter embedding_;
  typename Cell::Weights cell_;
  bd::Dense dense_;
};
