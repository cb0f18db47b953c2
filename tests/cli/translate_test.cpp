// bahdanau translate from outside: lines in, lines out, in order, in every form.
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/bahdanau.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

Run translate(const std::string& input, const std::string& arguments = {}) {
  return with_model("translate", arguments, input);
}

const std::string empty_object =
    R"({"source":[],"target":[],"score":0,"log_probs":[],"attention":[],"text":""})";

}  // namespace

TEST_CASE("a line in is a line out, in order, for any batch", "[cli][translate]") {
  const std::string input = "Run.\nI see him.\nHe goes.\nGo.\nHe runs now.\nI run.\n";
  const std::string expected = "cours !\nje le vois .\nil va .\nva !\nil court maintenant .\nje cours .\n";
  for (const std::string arguments : {"", "--batch 1", "--batch 4", "--beam 3", "--beam 1"}) {
    CAPTURE(arguments);
    const Run run = translate(input, arguments);
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    CHECK(run.out == expected);
  }
}

TEST_CASE("empty lines are answered by empty lines", "[cli][translate]") {
  CHECK(translate("").out.empty());
  CHECK(translate("\n").out == "\n");
  CHECK(translate("\nGo.\n\n \u00a0\t\r\nRun.\n\n").out == "\nva !\n\n\ncours !\n\n");
  CHECK(translate("\nGo.\n\nRun.\n", "--batch 1").out == "\nva !\n\ncours !\n");
  CHECK(translate("\n \n", "--json").out == empty_object + "\n" + empty_object + "\n");
}

TEST_CASE("CRLF, a byte-order mark and a last line without its end are harmless", "[cli][translate]") {
  CHECK(translate("\xEF\xBB\xBFGo.\r\nRun.").out == "va !\ncours !\n");
}

TEST_CASE("JSON has the five keys that score writes, and agrees with it", "[cli][translate][json]") {
  const Run run = translate("I see him.\nGo zzz.\n", "--json");
  CHECK(run.code == 0);
  CHECK_THAT(
      run.out,
      StartsWith(
          R"({"source":["i","see","him",".","<eos>"],"target":["je","le","vois",".","<eos>"],"score":-)"));
  const auto lines = json_lines(run.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1]["source"][1] == "<unk>");
  for (const auto& line : lines) {
    CHECK(line.size() == 6);
    const auto log_probs = line["log_probs"].get<std::vector<double>>();
    CHECK(log_probs.size() == line["target"].size());
    CHECK(line["attention"].size() == line["target"].size());
    CHECK(line["attention"][0].size() == line["source"].size());
    CHECK(line["score"].get<double>() == Approx(std::accumulate(log_probs.begin(), log_probs.end(), 0.0)));
  }
  const Run scored = with_model("score", "--json --data -", "I see him.\tJe le vois.\n");
  CHECK(json_lines(scored.out).at(0)["score"].get<double>() ==
        Approx(lines[0]["score"].get<double>()).margin(1e-5));
}

TEST_CASE("n-best lists have rank, score and text", "[cli][translate][nbest]") {
  const Run run = translate("I see him.\n\nGo.\n", "--nbest 3");
  CHECK(run.code == 0);
  const auto lines = lines_in(run.out);
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[0], StartsWith("1\t-") && ContainsSubstring("\tje le vois ."));
  CHECK_THAT(lines[1], StartsWith("2\t-"));
  CHECK_THAT(lines[2], StartsWith("3\t-"));
  CHECK(lines[3].empty());
  CHECK_THAT(lines[4], StartsWith("1\t-") && ContainsSubstring("\tva !"));

  const auto objects = json_lines(translate("I see him.\nGo.\n", "--beam 4 --nbest 2 --json").out);
  REQUIRE(objects.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(objects[i]["rank"] == i % 2 + 1);
  CHECK(objects[0]["target"] != objects[1]["target"]);

  CHECK(translate("Go.\n", "--beam 2 --nbest 3").code == 2);
}

TEST_CASE("a translation has its longest length, and unknown words can be carried over", "[cli][translate]") {
  const auto line = json_lines(translate("He runs now.\n", "--json --max-length 2").out).at(0);
  CHECK(line["target"].size() == 2);
  const Run run = translate("Zanzibar zanzibar.\n", "--replace-unknown");
  CHECK(run.code == 0);
  CHECK(run.out.find("<unk>") == run.out.npos);
}

