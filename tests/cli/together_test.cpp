// Several models, and what translations must have, from outside: --model a,b; --require and its kin;
// bahdanau average; train --keep.
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

/// Another model of the same words, with other policies.
const fs::path& second_model() {
  static const TemporaryDirectory files;
  static const fs::path path = [] {
    train_in(files, "--quiet --epochs 30 --rate 0.02 --dropout 0 --seed 2 --encoder bidirectional");
    return files / "m";
  }();
  return path;
}

Run with_both(const std::string& command, const std::string& arguments, const std::string& input) {
  return run_tool(
      command + " --model '" + trained_model().string() + "," + second_model().string() + "' " + arguments,
      input);
}

}  // namespace

TEST_CASE("models with commas between them translate together", "[cli][translate][ensemble]") {
  const auto score = [](const Run& run) {
    REQUIRE(run.code == 0);
    return json_lines(run.out).at(0)["score"].get<double>();
  };
  const std::string pair = "I see him.\tJe le vois.\n";
  const double a = score(run_tool("score --json --data - --model " + shell_word(trained_model()), pair));
  const double b = score(run_tool("score --json --data - --model " + shell_word(second_model()), pair));
  CHECK(score(with_both("score", "--json --data -", pair)) == Approx((a + b) / 2).epsilon(1e-5));
  for (const std::string arguments : {"--json", "--json --beam 4"}) {
    const Run run = with_both("translate", arguments, "I see him.\n\nGo.\n");
    CHECK(run.code == 0);
    const auto lines = json_lines(run.out);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0]["target"].size() == 5);
    CHECK(lines[0]["score"].get<double>() == Approx((a + b) / 2).epsilon(1e-4));
    CHECK(lines[0]["attention"][0].size() == 5);
  }
  const Run evaluated = with_both("evaluate", "--data - --json", tiny_pairs);
  CHECK(evaluated.code == 0);
  CHECK(nlohmann::json::parse(evaluated.out)["bleu"].get<double>() > 50);
  const std::string alone = shell_word(trained_model());
  CHECK(run_tool("translate --model " + alone, "Go.\nRun.\n").out ==
        run_tool("translate --model " + alone + "," + alone, "Go.\nRun.\n").out);
}

TEST_CASE("models of other words do not translate together", "[cli][translate][ensemble][error]") {
  const TemporaryDirectory files;
  train_in(files, "--quiet --epochs 1", "Go.\tVa !\nStop.\tArrête !\n");
  const std::string other = (files / "m").string();
  const Run run = run_tool("translate --model '" + trained_model().string() + "," + other + "'", "Go.\n");
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, StartsWith("bahdanau: " + other + ": expected token ") &&
                          ContainsSubstring(" of the source vocabulary to be "));
  const Run missing = run_tool("translate --model '" + other + ",/nowhere'", "Go.\n");
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, ContainsSubstring("/nowhere"));
  CHECK_THAT(run_tool("translate --model '" + other + ",,'", "Go.\n").err,
             ContainsSubstring("expected files with commas between them"));
}

TEST_CASE("a file with a comma in its name is one model", "[cli][translate][ensemble]") {
  const TemporaryDirectory files;
  fs::copy_file(trained_model(), files / "a,b");
  CHECK(run_tool("translate --model " + shell_word(files / "a,b"), "Go.\n").out == "va !\n");
}

TEST_CASE("translations have what they must and nothing that they must not",
          "[cli][translate][constraints]") {
  const auto translate = [](const std::string& arguments) {
    return with_model("translate", arguments, "Go.\nI run.\n");
  };
  const auto each = [&](const std::string& arguments, auto check) {
    const Run run = translate(arguments);
    CHECK(run.code == 0);
    REQUIRE(lines_in(run.out).size() == 2);
    for (const std::string& line : lines_in(run.out)) check(line);
  };
  each("--prefix 'Il va'", [](const std::string& line) { CHECK_THAT(line, StartsWith("il va")); });
  each("--forbid va --forbid Cours", [](const std::string& line) {
    CHECK((" " + line + " ").find(" va ") == line.npos);
    CHECK(line.find("cours") == line.npos);
  });
  each("--require maintenant --require 'je le'", [](const std::string& line) {
    CHECK_THAT(line, ContainsSubstring("maintenant") && ContainsSubstring("je le"));
  });
  CHECK(json_lines(translate("--json --min-length 6").out).at(0)["target"].size() >= 6);
  CHECK(translate("--coverage-penalty 0.2 --beam 3").code == 0);
  CHECK(translate("--coverage-penalty 0").out == translate("").out);
}

TEST_CASE("words that cannot be are refused before a line is read", "[cli][translate][constraints][error]") {
  const auto error = [](const std::string& arguments, int code) {
    const Run run = with_model("translate", arguments, "Go.\n");
    CHECK(run.code == code);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK(error("--forbid zanzibar", 1) ==
        "bahdanau: --forbid: expected words of the target vocabulary, got \"zanzibar\"; the model cannot "
        "write it\n");
  CHECK_THAT(error("--require va --forbid va", 1),
             StartsWith("bahdanau: --require: expected words that are not forbidden too, got \"va\""));
  CHECK_THAT(error("--prefix ' '", 1), StartsWith("bahdanau: --prefix: expected a word, got an empty one"));
  CHECK_THAT(error("--min-length 9 --max-length 3", 1),
             StartsWith("bahdanau: --min-length: expected at most 3"));
  CHECK_THAT(error("--coverage-penalty nan", 2), ContainsSubstring("--coverage-penalty"));
  CHECK_THAT(error("--require 'va maintenant' --require 'il le' --max-length 3", 1),
             StartsWith("bahdanau: <stdin>:1: expected a translation of at most 3 tokens"));
}

TEST_CASE("a training keeps the models of its last epochs, and their mean is a model",
          "[cli][train][average]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--quiet --epochs 5 --keep 3 --seed 1");
  CHECK(run.code == 0);
  for (const int epoch : {1, 2}) CHECK_FALSE(fs::exists(files / ("m.epoch-" + std::to_string(epoch))));
  std::string list;
  for (const int epoch : {3, 4, 5}) {
    REQUIRE(fs::exists(files / ("m.epoch-" + std::to_string(epoch))));
    list += (list.empty() ? "" : ",") + (files / ("m.epoch-" + std::to_string(epoch))).string();
  }
  CHECK(contents(files / "m.epoch-5") == contents(files / "m"));
  const Run mean = run_tool("average --model '" + list + "' --out " + shell_word(files / "mean"));
  CHECK(mean.code == 0);
  CHECK(mean.err == "wrote " + (files / "mean").string() + ", the mean of 3 models\n");
  CHECK(run_tool("translate --model " + shell_word(files / "mean"), "Go.\n").code == 0);
  CHECK(contents(files / "mean") != contents(files / "m"));
  const Run other = run_tool("average --model '" + list + "," + second_model().string() + "' --out " +
                             shell_word(files / "none"));
  CHECK(other.code == 1);
  CHECK_THAT(other.err, ContainsSubstring("expected encoder \"unidirectional\", as the first file has"));
  CHECK_FALSE(fs::exists(files / "none"));
}
