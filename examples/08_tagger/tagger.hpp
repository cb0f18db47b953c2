// A tagger that reads in both directions: a class for each token. It models bd::TrainableModel.
#pragma once

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

/// Rows of tokens, and a tag for each of them. It models bd::TrainingData.
struct Tagged {
  std::vector<std::vector<bd::Token>> tokens, tags;

  std::size_t size() const { return tokens.size(); }
  friend Tagged make_batch(const Tagged& all, std::span<const std::size_t> examples) {
    Tagged some;
    for (const std::size_t i : examples) {
      some.tokens.push_back(all.tokens[i]);
      some.tags.push_back(all.tags[i]);
    }
    return some;
  }
  friend std::size_t length_of(const Tagged& all, std::size_t i) { return all.tokens[i].size(); }
  friend std::uint64_t fingerprint(const Tagged& all) {
    return bd::fingerprint(all.tags, {bd::fingerprint(all.tokens)});
  }
};

template <class Cell, class B>
class Tagger : public bd::Parameterized<B> {
 public:
  using Batch = Tagged;
  using Scratch = std::vector<bd::Index>;  // the labels

  Tagger(std::size_t tokens, std::size_t tags, std::size_t width, std::uint64_t seed)
      : tokens_(tokens), width_(width) {
    bd::Scope scope = this->scope();
    embedding_ = scope.add("embedding.weight", {tokens, width}, bd::Initializer::standard_normal());
    forward_ = Cell::declare(scope.in("rnn."), width, width);
    backward_ = Cell::declare(scope.in("rnn.", "_reverse"), width, width);
    dense_ = {scope.matrix("dense.weight", tags, 2 * width), scope.bias("dense.bias", tags, 2 * width)};
    this->initialize(seed);
  }

  std::size_t check(const Tagged& batch) const {
    bd::Sequences::from_rows(batch.tokens).check("tagger", tokens_);
    return batch.size();
  }

  bd::Objective<B> objective(bd::Tape<B>& tape, const Tagged& batch, bd::RowRange rows,
                             const bd::DropoutPlan&, Scratch& labels) const {
    std::vector<bd::Index> lengths, ids, reversal;
    for (std::size_t r = 0; r < rows.count; ++r)
      lengths.push_back(static_cast<bd::Index>(batch.tokens[rows.first + r].size()));
    bd::Packing packing;
    packing.assign(lengths);
    packing.reversal(reversal);
    labels.clear();
    packing.for_tokens([&](std::size_t, std::size_t row, std::size_t t) {
      ids.push_back(batch.tokens[rows.first + row][t]);
      labels.push_back(batch.tags[rows.first + row][t]);
    });
    const auto reversed = [&](const bd::Variable<B>& v) {
      return gather_rows(v, std::span<const bd::Index>(reversal));
    };
    const auto x = gather_rows(tape[embedding_], std::span<const bd::Index>(ids));  // [tokens, width]
    const auto left = bd::run_layer<Cell, B>(forward_, width_, x, packing).outputs;
    const auto right = reversed(bd::run_layer<Cell, B>(backward_, width_, reversed(x), packing).outputs);
    return bd::Classification<B>{bd::concat_columns<B>({left, right}), dense_, labels};
  }

 private:
  std::size_t tokens_, width_;
  bd::Parameter embedding_;
  typename Cell::Weights forward_, backward_;
  bd::Dense dense_;
};
