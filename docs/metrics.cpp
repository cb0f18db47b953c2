// The program of the page on metrics.
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/metric/any_evaluation.hpp>

namespace bd = bahdanau;

void print(const bd::MetricResult& result) {
  std::cout << std::fixed << std::setprecision(2) << result.name << ' ' << result.score << " ["
            << result.interval.low << ", " << result.interval.high << "]\n";
}

struct LengthRatio {  // predicted bytes for a hundred of the references
  struct Statistics {
    std::uint64_t predicted = 0, reference = 0;
    Statistics& operator+=(const Statistics& other) {
      predicted += other.predicted;
      reference += other.reference;
      return *this;
    }
  };
  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    return {prediction.size(), references.front().size()};
  }
  double score(const Statistics& sum) const {
    return sum.reference == 0 ? 0
                              : 100 * static_cast<double>(sum.predicted) / static_cast<double>(sum.reference);
  }
  std::string name() const { return "length"; }
  std::string signature() const { return "unit:byte"; }
};
static_assert(bd::Metric<LengthRatio>);

int main() {
  const std::vector<std::string> references{
      "The old woman opens the door.", "A boat leaves at 10:30, not before.",
      "He didn't see the river.",      "We found bread and 3.5 litres of milk.",
      "\"Come in,\" she said.",        "The child sleeps near the window."};
  const std::vector<std::string> predictions{
      "The old woman opened the door.", "A boat leaves at 10:30, not later.",
      "He did not see the river.",      "We found 3.5 litres of milk and bread.",
      "\"Come in\", she said.",         "The child sleeps near the window."};
  const std::vector<std::string> others{
      "An old woman is opening a door.", "The boat goes at 10.30, not before.",
      "He didn't see any river.",        "We have bread and milk.",
      "She said: \"Come in.\"",          "A child is asleep near the window."};

  const bd::MetricResult bleu = bd::measure(bd::Bleu{}, predictions, references);
  std::cout << std::fixed << std::setprecision(2) << bleu.name << ' ' << bleu.score << " ["
            << bleu.interval.low << ", " << bleu.interval.high << "]\n"
            << bleu.signature << '\n';

  print(bd::measure(bd::Chrf{}, predictions, references));
  print(bd::measure(bd::ChrfPlusPlus{}, predictions, references));
  print(bd::measure(bd::Ter{}, predictions, references));
  print(bd::measure(bd::CharacterErrorRate{.lowercase = true}, predictions, references));
  print(bd::measure(bd::RougeL{.tokens = bd::RougeTokens::none}, predictions, references));

  const bd::Comparison comparison = bd::compare(bd::Chrf{}, predictions, others, references);
  std::cout << comparison.first << " and " << comparison.second << ": " << comparison.difference << " ["
            << comparison.interval.low << ", " << comparison.interval.high << "], p " << std::setprecision(3)
            << comparison.p_value << '\n';

  bd::Evaluation<bd::PhoneErrorRate> phones;
  bd::Evaluation<bd::DictionaryWordErrorRate> words;
  for (const char* said : {"T AH M AA T OW", "T OW M EY T OW"}) {
    phones.add(said, {"T AH M EY T OW", "T AH M AA T OW"});  // two ways to say it
    words.add(said, {"T AH M EY T OW", "T AH M AA T OW"});
  }
  std::cout << phones.score() << ' ' << words.score() << '\n';

  print(bd::measure(LengthRatio{}, predictions, references));

  for (const std::string name : {"wer", "exact"}) {
    bd::AnyEvaluation evaluation = bd::evaluation_named(name);
    for (std::size_t i = 0; i < predictions.size(); ++i)
      evaluation.add(predictions[i], std::span(&references[i], 1));
    print(evaluation.result({.resamples = 200, .seed = 7, .confidence = 0.9}));
  }
  return bleu.score > 50 && bd::evaluation_of(bd::Bleu{}, references, references).score() > 99.9 ? 0 : 1;
}
