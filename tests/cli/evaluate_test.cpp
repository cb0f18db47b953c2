// bahdanau evaluate and bahdanau plot from outside.
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

nlohmann::json evaluate(const std::string& pairs, const std::string& arguments = {}) {
  const Run run = with_model("evaluate", "--data - --json " + arguments, pairs);
  CHECK(run.code == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace

TEST_CASE("a model that knows its pairs by heart has BLEU 100 and a perplexity near 1", "[cli][evaluate]") {
  for (const std::string arguments : {"", "--beam 4", "--batch 5"}) {
    const nlohmann::json got = evaluate(tiny_pairs, arguments);
    CHECK(got.size() == 4);
    CHECK(got["pairs"] == 12);
    CHECK(got["bleu"].get<double>() == Approx(100));
    CHECK(got["perplexity"].get<double>() > 1);
    CHECK(got["perplexity"].get<double>() < 1.5);
    CHECK(got["tokens_per_second"].get<double>() > 0);
  }
  CHECK(evaluate(tiny_pairs, "--max-pairs 5")["pairs"] == 5);
}

TEST_CASE("references are the words themselves, not what the model knows of them", "[cli][evaluate]") {
  const std::string known = "He runs now.\tIl court maintenant.\n";
  CHECK(evaluate(known)["bleu"].get<double>() == Approx(100));
  CHECK(evaluate("He runs now.\tIl court aussitôt.\n")["bleu"].get<double>() < 60);
}

TEST_CASE("without --json evaluate writes names and values", "[cli][evaluate]") {
  const Run run = with_model("evaluate", "--data -", tiny_pairs);
  CHECK_THAT(run.out, StartsWith("pairs\t12\nBLEU-4\t100.00\nperplexity\t1."));
  CHECK_THAT(run.out, ContainsSubstring("\ntokens/s\t"));
  CHECK(lines_in(run.out).size() == 4);
}

TEST_CASE("evaluate --metric writes each metric with its interval and signature", "[cli][evaluate]") {
  const Run run = with_model("evaluate", "--data - --metric bleu,chrf,ter,wer,cer,per,exact", tiny_pairs);
  const std::vector<std::string> lines = lines_in(run.out);
  REQUIRE(lines.size() == 11);
  CHECK_THAT(lines[4],
             StartsWith("BLEU\t100.00\t[100.00, 100.00]\tnrefs:1|bs:1000|seed:1|case:lc|eff:no|tok:13a|"
                        "smooth:exp|version:bahdanau-"));
  CHECK_THAT(lines[5], StartsWith("chrF2\t100.00\t[100.00, 100.00]\tnrefs:1|"));
  CHECK_THAT(lines[6], StartsWith("TER\t0.00\t[0.00, 0.00]\tnrefs:1|"));
  CHECK_THAT(lines[7], StartsWith("WER\t0.00\t"));
  CHECK_THAT(lines[8], StartsWith("CER\t0.00\t"));
  CHECK_THAT(lines[9], StartsWith("PER\t0.00\t"));
  CHECK_THAT(lines[10], StartsWith("exact match\t100.00\t"));
}

TEST_CASE("evaluate has BLEU of characters and of text that is tokenised", "[cli][evaluate]") {
  const std::string pairs = "He runs now.\tIl court maintenant ici.\nI see him.\tJe le vois.\n";
  const nlohmann::json metrics = evaluate(pairs, "--metric bleu,bleu-char,bleu-none")["metrics"];
  REQUIRE(metrics.size() == 3);
  CHECK_THAT(metrics[1]["signature"].get<std::string>(), ContainsSubstring("|tok:char|"));
  CHECK_THAT(metrics[2]["signature"].get<std::string>(), ContainsSubstring("|tok:none|"));
  // 31 characters for 34: what is missing costs less than a word of nine.
  CHECK(metrics[1]["score"].get<double>() > metrics[2]["score"].get<double>());
  // An epoch is better by them, too.
  const TemporaryDirectory files;
  put(files / "dev.tsv", "Go.\tVa !\n");
  CHECK(
      train_in(files, "--quiet --epochs 1 --best-by bleu-char --validation " + shell_word(files / "dev.tsv"))
          .code == 0);
}

TEST_CASE("evaluate --metric --json has the same numbers, unrounded", "[cli][evaluate]") {
  // One target in two, and one word in five, is not what the model says.
  const std::string pairs = "He runs now.\tIl court aussitôt.\nGo.\tVa !\n";
  const nlohmann::json got = evaluate(pairs, "--metric exact --metric wer,rouge-l");
  CHECK(got.size() == 5);
  const nlohmann::json& metrics = got["metrics"];
  REQUIRE(metrics.size() == 3);
  CHECK(metrics[0]["name"] == "exact match");
  CHECK(metrics[0]["score"] == 50);
  CHECK(metrics[0]["low"] == 0);
  CHECK(metrics[0]["high"] == 100);
  CHECK(metrics[1]["score"].get<double>() == Approx(100 / 6.));
  CHECK_THAT(metrics[1]["signature"].get<std::string>(),
             StartsWith("nrefs:1|bs:1000|seed:1|case:lc|unit:word|"));
  CHECK(metrics[2]["name"] == "ROUGE-L");
}

TEST_CASE("lines with the same source are references of one sentence where they are joined",
          "[cli][evaluate]") {
  const std::string pairs = "Go.\tPars !\nGo.\tVa !\nRun.\tCours !\n";
  CHECK(evaluate(pairs, "--metric exact")["metrics"][0]["score"].get<double>() == Approx(200 / 3.));
  const nlohmann::json joined = evaluate(pairs, "--metric exact --join-sources");
  CHECK(joined["metrics"][0]["score"] == 100);
  CHECK_THAT(joined["metrics"][0]["signature"].get<std::string>(), StartsWith("nrefs:var|"));
  CHECK(joined["pairs"] == 3);
}

TEST_CASE("a metric that there is not is answered with those that there are", "[cli][evaluate][error]") {
  const Run run = run_tool("evaluate --model m --data d --metric bleu,blue");
  CHECK(run.code == 2);
  CHECK_THAT(run.err,
             ContainsSubstring("--metric") && ContainsSubstring("blue") && ContainsSubstring("chrf++"));
  CHECK(run_tool("evaluate --model m --data d --join-sources").code == 2);
}

TEST_CASE("evaluate says what is wrong with its data", "[cli][evaluate][error]") {
  const Run bad = with_model("evaluate", "--data -", "Go.\tVa !\nno tab\n");
  CHECK(bad.code == 1);
  CHECK(bad.out.empty());
  CHECK_THAT(bad.err, StartsWith("bahdanau: <stdin>:2: "));
  CHECK(with_model("evaluate", "--data - --skip-bad-lines", "Go.\tVa !\nno tab\n").code == 0);
  const Run none = with_model("evaluate", "--data -", "");
  CHECK(none.code == 1);
  CHECK_THAT(none.err, ContainsSubstring("expected at least one sentence pair, got none"));
  CHECK(run_tool("evaluate --model m").code == 2);
  CHECK(run_tool("evaluate --model m --data d --beam 0").code == 2);
  CHECK(run_tool("evaluate --help").code == 0);
}

TEST_CASE("evaluate leaves out sources that are too long where it may", "[cli][evaluate][error]") {
  const std::string pairs = "Go.\tVa !\ngo go go go go go\tVa !\n";
  const Run refused = with_model("evaluate", "--max-source 5 --data -", pairs);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, StartsWith("bahdanau: <stdin>:2: expected a source of at most 5 tokens"));
  const Run run = with_model("evaluate", "--max-source 5 --skip-bad-lines --data -", pairs);
  CHECK(run.code == 0);
  CHECK_THAT(run.out, StartsWith("pairs\t1\n"));
  CHECK(run.err == "-: 1 lines skipped\n");
}

TEST_CASE("plot writes an SVG file with the tokens of both sides", "[cli][plot]") {
  const TemporaryDirectory files;
  const Run run = with_model("plot", "--source 'I see him.' --out " + shell_word(files / "h.svg"));
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring((files / "h.svg").string()));
  const std::string picture = contents(files / "h.svg");
  for (const char* token : {">see<", ">vois<", "&lt;eos&gt;"}) CHECK_THAT(picture, ContainsSubstring(token));

  const std::string forced = "--source 'I see him.' --target 'Il va.' --title 'A & B' --out ";
  CHECK(with_model("plot", forced + shell_word(files / "f.svg")).code == 0);
  const std::string other = contents(files / "f.svg");
  CHECK_THAT(other, ContainsSubstring(">va<") && ContainsSubstring("A &amp; B"));
}

