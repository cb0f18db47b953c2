// What is said of the comparison: a table, as text and as Markdown, and two pictures.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <bahdanau/plot/curve.hpp>
#include <bahdanau/text/tokenize.hpp>

#include "family.hpp"

namespace family {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::string out(256, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), format, values...)));
  return out;
}

}  // namespace

std::string LengthGroup::label() const {
  const std::string first = std::to_string(least);
  if (most == std::numeric_limits<std::size_t>::max()) return first + " and more";
  return least == most ? first : first + " to " + std::to_string(most);
}

std::vector<LengthGroup> length_groups(const Plan& plan) {
  std::vector<std::size_t> lengths;
  for (const bd::SentencePair& pair : plan.held_out) lengths.push_back(bd::tokenize(pair.source, {}).size());
  std::sort(lengths.begin(), lengths.end());
  const std::size_t enough = lengths.size() / 5;
  std::vector<LengthGroup> groups = {{1, 0, 0}};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const bool next_is_longer = i + 1 < lengths.size() && lengths[i + 1] > lengths[i];
    if (++groups.back().sentences < enough || !next_is_longer || lengths.size() - i - 1 < enough) continue;
    groups.back().most = lengths[i];
    groups.push_back({lengths[i] + 1, 0, 0});
  }
  groups.back().most = std::numeric_limits<std::size_t>::max();
  return groups;
}

std::string table(const std::vector<Row>& rows) {
  std::string out = formatted("%-11s %-10s %6s %7s %11s %7s %6s %9s\n", "model", "attention", "embed",
                              "hidden", "parameters", "loss", "BLEU", "tokens/s");
  for (const auto& [member, outcome] : rows)
    out += formatted("%-11s %-10s %6zu %7zu %11zu %7.3f %6.1f %9.0f\n", std::string(member.name).c_str(),
                     member.attends ? "yes" : "no", outcome.embed, outcome.hidden, outcome.parameters,
                     outcome.loss.back(), outcome.bleu, outcome.tokens_per_second);
  return out;
}

std::string markdown(const std::vector<Row>& rows, const Plan& plan) {
  std::string out =
      "| model | parts | embed | hidden | parameters | loss, nats per token | held-out BLEU | training, "
      "tokens/s |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const auto& [member, outcome] : rows)
    out += formatted("| %s | %s | %zu | %zu | %zu | %.3f | %.2f | %.0f |\n", std::string(member.name).c_str(),
                     std::string(member.parts).c_str(), outcome.embed, outcome.hidden, outcome.parameters,
                     outcome.loss.back(), outcome.bleu, outcome.tokens_per_second);
  return out + "\n" + plan.settings() + "; greedy\n";
}

void draw(const std::vector<Row>& rows, const Plan& plan, const std::vector<LengthGroup>& groups) {
  using bd::plot::Curve;
  using bd::plot::Stroke;
  std::vector<Curve> losses, bleu;
  for (const auto& [member, outcome] : rows) {
    const std::string name(member.name);
    const Stroke stroke = member.attends ? Stroke::solid : Stroke::dashed;
    losses.push_back({name, outcome.loss, stroke});
    bleu.push_back({name, outcome.bleu_by_length, stroke});
  }
  bd::plot::curve(
      plan.folder / "loss.svg", losses,
      {.title = "Training loss; dashed: without attention", .y_label = "nats per token", .log_y = true});
  std::vector<std::string> labels;
  for (const LengthGroup& group : groups) labels.push_back(group.label());
  bd::plot::curve(plan.folder / "bleu_by_length.svg", bleu,
                  {.title = "Held-out BLEU by length; dashed: without attention",
                   .x_label = "tokens of the source",
                   .x_ticks = labels,
                   .y_label = "BLEU"});
}

}  // namespace family
