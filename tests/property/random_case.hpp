// A random training problem: sizes of a model, rows of random lengths, and how they are put together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include <bahdanau/core/random.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/config.hpp>

namespace bahdanau::test {

enum class Lengths { equal, nearly_equal, ragged, one_long };

inline std::ostream& operator<<(std::ostream& out, Lengths lengths) {
  constexpr const char* names[] = {"equal", "nearly equal", "ragged", "one long"};
  return out << names[static_cast<std::size_t>(lengths)];
}

/// All that a case depends on.
struct RandomCase {
  std::size_t model = 0;  // of those that a test knows
  std::size_t layers = 1, embed = 1, hidden = 1;
  std::size_t source_words = 1, target_words = 1;  // beside the reserved tokens
  std::size_t rows = 1;                            // of the batch, which is cut into shards of about 32
  std::size_t longest_source = 1, longest_target = 1;
  Lengths first = Lengths::equal, rest = Lengths::equal;  // of the rows before `split`, and of the others
  std::size_t split = 0;
  bool by_length = false;  // rows sorted as `Grouping::by_length` does
  bool padded = false;     // FinalState::padded
  bool residual = false;
  Bridge bridge = Bridge::both;  // where a model has a choice
  bool tied = false;             // likewise
  std::size_t replicas = 1;
  float dropout = 0, embedding_dropout = 0;  // of the trainings
  bool per_sequence = false;                 // DropoutMasks::per_sequence
  double teacher = 1;                        // of their scheduled sampling
  double smoothing = 0;
  std::uint64_t seed = 0;  // of tokens, lengths and weights

  Config config(float rate) const {
    return {.embed = embed,
            .hidden = hidden,
            .layers = layers,
            .dropout = rate,
            .final_state = padded ? FinalState::padded : FinalState::valid,
            .bridge = bridge,
            .tied = tied,
            .residual = residual,
            .dropout_masks = per_sequence ? DropoutMasks::per_sequence : DropoutMasks::per_position,
            .embedding_dropout = rate > 0 ? embedding_dropout : 0};
  }
  std::size_t max_length() const { return std::max(longest_source, longest_target); }
  Batch batch(std::uint64_t number) const;
};

inline std::ostream& operator<<(std::ostream& out, const RandomCase& c) {
  return out << "model " << c.model << ", " << c.layers << " layers, embed " << c.embed << ", hidden "
             << c.hidden << ", words " << c.source_words << " and " << c.target_words << ", " << c.rows
             << " rows up to " << c.longest_source << " and " << c.longest_target << " long: " << c.split
             << " " << c.first << ", then " << c.rest << (c.by_length ? ", by length" : "")
             << (c.padded ? ", padded" : "") << (c.residual ? ", residual" : "") << (c.tied ? ", tied" : "")
             << ", bridge " << name(c.bridge) << ", " << c.replicas << " replicas, dropout " << c.dropout
             << " and " << c.embedding_dropout << (c.per_sequence ? " per sequence" : "") << ", teacher "
             << c.teacher << ", smoothing " << c.smoothing << ", seed " << c.seed;
}
inline void showValue(const RandomCase& c, std::ostream& out) { out << c; }

/// Rows of tokens with lengths of a kind.
inline std::vector<Token> random_row(Lengths lengths, std::size_t longest, std::size_t words, bool chosen,
                                     random::Key key) {
  const auto below = [&](std::size_t n, std::uint64_t i) {
    return static_cast<std::size_t>(key.uniform(i) * static_cast<double>(n));
  };
  std::size_t length = longest;
  if (lengths == Lengths::nearly_equal) length -= std::min(longest - 1, below(2, 0));
  if (lengths == Lengths::ragged) length = 1 + below(longest, 0);
  if (lengths == Lengths::one_long && !chosen) length = 1 + below(std::min<std::size_t>(longest, 3), 0);
  std::vector<Token> row;
  for (std::size_t t = 1; t < length; ++t) row.push_back(4 + static_cast<Token>(below(words, t)));
  row.push_back(reserved::eos);
  return row;
}

/// One of the batches of a case; `number` changes lengths and tokens.
inline Batch RandomCase::batch(std::uint64_t number) const {
  const random::Key key = random::Key{seed}.derive(number);
  std::vector<std::pair<std::vector<Token>, std::vector<Token>>> pairs;
  for (std::size_t r = 0; r < rows; ++r) {
    const Lengths lengths = r < split ? first : rest;
    const bool chosen = r == 0 || r == split;
    pairs.emplace_back(random_row(lengths, longest_target, target_words, chosen, key.derive(2 * r)),
                       random_row(lengths, longest_source, source_words, chosen, key.derive(2 * r + 1)));
  }
  if (by_length)
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first.size(), a.second.size(), a) < std::tuple(b.first.size(), b.second.size(), b);
    });
  std::vector<std::vector<Token>> source, target;
  for (auto& [to, from] : pairs) {
    source.push_back(std::move(from));
    target.push_back(std::move(to));
  }
  return {Sequences::from_rows(source), Sequences::from_rows(target)};
}

