// Intervals and comparisons: by laws that they must keep, by sacrebleu's, and with a metric of a stranger.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/metric/any_evaluation.hpp>
#include <bahdanau/metric/bootstrap.hpp>
#include <bahdanau/metric/evaluation.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using namespace bahdanau;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A metric of a stranger: the mean length of predictions, in bytes. It counts how often it reads a text.
struct MeanLength {
  std::size_t* read = nullptr;

  struct Statistics {
    std::uint64_t bytes = 0, sentences = 0;
    void operator+=(const Statistics& other) {
      bytes += other.bytes;
      sentences += other.sentences;
    }
  };
  Statistics statistics(std::string_view prediction, std::span<const std::string_view>) const {
    if (read != nullptr) ++*read;
    return {prediction.size(), 1};
  }
  double score(const Statistics& sum) const {
    return static_cast<double>(sum.bytes) / static_cast<double>(sum.sentences);
  }
  const char* name() const { return "mean length"; }
  const char* signature() const { return "unit:byte"; }
};
static_assert(Metric<MeanLength>);
static_assert(!Metric<int> && !Metric<std::string>);

std::vector<std::string> system_of(const std::string& name) {
  return test::recorded_metrics()["systems"][name].get<std::vector<std::string>>();
}

/// Predictions of lengths 0 to 99.
Evaluation<MeanLength> hundred(std::size_t* read = nullptr) {
  Evaluation<MeanLength> result(MeanLength{read});
  for (std::size_t i = 0; i < 100; ++i) result.add(std::string(i, 'x'), "");
  return result;
}

template <class M>
void agrees_with_sacrebleu(const M& metric, const std::string& name) {
  const auto& theirs = test::recorded_metrics()["confidence"][name];
  const std::vector<std::string> references = system_of("references"), first = system_of("first");
  const MetricResult ours = measure(metric, first, references);
  CHECK(ours.score == test::recorded_value(theirs["score"]));
  const double mean = theirs["mean"], half = theirs["half_width"];
  CHECK(ours.interval.low == Approx(mean - half).margin(0.3));
  CHECK(ours.interval.high == Approx(mean + half).margin(0.3));
  // sacrebleu's p value is that of one side where a difference is plain.
  CHECK(theirs["second"].get<double>() > 0.1);
  CHECK(compare(metric, first, system_of("second"), references).p_value > 0.1);
  CHECK(theirs["worse"].get<double>() < 0.01);
  CHECK(compare(metric, first, system_of("worse"), references).p_value < 0.01);
}

}  // namespace

TEST_CASE("intervals and comparisons are sacrebleu's but for its random numbers", "[bootstrap]") {
  agrees_with_sacrebleu(Bleu{}, "bleu");
  agrees_with_sacrebleu(Chrf{}, "chrf");
  agrees_with_sacrebleu(Ter{}, "ter");
}

TEST_CASE("the interval of a mean is as wide as statistics says", "[bootstrap]") {
  // 0 to 99 has a mean of 49.5 and a standard deviation of 28.87; that of the mean is a tenth of it.
  const MetricResult result = hundred().result({.resamples = 4000});
  CHECK(result.score == 49.5);
  CHECK(result.interval.low == Approx(49.5 - 1.96 * 2.887).margin(0.3));
  CHECK(result.interval.high == Approx(49.5 + 1.96 * 2.887).margin(0.3));
  const Interval narrow = hundred().result({.resamples = 4000, .confidence = 0.5}).interval;
  CHECK(narrow.low == Approx(49.5 - 0.6745 * 2.887).margin(0.3));
  CHECK(narrow.high == Approx(49.5 + 0.6745 * 2.887).margin(0.3));
}

TEST_CASE("an interval cuts off the same number of resamples on both sides", "[bootstrap]") {
  std::vector<double> scores;
  for (int i = 0; i < 1000; ++i) scores.push_back((i * 377) % 1000);  // 0 to 999 in some order
  for (const auto& [confidence, cut] : {std::pair{0.95, 25.}, {0.9, 50.}, {0.99, 5.}, {0.5, 250.}}) {
    const Interval interval = detail::percentile_interval(scores, confidence);
    CHECK(interval.low == cut);
    CHECK(interval.high == 999 - cut);
  }
  CHECK(detail::percentile_interval({3}, 0.95).low == 3);
}

