// bahdanau compare from outside: files of translations beside files of references.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <bahdanau/metric/any_evaluation.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace bd = bahdanau;

namespace {

const std::string references =
    "Il court maintenant dans la rue.\nElle a trouvé un manteau bleu.\nJe suis chez moi.\nVa !\n"
    "Nous avons vu ton frère hier soir.\n";
const std::string better =
    "Il court maintenant dans la rue.\nElle a trouvé un manteau vert.\nJe suis chez moi.\nVa !\n"
    "Nous avons vu ta sœur hier soir.\n";
const std::string worse =
    "Il marche dans la rue.\nelle a un manteau vert.\nJe suis à la maison.\nVa !\nOn a vu ta sœur hier.\n";

/// Runs it on files r (references), a and b, in a folder of their own.
Run compare(const std::string& arguments, const std::string& first = better,
            const std::string& second = worse) {
  const TemporaryDirectory files;
  put(files / "r", references);
  put(files / "a", first);
  put(files / "b", second);
  return run_shell("cd " + shell_word(files / ".") + " && \"$TOOL\" compare " + arguments);
}

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream stream(line);
  for (std::string column; std::getline(stream, column, '\t');) out.push_back(column);
  return out;
}

}  // namespace

TEST_CASE("compare gives a file's value, interval and signature for all metrics", "[cli][compare]") {
  const std::vector<std::string> predicted = lines_in(better), expected = lines_in(references);
  for (const std::string& name : bd::metric_names()) {
    INFO(name);
    const Run run = compare("--reference r a --metric " + name);
    CHECK(run.code == 0);
    auto evaluation = bd::evaluation_named(name);
    for (std::size_t i = 0; i < expected.size(); ++i)
      evaluation.add(predicted[i], std::vector<std::string>{expected[i]});
    const bd::MetricResult result = evaluation.result();
    const std::vector<std::string> got = columns(run.out);
    REQUIRE(got.size() == 4);
    CHECK(got[0] == result.name);
    CHECK(std::stod(got[1]) == Approx(result.score).margin(0.0051));
    CHECK_THAT(got[2], StartsWith("[") && ContainsSubstring(", "));
    CHECK(got[3] == result.signature + "\n");
  }
}

TEST_CASE("compare gives the difference of two files and its interval", "[cli][compare]") {
  const Run run = compare("--reference r a b --metric bleu,chrf");
  CHECK(run.code == 0);
  const std::vector<std::string> lines = lines_in(run.out);
  REQUIRE(lines.size() == 2);
  const bd::Comparison expected =
      bd::compare(bd::Bleu{}, lines_in(better), lines_in(worse), lines_in(references));
  const std::vector<std::string> got = columns(lines[0]);
  REQUIRE(got.size() == 7);
  CHECK(got[0] == "BLEU");
  CHECK(std::stod(got[1]) == Approx(expected.first).margin(0.0051));
  CHECK(std::stod(got[2]) == Approx(expected.second).margin(0.0051));
  CHECK(std::stod(got[3]) == Approx(expected.difference).margin(0.0051));
  CHECK(std::stod(got[4].substr(1)) == Approx(expected.interval.low).margin(0.0051));
  CHECK(std::stod(got[5].substr(2)) == Approx(expected.p_value).margin(0.00051));
  CHECK_THAT(got[6], StartsWith("nrefs:1|bs:1000|seed:1|case:mixed|eff:no|tok:13a|"));
  CHECK_THAT(lines[1], StartsWith("chrF2\t"));
  const Run same = compare("--reference r a a");
  CHECK_THAT(same.out, ContainsSubstring("\t0.00\t[0.00, 0.00]\tp 1.000\t"));
}

TEST_CASE("compare has BLEU of characters and of text that is tokenised", "[cli][compare]") {
  const Run run = compare("--reference r a b --metric bleu-char --metric bleu-none");
  const std::vector<std::string> lines = lines_in(run.out);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], ContainsSubstring("|tok:char|"));
  CHECK_THAT(lines[1], ContainsSubstring("|tok:none|"));
  CHECK(columns(lines[0])[1] != columns(lines[1])[1]);
}

TEST_CASE("compare says what is wrong", "[cli][compare][error]") {
  const Run shorter = compare("--reference r a b", better, "Va !\n");
  CHECK(shorter.code == 1);
  CHECK(shorter.out.empty());
  CHECK(shorter.err == "bahdanau: b: expected as many lines as r, 5, got 1\n");
  const Run bytes = compare("--reference r a", "Va !\n\xff\n");
  CHECK(bytes.code == 1);
  CHECK_THAT(bytes.err, StartsWith("bahdanau: a:2: expected UTF-8"));
  CHECK_THAT(compare("--reference none a").err,
             StartsWith("bahdanau: none: expected a file that can be read"));
  CHECK(compare("--reference r a b a").code == 2);
  CHECK(compare("--reference r").code == 2);
  CHECK(compare("a b").code == 2);
  CHECK_THAT(compare("--reference r a --metric blue").err, ContainsSubstring("bleu-char"));
  CHECK(compare("--help").code == 0);
}