/// Cases for `models` models. Small ones come first; most widths are small, some pass the widths of vectors,
/// panels and blocks. Rows and lengths are bounded so that a thousand cases take a minute.
inline rc::Gen<RandomCase> random_cases(std::size_t models) {
  return rc::gen::exec([=] {
    const auto up_to = [](std::size_t n) { return *rc::gen::inRange<std::size_t>(1, n + 1); };
    const auto lengths = [] {
      return *rc::gen::element(Lengths::equal, Lengths::nearly_equal, Lengths::ragged, Lengths::one_long);
    };
    RandomCase c;
    c.model = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, models));
    c.layers = *rc::gen::weightedElement<std::size_t>({{4, 1}, {4, 2}, {1, 3}});
    c.seed = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, 1U << 30));
    const bool wide = *rc::gen::weightedElement<bool>({{15, false}, {1, true}});
    c.hidden = wide ? *rc::gen::element<std::size_t>(48, 64, 127, 128, 130, 137) : up_to(20);
    c.embed = wide ? *rc::gen::element<std::size_t>(5, 48, 129) : up_to(12);
    c.source_words = up_to(20);
    c.target_words = up_to(20);
    // Often several shards, and then seldom long.
    const bool many = *rc::gen::weightedElement<bool>({{1, false}, {1, true}});
    c.rows = many ? 32 + up_to(wide ? 40 : 98) : up_to(32);
    const bool long_rows = !wide && *rc::gen::weightedElement<bool>({{4, false}, {1, true}});
    const std::size_t longest = long_rows ? (many ? 30 : 60) : wide ? 8 : 12;
    c.longest_source = up_to(longest);
    c.longest_target = up_to(longest);
    c.first = lengths();
    c.rest = lengths();
    c.split = *rc::gen::element<std::size_t>(0, c.rows / 3, c.rows / 2, std::min<std::size_t>(32, c.rows));
    c.by_length = *rc::gen::arbitrary<bool>();
    c.padded = *rc::gen::weightedElement<bool>({{5, false}, {1, true}});
    c.dropout = *rc::gen::element(0.0F, 0.1F, 0.5F);
    c.smoothing = *rc::gen::element(0.0, 0.1);
    c.residual = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
    c.embedding_dropout = *rc::gen::element(0.0F, 0.2F);
    c.per_sequence = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
    c.teacher = *rc::gen::weightedElement<double>({{3, 1.0}, {1, 0.5}});
    c.bridge = *rc::gen::element(Bridge::both, Bridge::backward, Bridge::mean);
    c.tied = *rc::gen::arbitrary<bool>();
    c.replicas = *rc::gen::weightedElement<std::size_t>({{3, 1}, {1, 2}, {1, 4}});
    return c;
  });
}

}  // namespace bahdanau::test
