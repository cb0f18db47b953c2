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

/// The encoder of a translation model, whose outputs are classified; no decoder crosses its bridge.
template <class Cell, class B>
class Tagger : public bd::Parameterized<B> {
 public:
  using Batch = Tagged;
  struct Scratch : bd::Encoding<Cell, B> {  // lists that are used again from batch to batch
    std::vector<bd::Index> labels;
  };

  Tagger(std::size_t tokens, std::size_t tags, std::size_t width, std::uint64_t seed)
      : tokens_(tokens), encoder_(this->scope(), tokens, {.embed = width, .hidden = width, .layers = 1}) {
    bd::Scope scope = this->scope().in("dense.");
    dense_ = {scope.matrix("weight", tags, 2 * width), scope.bias("bias", tags, 2 * width)};
    this->initialize(seed);
  }
  std::size_t check(const Tagged& batch) const {
    bd::Sequences::from_rows(batch.tokens).check("tagger", tokens_);
    return batch.size();
  }
  bd::Objective<B> objective(bd::Tape<B>& tape, const Tagged& batch, bd::RowRange rows,
                             const bd::DropoutPlan&, Scratch& scratch) const {
    const auto part = bd::Sequences::from_rows(std::span(batch.tokens).subspan(rows.first, rows.count));
    encoder_.run(tape, {.sentences = bd::SequenceRows::of(part)}, scratch);
    scratch.labels.clear();  // as the outputs are: sentence after sentence
    for (const auto& tags : std::span(batch.tags).subspan(rows.first, rows.count))
      scratch.labels.insert(scratch.labels.end(), tags.begin(), tags.end());
    return bd::Classification<B>{scratch.outputs, dense_, scratch.labels};
  }

 private:
  std::size_t tokens_;
  bd::Bidirectional::Network<Cell> encoder_;
  bd::Dense dense_;
};