TEST_CASE("a seed gives the same interval again, and another seed another", "[bootstrap]") {
  const Interval first = hundred().result().interval, again = hundred().result().interval;
  CHECK(first.low == again.low);
  CHECK(first.high == again.high);
  const Interval other = hundred().result({.seed = 2}).interval;
  CHECK((other.low != first.low || other.high != first.high));
}

TEST_CASE("sentences that are all alike leave no doubt", "[bootstrap]") {
  Evaluation<WordErrorRate> evaluation;
  for (int i = 0; i < 20; ++i) evaluation.add("a b", "a c");
  const MetricResult result = evaluation.result();
  CHECK(result.interval.low == 50);
  CHECK(result.interval.high == 50);
}

TEST_CASE("no text is read again for a resample", "[bootstrap]") {
  std::size_t read = 0;
  const Evaluation<MeanLength> evaluation = hundred(&read);
  evaluation.result();
  paired_bootstrap(evaluation.metric(), evaluation.statistics(), evaluation.statistics());
  CHECK(read == 100);
}

TEST_CASE("a system does not differ from itself", "[bootstrap]") {
  const std::vector<std::string> references = system_of("references"), first = system_of("first");
  const Comparison same = compare(Bleu{}, first, first, references);
  CHECK(same.difference == 0);
  CHECK(same.interval.low == 0);
  CHECK(same.interval.high == 0);
  CHECK(same.p_value == 1);
}

TEST_CASE("a comparison turned round has the other sign and the same p value", "[bootstrap]") {
  const std::vector<std::string> references = system_of("references");
  const std::vector<std::string> first = system_of("first"), worse = system_of("worse");
  const Comparison there = compare(Chrf{}, first, worse, references);
  const Comparison back = compare(Chrf{}, worse, first, references);
  CHECK(there.difference < 0);
  CHECK(there.first == measure(Chrf{}, first, references).score);
  CHECK(there.second == measure(Chrf{}, worse, references).score);
  CHECK(back.difference == -there.difference);
  CHECK(back.interval.low == -there.interval.high);
  CHECK(back.p_value == there.p_value);
}

TEST_CASE("pairs are compared on the same draws", "[bootstrap]") {
  // Each prediction is one byte longer: the difference is 1 in every resample, however much the means spread.
  Evaluation<MeanLength> longer;
  for (std::size_t i = 0; i < 100; ++i) longer.add(std::string(i + 1, 'x'), "");
  const Comparison comparison = paired_bootstrap(MeanLength{}, hundred().statistics(), longer.statistics());
  CHECK(comparison.interval.low == Approx(1));
  CHECK(comparison.interval.high == Approx(1));
  CHECK(comparison.p_value == Approx(1 / 1001.));
}

TEST_CASE("a result says how it was computed", "[bootstrap]") {
  Evaluation<Bleu> evaluation;
  evaluation.add("va !", "va !");
  const std::string version = "|version:bahdanau-" + std::to_string(BAHDANAU_VERSION_MAJOR) + "." +
                              std::to_string(BAHDANAU_VERSION_MINOR) + "." +
                              std::to_string(BAHDANAU_VERSION_PATCH);
  const MetricResult result = evaluation.result({.resamples = 10, .seed = 7});
  CHECK(result.name == "BLEU");
  CHECK(result.sentences == 1);
  CHECK(result.signature == "nrefs:1|bs:10|seed:7|case:mixed|eff:no|tok:13a|smooth:exp" + version);
  evaluation.add("va !", {"va !", "vas-y !"});
  CHECK(evaluation.signature() == "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp" + version);
}