TEST_CASE("a line that is not UTF-8 is an error, after the answers to those before it",
          "[cli][translate][error]") {
  const Run run = translate("Go.\n\nv\xFF\nRun.\n");
  CHECK(run.code == 1);
  CHECK(run.out == "va !\n\n");
  CHECK(run.err == "bahdanau: <stdin>:3: expected UTF-8, got byte 0xff at offset 1\n");
}

TEST_CASE("with --keep-going every other line is answered, and the bad ones are named",
          "[cli][translate][error]") {
  std::string endless;
  for (int i = 0; i < 30; ++i) endless += "go ";
  const std::string input = "Go.\n\nv\xFF\nRun.\n" + endless + "\nHe goes.\n";
  const std::string problems =
      "bahdanau: <stdin>:3: expected UTF-8, got byte 0xff at offset 1\n"
      "bahdanau: <stdin>:5: expected a source of at most 20 tokens with its <eos>, got 31; --max-source "
      "allows more\n"
      "bahdanau: <stdin>: expected lines that can all be answered, got 2 of 6 that cannot\n";
  for (const std::string arguments : {"", "--batch 1", "--beam 3", "--deadline 100"}) {
    CAPTURE(arguments);
    const Run run = translate(input, "--keep-going --max-source 20 " + arguments);
    CHECK(run.code == 1);
    CHECK(run.out == "va !\n\n\ncours !\n\nil va .\n");
    CHECK(run.err == problems);
  }
  const auto objects = json_lines(translate(input, "--keep-going --max-source 20 --json").out);
  REQUIRE(objects.size() == 6);
  CHECK(objects[2].size() == 1);
  CHECK(objects[2]["error"] == "<stdin>:3: expected UTF-8, got byte 0xff at offset 1");
  CHECK(objects[4].contains("error"));
  CHECK(objects[5]["target"][0] == "il");
  const Run fine = translate("Go.\n", "--keep-going");
  CHECK(fine.code == 0);
  CHECK(fine.out == "va !\n");
}

TEST_CASE("a line beyond the memory or the deadline is named, and others are answered",
          "[cli][translate][error]") {
  std::string line;
  for (int i = 0; i < 900; ++i) line += "go ";
  const Run memory = translate("Go.\n" + line + "\nRun.\n", "--keep-going --max-memory 2");
  CHECK(memory.code == 1);
  CHECK(memory.out == "va !\n\ncours !\n");
  CHECK_THAT(memory.err, StartsWith("bahdanau: <stdin>:2: expected at most 2097152 bytes to translate it") &&
                             ContainsSubstring("got 1 of 3 that cannot"));
  const Run deadline = translate("Go.\nRun.\n", "--keep-going --deadline 1e-9");
  CHECK(deadline.code == 1);
  CHECK(deadline.out == "\n\n");
  CHECK_THAT(deadline.err, StartsWith("bahdanau: <stdin>:1: expected an end before the deadline") &&
                               ContainsSubstring("bahdanau: <stdin>:2: expected an end before the deadline"));
  const Run first = translate("Go.\nRun.\n", "--deadline 1e-9");
  CHECK(first.code == 1);
  CHECK(first.out.empty());
}

TEST_CASE("a source beyond the row of a padded model is an error of translate too",
          "[cli][translate][error]") {
  const fs::path padded = fs::path(BAHDANAU_GOLDEN_DIR) / "gru_additive_uni_l1_padded.model.safetensors";
  const Run run = run_tool("translate --model " + shell_word(padded), "go go go go go\ngo go go go go go\n");
  CHECK(run.code == 1);
  CHECK(lines_in(run.out).size() == 1);
  CHECK_THAT(run.err, StartsWith("bahdanau: <stdin>:2: expected a source of at most 6 tokens"));
}

TEST_CASE("translate says what it cannot use", "[cli][translate][error]") {
  const TemporaryDirectory files;
  const Run missing = run_tool("translate --model " + shell_word(files / "none"), "Go.\n");
  CHECK(missing.code == 1);
  CHECK(missing.err == "bahdanau: " + (files / "none").string() +
                           ": expected a file that can be opened, got \"No such file or directory\"\n");
  for (const std::string arguments :
       {"translate", "translate --model m --beam 0", "translate --model m --nbest 0",
        "translate --model m --batch 0", "translate --model m --nothing", "translate --model m more"}) {
    CAPTURE(arguments);
    CHECK(run_tool(arguments).code == 2);
  }
  const Run help = run_tool("translate --help");
  CHECK(help.code == 0);
  for (const char* text : {"--beam", "--nbest", "--batch", "--json", "--replace-unknown", "rank TAB score",
                           "--keep-going", "--max-source", "--max-memory", "--deadline"})
    CHECK_THAT(help.out, ContainsSubstring(text));
}

