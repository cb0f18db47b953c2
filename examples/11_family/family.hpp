// What the members of the family have in common in this comparison: what each is told, and what each says of
// itself. A member is a type; behind `Member` the rest of the program knows none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/text/pairs.hpp>

namespace family {

namespace bd = bahdanau;

/// What is the same for all of them.
struct Plan {
  std::vector<bd::SentencePair> training, held_out;
  std::size_t max_length = 10;  // of a training row
  std::size_t budget = 100000;  // parameters, about so many
  std::size_t epochs = 40;
  double rate = 0.005;                      // Adam's
  std::uint64_t seed = 1;                   // of first weights, order and dropout
  std::filesystem::path folder = "family";  // for checkpoints, outcomes and pictures
  bool resume = false;                      // keep what an earlier run with the same settings has done

  /// The numbers that an outcome depends on, on one line; not the pairs themselves.
  std::string settings() const;
};

/// Held-out sentences whose sources have so many tokens.
struct LengthGroup {
  std::size_t least, most;
  std::size_t sentences = 0;

  std::string label() const;
};

/// At most five groups of about as many held-out sentences each.
std::vector<LengthGroup> length_groups(const Plan& plan);

/// What became of a member.
struct Outcome {
  std::size_t embed = 0, hidden = 0, parameters = 0;
  double tokens_per_second = 0;        // target tokens, in training
  double bleu = 0;                     // of the held-out sentences
  std::vector<double> loss;            // of each epoch, in nats per token
  std::vector<double> bleu_by_length;  // of each group
};

/// A model that takes part.
struct Member {
  std::string_view name;
  std::string_view parts;  // its policies, where they are not d2l's
  bool attends;
  Outcome (*train)(const Member& member, const Plan& plan, const std::vector<LengthGroup>& groups);
};

// Each in a file of its own, so that they compile side by side.
std::vector<Member> gru_members();
std::vector<Member> lstm_members();
std::vector<Member> gru_reset_before_members();
std::vector<Member> score_members();

/// The outcome that an earlier run has left for these settings; throws where there is none.
Outcome read_outcome(const std::filesystem::path& path, const std::string& settings);
void write_outcome(const std::filesystem::path& path, const std::string& settings, const Outcome& outcome);

/// The table, as it is printed and as Markdown, and the pictures.
struct Row {
  Member member;
  Outcome outcome;
};
std::string table(const std::vector<Row>& rows);
std::string markdown(const std::vector<Row>& rows, const Plan& plan);
void draw(const std::vector<Row>& rows, const Plan& plan, const std::vector<LengthGroup>& groups);

}  // namespace family
