// Batches for tests: out of golden files, or drawn at random with ragged lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/text/vocabularies.hpp>

#include "support/golden.hpp"

namespace bahdanau::test {

inline Sequences golden_sequences(const SafetensorsFile& file, const std::string& side) {
  const auto lengths = file.read<std::int32_t>(side + ".lengths");
  return {golden_array<Token, 2>(file, side + ".tokens"), {lengths.begin(), lengths.end()}};
}

inline Batch golden_batch(const SafetensorsFile& file) {
  return {golden_sequences(file, "source"), golden_sequences(file, "target")};
}

/// Vocabularies of plain numbers.
inline Vocabularies numbered(std::size_t source, std::size_t target, std::size_t max_length) {
  return {Vocabulary::numbered(source), Vocabulary::numbered(target), {.max_length = max_length}};
}

/// Rows of random words with lengths from 1 to `width`, each ending in `<eos>`.
inline Sequences random_sequences(std::size_t rows, std::size_t width, std::size_t vocabulary,
                                  std::uint64_t seed) {
  const random::Key key{seed};
  std::vector<std::vector<Token>> out;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t length = 1 + static_cast<std::size_t>(key.uniform(r) * static_cast<double>(width));
    std::vector<Token> row;
    for (std::size_t t = 0; t + 1 < length; ++t)
      row.push_back(4 + static_cast<Token>(key.derive(r).uniform(t) * static_cast<double>(vocabulary - 4)));
    row.push_back(reserved::eos);
    out.push_back(row);
  }
  return Sequences::from_rows(out);
}

/// The tokens of one row of many.
inline std::vector<Token> row_tokens(const Sequences& all, std::size_t row) {
  const Token* begin = all.tokens.data() + row * all.width();
  return {begin, begin + all.lengths[row]};
}

/// One row of many, as wide as it is long.
inline Sequences row_alone(const Sequences& all, std::size_t row) {
  const std::vector<Token> tokens = row_tokens(all, row);
  return Sequences::from_rows({&tokens, 1});
}

}  // namespace bahdanau::test
