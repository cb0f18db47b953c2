// Batches of plain token ids: padded rows with their valid lengths.
// They are all a model needs to train and to decode; text is turned into them elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/token.hpp>

namespace bahdanau {

/// Rows of token ids, of which the first `lengths[r]` of row r count; what follows is never looked at.
struct Sequences {
  Array<Token, 2> tokens;      // [rows, width]
  std::vector<Index> lengths;  // [rows], each from 1 to width

  Sequences() = default;
  Sequences(Array<Token, 2> ids, std::vector<Index> valid_lengths)
      : tokens(std::move(ids)), lengths(std::move(valid_lengths)) {}
  /// Full rows.
  explicit Sequences(Array<Token, 2> ids) : tokens(std::move(ids)) {
    lengths.assign(tokens.shape(0), static_cast<Index>(tokens.shape(1)));
  }

  /// Rows of any lengths, padded to the longest, or to a width that is larger.
  static Sequences from_rows(std::span<const std::vector<Token>> rows, std::size_t width = 0) {
    for (const auto& row : rows) width = std::max(width, row.size());
    auto ids = Array<Token, 2>::from_shape({rows.size(), width});
    std::fill(ids.begin(), ids.end(), reserved::pad);
    std::vector<Index> valid;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy(rows[r].begin(), rows[r].end(), ids.data() + r * width);
      valid.push_back(static_cast<Index>(rows[r].size()));
    }
    return {std::move(ids), std::move(valid)};
  }

  std::size_t rows() const { return tokens.shape(0); }
  std::size_t width() const { return tokens.shape(1); }

  /// Throws unless every length fits its row and every valid token is below `vocabulary`.
  void check(std::string_view where, std::size_t vocabulary) const {
    const std::string name(where);
    if (rows() == 0) fail(name, "at least one sentence", "none");
    detail::require_equal(name, "valid lengths, one per row:", rows(), lengths.size());
    for (std::size_t r = 0; r < rows(); ++r) {
      if (lengths[r] < 1 || static_cast<std::size_t>(lengths[r]) > width())
        fail(name + ", row " + detail::text(r), "a valid length from 1 to " + detail::text(width()),
             detail::text(lengths[r]));
      for (Index t = 0; t < lengths[r]; ++t)
        if (const Token id = tokens(r, static_cast<std::size_t>(t));
            id < 0 || static_cast<std::size_t>(id) >= vocabulary)
          fail(name + ", row " + detail::text(r) + ", position " + detail::text(t),
               "a token id from 0 to " + detail::text(vocabulary - 1), detail::text(id));
    }
  }
};

/// Source sentences and their translations; both end in `<eos>`, which the model learns to predict.
struct Batch {
  Sequences source, target;

  /// Throws unless both sides are in order and have equally many rows.
  void check(std::size_t source_vocabulary, std::size_t target_vocabulary) const {
    source.check("batch source", source_vocabulary);
    target.check("batch target", target_vocabulary);
    detail::require_equal("batch", "target rows, one per source row:", source.rows(), target.rows());
  }
};

/// Some rows of checked sequences; `first` is the number of the first one in its batch. They may be read
/// from their ends: what comes first is then the last valid token, `<eos>`.
struct SequenceRows {
  const Token* tokens;  // row r starts at tokens + r * stride; `at` reads them in the model's order
  std::size_t stride;
  const Index* lengths;
  std::size_t count, first;
  bool reversed = false;

  static SequenceRows of(const Sequences& s, std::size_t first, std::size_t count) {
    return {s.tokens.data() + first * s.width(), s.width(), s.lengths.data() + first, count, first, false};
  }
  static SequenceRows of(const Sequences& s) { return of(s, 0, s.rows()); }

  /// Token `step` of a row; beyond its length what pads it.
  Token at(std::size_t row, std::size_t step) const {
    if (reversed && step >= length(row)) return reserved::pad;
    return tokens[row * stride + (reversed ? length(row) - 1 - step : step)];
  }
  std::size_t length(std::size_t row) const { return static_cast<std::size_t>(lengths[row]); }
};

namespace detail {
using bahdanau::SequenceRows;  // its name in 0.1
}

}  // namespace bahdanau