TEST_CASE("a program that asks for batches of one has each answer at once", "[cli][translate][pipe]") {
  // The second line waits for the answer to the first.
  const Run run = run_shell(
      "d=$(mktemp -d) && mkfifo \"$d/in\" \"$d/out\" && { \"$TOOL\" translate --batch 1 --model " +
      shell_word(trained_model()) +
      " < \"$d/in\" > \"$d/out\" & } && exec 3> \"$d/in\" 4< \"$d/out\" && echo Go. >&3 && read -r a <&4 && "
      "echo Run. >&3 && exec 3>&- && read -r b <&4 && echo \"$a\" && echo \"$b\"; wait; rm -r \"$d\"");
  CHECK(run.out == "va !\ncours !\n");
}

TEST_CASE("a line without an answer does not hold up the next one", "[cli][translate][pipe]") {
  const Run run = run_shell(
      "d=$(mktemp -d) && mkfifo \"$d/in\" \"$d/out\" && { timeout 60 \"$TOOL\" translate --batch 1 "
      "--keep-going "
      "--max-source 3 --model " +
      shell_word(trained_model()) +
      " < \"$d/in\" > \"$d/out\" 2> \"$d/err\" & } && exec 3> \"$d/in\" 4< \"$d/out\" && "
      "echo 'go go go go' >&3 && read -r a <&4 && echo Run. >&3 && read -r b <&4 && exec 3>&- && "
      "echo \"[$a]\" && echo \"$b\"; wait; cat \"$d/err\"; rm -r \"$d\"");
  CHECK_THAT(run.out, StartsWith("[]\ncours !\n"));
  CHECK_THAT(run.out,
             ContainsSubstring("<stdin>:1: expected a source of at most 3 tokens with its <eos>, got 5"));
}

TEST_CASE("what comes before a line without an answer is written before the error",
          "[cli][translate][error]") {
  // The weights of one word's embedding are no numbers.
  const TemporaryDirectory files;
  using Model = bahdanau::EncoderDecoder<bahdanau::Gru, bahdanau::Additive, bahdanau::Xtensor<float>>;
  Model model = Model::load(trained_model());
  const auto& vocabulary = model.vocabularies().source;
  for (const auto& entry : model.parameters().entries())
    if (entry.name == "encoder.embedding.weight") {
      auto numbers = model.weights().read(entry.parameter);
      numbers[static_cast<std::size_t>(vocabulary.id("him")) * model.config().embed] = std::nanf("");
      model.weights().write(entry.parameter, numbers);
    }
  model.save(files / "m");
  // With all digits one by one: in other company the last ones may differ where OpenBLAS multiplies.
  for (const std::string arguments : {"", "--json --batch 1", "--nbest 3", "--beam 3"}) {
    CAPTURE(arguments);
    const Run run = run_tool("translate --model " + shell_word(files / "m") + " " + arguments,
                             "Go.\n\nI see him.\nRun.\n");
    CHECK(run.code == 1);
    CHECK_THAT(run.err, StartsWith("bahdanau: <stdin>:3: expected a finite score, got "));
    CHECK(run.out == translate("Go.\n\n", arguments).out);
  }
}

TEST_CASE("a tab in a line is a space, and no line steers the terminal", "[cli][translate]") {
  CHECK(translate("I\tsee\x1bhim.\n").out == translate("I see him.\n").out);
}

TEST_CASE("one long line is translated, or refused, without taking all memory", "[cli][translate][memory]") {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += "go ";
  // 800 MB of addresses, shared libraries included; the square of the length would not fit.
  const Run run = run_shell(
      "ulimit -v 800000; OPENBLAS_NUM_THREADS=1 \"$TOOL\" translate --max-source 5000 --beam 5 --model " +
          shell_word(trained_model()),
      "Go.\n" + line + "\n");
  CHECK(run.code == 0);
  CHECK(lines_in(run.out).size() == 2);
  std::string endless;
  for (int i = 0; i < 70000; ++i) endless += "go ";
  const Run refused = translate("Go.\n" + endless + "\n");
  CHECK(refused.code == 1);
  CHECK(refused.out == "va !\n");
  CHECK(refused.err ==
        "bahdanau: <stdin>:2: expected a source of at most 1000 tokens with its <eos>, got 70001; "
        "--max-source allows more\n");
}
