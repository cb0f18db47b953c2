// The whole family side by side: every model on the same pairs, with the same seed, epochs and, within some
// percent, number of parameters; then what each has learnt of sentences that it has not seen.
//
//   example_11_family [--data FILE] [--held-out FILE] [--budget N] [--epochs N] [--rate X] [--max-length N]
//                     [--seed N] [--folder FOLDER] [--only NAME,NAME] [--resume]
//
// Without --held-out it is every tenth pair of the data. --resume keeps checkpoints, and goes on from them.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/text/pairs.hpp>

#include "family.hpp"

namespace {

namespace fs = std::filesystem;
using namespace family;

std::vector<bd::SentencePair> read_pairs(const fs::path& path) {
  std::vector<bd::SentencePair> pairs;
  bd::PairReader reader(path);
  for (bd::SentencePair pair; reader.next(pair);) pairs.push_back(pair);
  return pairs;
}

/// Every tenth pair is held out.
void split(std::vector<bd::SentencePair> pairs, Plan& plan) {
  for (std::size_t i = 0; i < pairs.size(); ++i)
    (i % 10 == 9 ? plan.held_out : plan.training).push_back(std::move(pairs[i]));
}

struct Arguments {
  Plan plan;
  std::string only;  // names with commas, or empty: all
};

Arguments read_arguments(int count, char** words) {
  std::map<std::string, std::string> given = {
      {"--data", "eng-fra.tsv"}, {"--held-out", ""},     {"--budget", "100000"},
      {"--epochs", "40"},        {"--rate", "0.005"},    {"--max-length", "10"},
      {"--seed", "1"},           {"--folder", "family"}, {"--only", ""}};
  Arguments out;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--resume")
      out.plan.resume = true;
    else if (given.contains(word) && i + 1 < count)
      given[word] = words[++i];
    else
      bd::fail("example_11_family", "options as main.cpp has them", bd::detail::quote(word));
  }
  const auto whole = [&](const char* name) { return std::stoul(given[name]); };
  out.plan.budget = whole("--budget");
  out.plan.epochs = std::max(1UL, whole("--epochs"));
  out.plan.max_length = whole("--max-length");
  out.plan.seed = whole("--seed");
  out.plan.rate = std::stod(given["--rate"]);
  out.plan.folder = given["--folder"];
  out.only = given["--only"];
  if (given["--held-out"].empty()) {
    split(read_pairs(given["--data"]), out.plan);
  } else {
    out.plan.training = read_pairs(given["--data"]);
    out.plan.held_out = read_pairs(given["--held-out"]);
  }
  return out;
}

/// A name as it stands in a list, between commas.
std::string in_commas(std::string_view name) { return std::string(",").append(name).append(","); }

std::vector<Member> members(const std::string& only) {
  std::vector<Member> found;
  for (const auto group : {gru_members, gru_reset_before_members, lstm_members, score_members})
    for (const Member& member : group())
      if (only.empty() || in_commas(only).find(in_commas(member.name)) != std::string::npos)
        found.push_back(member);
  // Those without attention last: pictures have a colour for each of the others.
  std::stable_partition(found.begin(), found.end(), [](const Member& member) { return member.attends; });
  if (found.empty()) bd::fail("--only", "names of models", bd::detail::quote(only));
  return found;
}

/// Trains it, unless an earlier run has.
Outcome outcome_of(const Member& member, const Plan& plan, const std::vector<LengthGroup>& groups) {
  const fs::path path = plan.folder / (std::string(member.name) + ".outcome");
  if (plan.resume && fs::exists(path)) return read_outcome(path, plan.settings());
  const Outcome outcome = member.train(member, plan, groups);
  write_outcome(path, plan.settings(), outcome);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto [plan, only] = read_arguments(argc, argv);
  const std::vector<LengthGroup> groups = length_groups(plan);
  fs::create_directories(plan.folder);
  std::printf("%s\n", plan.settings().c_str());
  std::vector<Row> rows;
  for (const Member& member : members(only)) {
    rows.push_back({member, outcome_of(member, plan, groups)});
    // The header once, and then each row as soon as it is there.
    const std::string all = table(rows),
                      now = rows.size() == 1 ? "\n" + all : all.substr(all.rfind('\n', all.size() - 2) + 1);
    std::printf("%s", now.c_str());
    std::fflush(stdout);
  }
  bd::write_atomically(plan.folder / "table.md", markdown(rows, plan));
  draw(rows, plan, groups);
  std::printf("\nThe table as Markdown and the pictures are in %s\n", plan.folder.c_str());
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