TEST_CASE("plot draws into the terminal, without colours where there is none", "[cli][plot]") {
  for (const std::string arguments :
       {"--source 'He runs now.' --terminal", "--source 'He runs now.' --terminal --beam 3"}) {
    const Run run = with_model("plot", arguments);
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    CHECK_THAT(run.out, ContainsSubstring("court") && ContainsSubstring("maintenant"));
    CHECK(run.out.find('\x1b') == run.out.npos);
  }
}

TEST_CASE("plot is told wrong things", "[cli][plot][error]") {
  CHECK(run_tool("plot --model m --source s").code == 2);  // whereto?
  CHECK(run_tool("plot --model m --out h.svg").code == 2);
  CHECK(run_tool("plot --model m --source s --terminal --nothing").code == 2);
  CHECK(run_tool("plot --help").code == 0);
  const Run empty = with_model("plot", "--source ' ' --terminal");
  CHECK(empty.code == 1);
  CHECK(empty.err == "bahdanau: --source: expected a sentence, got an empty one\n");
  const Run bytes = with_model("plot", "--source $(printf 'v\\377') --terminal");
  CHECK(bytes.code == 1);
  CHECK_THAT(bytes.err, StartsWith("bahdanau: --source: expected UTF-8"));
  CHECK(run_tool("plot --model none --source s --terminal").code == 1);
  CHECK(with_model("plot", "--source s --out none/h.svg").code == 1);
}
