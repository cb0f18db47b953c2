// ROUGE by hand and by rouge-score, whose answers `make.py` recorded in `data/metrics.json`.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/rouge.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::Evaluation;
using bahdanau::Rouge1;
using bahdanau::Rouge2;
using bahdanau::RougeL;
using bahdanau::RougeTokens;

namespace {

template <class M>
void check_all(const std::string& kind) {
  for (const RougeTokens tokens : {RougeTokens::ascii, RougeTokens::none}) {
    const M metric{.tokens = tokens};
    const std::string key = kind + "_" + std::string(name(tokens)) + "_";
    bahdanau::test::for_each_recorded(metric, [&](const Evaluation<M>& got, const nlohmann::json& values) {
      if (!values.contains(key + "fmeasure")) return;
      CHECK(metric.precision(got.sum()) == bahdanau::test::recorded_value(values[key + "precision"]));
      CHECK(metric.recall(got.sum()) == bahdanau::test::recorded_value(values[key + "recall"]));
      CHECK(got.score() == bahdanau::test::recorded_value(values[key + "fmeasure"]));
    });
  }
}

}  // namespace

TEST_CASE("ROUGE-N is the share of common n-grams", "[rouge]") {
  const std::vector<std::string_view> reference{"the cat sat on the mat"};
  const auto words = Rouge1{}.statistics("the the the cat", reference);
  CHECK(words.precision == 3 / 4.);  // the twice, cat once
  CHECK(words.recall == 3 / 6.);
  CHECK(words.f1 == Approx(2 * (3 / 4.) * (3 / 6.) / (3 / 4. + 3 / 6.)));
  const auto pairs = Rouge2{}.statistics("on the mat sat", reference);
  CHECK(pairs.precision == 2 / 3.);
  CHECK(pairs.recall == 2 / 5.);
}

TEST_CASE("ROUGE-L is the longest common subsequence", "[rouge]") {
  const auto shares = RougeL{}.statistics("a x b y c", std::vector<std::string_view>{"a b c z"});
  CHECK(shares.precision == 3 / 5.);
  CHECK(shares.recall == 3 / 4.);
}

TEST_CASE("ROUGE is the mean of sentences, an empty one among them", "[rouge]") {
  Evaluation<Rouge1> evaluation;
  CHECK(evaluation.score() == 0);
  evaluation.add("a b", "a b");
  evaluation.add("", "a b");
  CHECK(evaluation.score() == 50);
}

TEST_CASE("of several references ROUGE takes the one with the best F1", "[rouge]") {
  CHECK(RougeL{}.statistics("a b", std::vector<std::string_view>{"a", "b a b", "c"}).f1 == Approx(4 / 5.));
}

TEST_CASE("ROUGE by letters of English knows no others, and by white space knows all", "[rouge]") {
  const std::vector<std::string_view> reference{"Élan, c'est"};
  CHECK(Rouge1{}.statistics("lan C EST", reference).f1 == 1);
  CHECK(Rouge1{.tokens = RougeTokens::none}.statistics("Élan, c'est", reference).f1 == 1);
  CHECK(Rouge1{.tokens = RougeTokens::none}.statistics("lan C EST", reference).f1 == 0);
}

TEST_CASE("ROUGE agrees with rouge-score", "[rouge]") {
  check_all<Rouge1>("rouge1");
  check_all<Rouge2>("rouge2");
  check_all<RougeL>("rougeL");
}

TEST_CASE("the kinds of ROUGE have names", "[rouge]") {
  CHECK(Rouge1{}.name() == "ROUGE-1");
  CHECK(Rouge2{}.name() == "ROUGE-2");
  CHECK(RougeL{}.name() == "ROUGE-L");
  CHECK(RougeL{.tokens = RougeTokens::none}.signature() == "tok:none|stem:no|score:f1");
}
