// Decoding as it is timed: `translate`, greedily or with a beam, of one sentence or of a whole batch at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iomanip>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <bahdanau/decode/translate.hpp>
#include <bahdanau/io/model_file.hpp>

#include "batches.hpp"
#include "serve.hpp"

namespace benchmark {

/// The first batch's sources as text. Their `<eos>` is left out: `translate` appends it.
template <class Model>
std::vector<std::string> sentences_of(const Model& model, const bd::Sequences& rows) {
  std::vector<std::string> out(rows.rows());
  for (std::size_t r = 0; r < rows.rows(); ++r)
    for (std::size_t t = 0; t + 1 < static_cast<std::size_t>(rows.lengths[r]); ++t)
      out[r] += (t == 0 ? "" : " ") + model.vocabularies().source.token(rows.tokens(r, t));
  return out;
}

template <class Model, class Options>
class DecodeTask : public Task {
 public:
  /// `at_once` sentences in one call. An iteration is one such call.
  DecodeTask(const std::filesystem::path& model, const std::filesystem::path& batches, const Options& options,
             std::size_t at_once)
      : model_(Model::load(model)),
        options_(options),
        at_once_(at_once),
        sentences_(sentences_of(model_, read_batches(batches)[0].source)) {
    options_.max_length = model_.max_length();  // which all reach, for `<eos>` never comes
  }

  /// Score and tokens of every translation.
  std::string check() override {
    std::ostringstream out;
    out << std::setprecision(9);
    for (std::size_t i = 0; i < sentences_.size(); i += at_once_)
      for (const bd::Translation& t : model_.translate(some(i), options_)) {
        out << t.score;
        for (const std::string& token : t.target) out << ' ' << model_.vocabularies().target.id(token);
        out << " ; ";
      }
    return out.str();
  }

  void run(std::size_t iterations) override {
    for (std::size_t i = 0; i < iterations; ++i)
      model_.translate(some(i * at_once_ % sentences_.size()), options_);
  }

 private:
  std::span<const std::string> some(std::size_t first) const {
    return std::span<const std::string>(sentences_).subspan(first, at_once_);
  }

  Model model_;
  Options options_;
  std::size_t at_once_;
  std::vector<std::string> sentences_;
};

}  // namespace benchmark