TEST_CASE("metrics of all names score and have intervals", "[bootstrap]") {
  const std::vector<std::string> names = metric_names();
  CHECK(names.size() == 14);
  const std::vector<std::string> references = system_of("references"), first = system_of("first");
  for (const std::string& name : names) {
    INFO(name);
    AnyEvaluation evaluation = evaluation_named(name, true);
    for (std::size_t i = 0; i < first.size(); ++i)
      evaluation.add(first[i], std::vector<std::string>{references[i]});
    const MetricResult result = evaluation.result();
    CHECK(result.sentences == first.size());
    CHECK(result.interval.low < result.score);
    CHECK(result.interval.high > result.score);
    CHECK(result.interval.high - result.interval.low < 15);
    CHECK_THAT(result.signature, StartsWith("nrefs:1|bs:1000|seed:1|"));
  }
  AnyEvaluation own(MeanLength{});
  own.add("xx", std::vector<std::string>{""});
  CHECK(own.result().score == 2);
}

TEST_CASE("two evaluations of a metric that has a name are compared as those of its type", "[bootstrap]") {
  const std::vector<std::string> references = system_of("references"), first = system_of("first"),
                                 second = system_of("second");
  const auto evaluated = [&](const char* name, const std::vector<std::string>& predictions) {
    AnyEvaluation evaluation = evaluation_named(name);
    for (std::size_t i = 0; i < predictions.size(); ++i)
      evaluation.add(predictions[i], std::vector<std::string>{references[i]});
    return evaluation;
  };
  const Comparison expected = compare(Bleu{BleuTokens::characters}, first, second, references, {.seed = 3});
  const Comparison got = evaluated("bleu-char", first).compare(evaluated("bleu-char", second), {.seed = 3});
  CHECK(got.first == expected.first);
  CHECK(got.difference == expected.difference);
  CHECK(got.interval.low == expected.interval.low);
  CHECK(got.p_value == expected.p_value);
  CHECK_THROWS_WITH(evaluated("bleu-char", first).compare(evaluated("bleu-none", second)),
                    "AnyEvaluation::compare: expected BLEU of case:mixed|eff:no|tok:char|smooth:exp, got "
                    "BLEU of case:mixed|eff:no|tok:none|smooth:exp");
  CHECK_THROWS_WITH(
      evaluated("bleu", first).compare(evaluated("chrf", second)),
      StartsWith("AnyEvaluation::compare: expected BLEU of ") && ContainsSubstring("got chrF2 "));
}

TEST_CASE("a name that no metric has is answered with the names", "[bootstrap][error]") {
  CHECK_THROWS_WITH(evaluation_named("blue"), StartsWith("metric: expected one of bleu, chrf, chrf++, ter") &&
                                                  ContainsSubstring(", got \"blue\""));
}

TEST_CASE("what cannot be measured is said", "[bootstrap][error]") {
  Evaluation<Bleu> evaluation;
  CHECK_THROWS_WITH(evaluation.result(), "BLEU: expected at least one sentence, got none");
  evaluation.add("a", "a");
  CHECK_THROWS_WITH(evaluation.add("a", std::vector<std::string>{}),
                    "BLEU, sentence 1: expected at least one reference, got none");
  CHECK_THROWS_WITH(evaluation.add("a \xFF", "a"),
                    "BLEU, sentence 1, text: expected UTF-8, got byte 0xff at offset 2");
  CHECK(evaluation.statistics().size() == 1);
  CHECK_THROWS_WITH(evaluation.result({.resamples = 0}), "Bootstrap.resamples: expected at least 1, got 0");
  CHECK_THROWS_WITH(evaluation.result({.confidence = 1}),
                    "Bootstrap.confidence: expected a number above 0 and below 1, got 1");
  const std::vector<std::string> one{"a"}, two{"a", "b"};
  CHECK_THROWS_WITH(measure(Bleu{}, one, two), "predictions: expected as many as references, 2, got 1");
  CHECK_THROWS_WITH(
      paired_bootstrap(MeanLength{}, hundred().statistics(), std::vector<MeanLength::Statistics>(3)),
      "paired_bootstrap: expected as many sentences of both systems, got 100 and 3");
}
