// Writes down what the beam of a sentence has looked at, step by step, and what became of it.
// The beam tells; it decides nothing by it, and where nobody asked there is none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/token.hpp>
#include <bahdanau/decode/hypotheses.hpp>
#include <bahdanau/model/search_history.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau::detail {

/// The history of one sentence's beam, while it grows. Rows are those of the search's batch.
class BeamRecorder {
 public:
  explicit BeamRecorder(std::size_t width) : width_(width) {}

  /// A step begins: these are its candidates, best first in each bank, of rows from `first_row` on.
  void offered(std::size_t first_row, std::span<const std::vector<Candidate>> banks) {
    auto& step = steps_.emplace_back();
    for (const auto& bank : banks)
      for (const Candidate& c : bank) {
        const std::size_t parent = place_of_row_.empty() ? 0 : place_of_row_[c.row - first_row];
        const auto better = [](const Candidate& of, const Seen& seen) {
          return of.score > seen.candidate.score;
        };
        const auto place =
            banks.size() > 1 ? std::upper_bound(step.begin(), step.end(), c, better) : step.end();
        step.insert(place, {c, parent, Fate::dropped, std::numeric_limits<double>::quiet_NaN()});
      }
    place_of_.clear();
    for (std::size_t i = 0; i < step.size(); ++i)
      place_of_[{step[i].candidate.row, step[i].candidate.token}] = i;
  }
  /// One of them is a whole translation, ranked by `rank`.
  void ended(const Candidate& c, double rank) {
    Seen& seen = find(c);
    seen.fate = Fate::ended;
    seen.rank = rank;
  }
  /// These were the best of the step,
  void chosen(std::span<const Candidate> running) {
    for (const Candidate& c : running) find(c).fate = Fate::pruned;
  }
  /// and of them these go on, as the sentence's rows of the next step, in this order.
  void kept(std::span<const Candidate> running) {
    place_of_row_.clear();
    for (const Candidate& c : running) {
      find(c).fate = Fate::kept;
      place_of_row_.push_back(place_of_.at({c.row, c.token}));
    }
  }

  /// All of it, with the hypotheses that were found, best first.
  SearchHistory history(const Vocabulary& vocabulary, std::span<const Leaf> found) const {
    SearchHistory out{.steps = {}, .width = width_};
    for (const auto& step : steps_) {
      auto& written = out.steps.emplace_back();
      for (const Seen& seen : step)
        written.push_back({seen.parent, vocabulary.token(seen.candidate.token), seen.candidate.log_prob,
                           seen.candidate.score, seen.fate, seen.rank});
    }
    for (std::size_t place = 0; place < found.size(); ++place)
      for (std::size_t i = 0; i < steps_[found[place].step].size(); ++i)
        if (const Candidate& c = steps_[found[place].step][i].candidate;
            c.row == found[place].row && c.token == found[place].token)
          out.steps[found[place].step][i].place = place + 1;
    return out;
  }

 private:
  struct Seen {
    Candidate candidate;
    std::size_t parent;
    Fate fate;
    double rank;
  };

  Seen& find(const Candidate& c) { return steps_.back()[place_of_.at({c.row, c.token})]; }

  std::size_t width_;  // of the beam
  std::vector<std::vector<Seen>> steps_;
  std::map<std::pair<std::size_t, Token>, std::size_t> place_of_;  // in the step, by row and token
  std::vector<std::size_t> place_of_row_;  // in the step before, of its rows that went on
};

}  // namespace bahdanau::detail
