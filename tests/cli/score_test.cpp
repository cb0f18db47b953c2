// bahdanau score from outside: PyTorch's numbers, the form of the output, errors and exit codes.
// Model files with one thing changed are made from a golden one.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/backend/blas.hpp>
#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/kernel/instructions.hpp>
#include <bahdanau/version.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using bahdanau::ModelDescription;
using bahdanau::SafetensorsFile;
using bahdanau::SafetensorsWriter;
using bahdanau::Vocabulary;
using bahdanau::test::json_lines;
using bahdanau::test::put;
using bahdanau::test::Run;
using bahdanau::test::run_shell;
using bahdanau::test::run_tool;
using bahdanau::test::shell_word;
using bahdanau::test::TemporaryDirectory;
using bahdanau::test::trained_model;
using bahdanau::test::with_model;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Json = nlohmann::ordered_json;
using Sentence = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

const fs::path golden = BAHDANAU_GOLDEN_DIR;
const fs::path model = golden / "gru_additive_uni_l1_valid.model.safetensors";
const fs::path padded_model = golden / "gru_additive_uni_l1_padded.model.safetensors";

Run score(const fs::path& with, const std::string& arguments, const std::string& input = {}) {
  return run_tool("score --model " + shell_word(with) + " " + arguments, input);
}
/// Scores what comes in on standard input.
Run score_input(const std::string& input, const std::string& arguments = "--json") {
  return score(model, "--data - " + arguments, input);
}

std::vector<Json> lines_of(const std::string& out) {
  std::vector<Json> lines;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// What was wrong: exit code 1, one line on standard error.
std::string error_of(const Run& run) {
  CHECK(run.code == 1);
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  return run.err.substr(0, run.err.find('\n'));
}

/// One side of a golden batch: its rows of tokens with `<eos>`, without padding.
std::vector<Sentence> golden_rows(const SafetensorsFile& file, const std::string& side,
                                  const Vocabulary& vocabulary) {
  const auto tokens = file.read<std::int32_t>(side + ".tokens");
  const auto lengths = file.read<std::int32_t>(side + ".lengths");
  const std::size_t width = tokens.size() / lengths.size();
  std::vector<Sentence> rows(lengths.size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[r]); ++t)
      rows[r].push_back(vocabulary.token(tokens[r * width + t]));
  return rows;
}

/// The words of a row as text.
std::string text_of(Sentence row) {
  row.pop_back();
  return bahdanau::detokenize(row, bahdanau::Tokens::words);
}

/// A copy of the golden model with other metadata, and weights that a function may change.
void alter(const fs::path& to, const std::map<std::string, std::string>& metadata,
           const std::function<void(const std::string&, std::vector<double>&)>& change = {}) {
  const SafetensorsFile file = SafetensorsFile::open(model);
  SafetensorsWriter writer;
  for (const auto& [key, value] : file.metadata())
    writer.metadata(key, metadata.contains(key) ? metadata.at(key) : value);
  for (const auto& [name, info] : file.tensors()) {
    std::vector<double> values = file.read<double>(name);
    if (change) change(name, values);
    writer.add(name, info.shape, std::span<const double>(values));
  }
  writer.write(to);
}

std::map<std::string, std::string> policies(const std::string& cell, const std::string& score_name,
                                            const std::string& encoder) {
  const Json config = {{"cell", cell}, {"score", score_name}, {"embed", 5},        {"hidden", 4},
                       {"layers", 1},  {"dropout", 0.0},      {"encoder", encoder}};
  return {{"config", config.dump()}};
}

}  // namespace

TEST_CASE("every golden model that the tool knows scores pairs as PyTorch does",
          "[cli][score][golden][lstm]") {
  std::size_t cases = 0, others = 0;
  for (const auto& entry : fs::directory_iterator(golden)) {
    const std::string name = entry.path().filename().string();
    const std::size_t suffix = name.find(".model.safetensors");
    if (suffix == name.npos) continue;
    CAPTURE(name);
    const auto file = SafetensorsFile::open(golden / (name.substr(0, suffix) + ".expected.safetensors"));
    const auto description = ModelDescription::read(SafetensorsFile::open(entry.path()));
    const Run first = score(entry.path(), "--data -", "go\tva\n");
    if (first.code == 1) {  // one that is not compiled in
      ++others;
      CHECK_THAT(first.err, ContainsSubstring("expected policies that are compiled into the tool together, "
                                              "got \"" +
                                              description.cell + "\", \"" + description.score + "\", \""));
      continue;
    }
    ++cases;
    const bool attends = description.score != "none";
    const auto sources = golden_rows(file, "source", description.vocabularies.source);
    const auto targets = golden_rows(file, "target", description.vocabularies.target);
    std::vector<std::size_t> rows;  // a row of `<eos>` alone cannot be written as text
    std::string input;
    for (std::size_t r = 0; r < sources.size(); ++r) {
      if (sources[r].size() == 1 || targets[r].size() == 1) continue;
      rows.push_back(r);
      input += text_of(sources[r]) + "\t" + text_of(targets[r]) + "\n";
    }
    REQUIRE(rows.size() >= 2);
    for (const std::string batch : {"", " --batch 1"}) {
      const Run run = score(entry.path(), "--data - --json" + batch, input);
      CHECK(run.err.empty());
      REQUIRE(run.code == 0);
      const std::vector<Json> lines = lines_of(run.out);
      REQUIRE(lines.size() == rows.size());
      const auto log_probs = file.read<double>("log_probs"),
                 attention = attends ? file.read<double>("attention") : std::vector<double>();
      const std::size_t steps = log_probs.size() / sources.size();
      double worst = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t r = rows[i];
        CHECK(lines[i]["source"].get<Sentence>() == sources[r]);
        CHECK(lines[i]["target"].get<Sentence>() == targets[r]);
        const auto got = lines[i]["log_probs"].get<std::vector<double>>();
        const auto weights = lines[i]["attention"].get<std::vector<std::vector<double>>>();
        REQUIRE(got.size() == targets[r].size());
        REQUIRE(weights.size() == targets[r].size());
        for (std::size_t t = 0; t < got.size(); ++t) {
          worst = std::max(worst, std::abs(got[t] - log_probs[r * steps + t]));
          REQUIRE(weights[t].size() == (attends ? sources[r].size() : 0));
          for (std::size_t s = 0; s < weights[t].size(); ++s)
            worst = std::max(worst, std::abs(weights[t][s] - attention[(r * steps + t) * steps + s]));
        }
        CHECK(lines[i]["score"].get<double>() == std::accumulate(got.begin(), got.end(), 0.0));
      }
      CHECK(worst < 1e-5);
    }
  }
  constexpr bool whole = BAHDANAU_CLI_MODELS == 26;  // the tool has all of its models
  CHECK(cases == (whole ? 36 : 34));
  CHECK(others == (whole ? 30 : 32));
}

TEST_CASE("a line of JSON has its six keys in order, and UTF-8 as it is", "[cli][score][json]") {
  const Run run = score_input("Go, zzz!\tÇa.\n");
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  CHECK_THAT(
      run.out,
      StartsWith(
          R"({"source":["go","<unk>","<unk>","<unk>","<eos>"],"target":["ça",".","<eos>"],"score":-)"));
  CHECK_THAT(run.out, EndsWith("]],\"text\":\"ça .\"}\n"));
  Sentence keys;
  const Json line = lines_of(run.out).at(0);
  for (const auto& [key, value] : line.items()) keys.push_back(key);
  CHECK(keys == Sentence{"source", "target", "score", "log_probs", "attention", "text"});
  CHECK(run.out.find(' ') == run.out.rfind(' '));  // that of the text
}

TEST_CASE("attention has the digits of a float and rows that sum to 1", "[cli][score][json]") {
  const Json line = lines_of(score_input("go run .\tva ça\n").out).at(0);
  for (const auto& row : line["attention"].get<std::vector<std::vector<double>>>()) {
    CHECK(std::accumulate(row.begin(), row.end(), 0.0) == Approx(1).margin(1e-6));
    for (const double weight : row)
      CHECK(std::abs(weight - static_cast<double>(static_cast<float>(weight))) <= 1e-8);
  }
  CHECK(line["attention"].dump().size() < 12 * 12 + 24);  // 12 numbers of at most 12 characters
}

TEST_CASE("without --json a line is the score, the source and the target", "[cli][score]") {
  const std::string input = "Go run.\tVa!\tignored\nzzz\tça\n";
  const Run run = score_input(input, "");
  CHECK(run.code == 0);
  const std::vector<Json> lines = lines_of(score_input(input).out);
  std::ostringstream expected;
  expected.precision(4);
  expected << std::fixed << lines.at(0)["score"].get<double>() << "\tgo run .\tva !\n"
           << lines.at(1)["score"].get<double>() << "\t<unk>\tça\n";
  CHECK(run.out == expected.str());
}

TEST_CASE("a file and standard input give the same bytes, and so do CRLF and a byte-order mark",
          "[cli][score]") {
  const TemporaryDirectory files;
  const std::string plain = "go .\tva !\nrun\tcours\n";
  put(files / "plain.tsv", plain);
  put(files / "dos.tsv", "\xEF\xBB\xBFgo .\tva !\r\nrun\tcours\tCC-BY\r\n");
  put(files / "cut.tsv", "go .\tva !\nrun\tcours");
  const Run expected = score_input(plain);
  CHECK(lines_of(expected.out).size() == 2);
  for (const char* name : {"plain.tsv", "dos.tsv", "cut.tsv"}) {
    const Run run = score(model, "--json --data " + shell_word(files / name));
    CHECK(run.code == 0);
    CHECK(run.out == expected.out);
  }
}

TEST_CASE("more pairs than a batch keep their order, and no pairs are no lines", "[cli][score]") {
  std::string input, sources;
  for (int i = 0; i < 70; ++i) {
    input += std::string(i % 2 == 0 ? "go" : "run .") + "\tva\n";
    sources += i % 2 == 0 ? "go|" : "run .|";
  }
  for (const char* batch : {"1", "7", "32", "65536"}) {
    const Run run = score_input(input, "--batch " + std::string(batch));
    std::string got;
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t tab = line.find('\t');
      got += line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1) + "|";
    }
    CHECK(got == sources);
  }
  for (const char* empty : {"", "\xEF\xBB\xBF"}) {
    const Run none = score_input(empty);
    CHECK(none.code == 0);
    CHECK(none.out.empty());
  }
}

TEST_CASE("a bad line is an error with path and line, and what came before is written",
          "[cli][score][error]") {
  const TemporaryDirectory files;
  const auto error = [&](const std::string& line) {
    put(files / "pairs.tsv", "go\tva\nrun\tcours\n" + line + "\ngo\tva\n");
    const Run run = score(model, "--json --data " + shell_word(files / "pairs.tsv"));
    CHECK(lines_of(run.out).size() == 2);
    const std::string message = error_of(run), start = "bahdanau: " + (files / "pairs.tsv").string() + ":3: ";
    REQUIRE_THAT(message, StartsWith(start));
    return message.substr(start.size());
  };
  CHECK(error("no tab here") == "expected a source, a tab and a target, got a line without a tab");
  CHECK(error("") == "expected a source, a tab and a target, got an empty line");
  CHECK(error("\r") == "expected a source, a tab and a target, got an empty line");
  CHECK(error("\tva") == "expected a source sentence, got an empty one");
  CHECK(error("go\t") == "expected a target sentence, got an empty one");
  CHECK(error("go\t\tthird") == "expected a target sentence, got an empty one");
  CHECK(error("go\t \u00a0\u202f") == "expected a target sentence, got an empty one");
  CHECK(error("go\tv\xFF") == "expected UTF-8, got byte 0xff at offset 4");
}

TEST_CASE("a target of any length takes no more memory than --max-source allows", "[cli][score][error]") {
  std::string target = "va";
  for (int i = 0; i < 400'000; ++i) target += " !";
  const Run run = with_model("score", "--data - --keep-going", "Go.\t" + target + "\nGo.\tva !\n");
  CHECK(run.code == 1);
  CHECK_THAT(run.err,
             StartsWith("bahdanau: <stdin>:1: expected a target of at most 1000 tokens with its <eos>, got "
                        "400002; --max-source allows more\n"));
  CHECK(run.out == "\n" + with_model("score", "--data -", "Go.\tva !\n").out);
}

TEST_CASE("with --keep-going the pairs after a bad line are scored too", "[cli][score][error]") {
  const std::string good = "I see him.\tJe le vois.\n", bad = "no tab here\n";
  const Run alone = with_model("score", "--data -", good);
  for (const std::string arguments : {"", "--batch 1"}) {
    const Run run = with_model("score", "--data - --keep-going " + arguments, good + bad + good);
    CHECK(run.code == 1);
    CHECK(run.out == alone.out + "\n" + alone.out);
    CHECK(run.err ==
          "bahdanau: <stdin>:2: expected a source, a tab and a target, got a line without a tab\n"
          "bahdanau: <stdin>: expected lines that can all be answered, got 1 of 3 that cannot\n");
  }
  const auto objects = json_lines(with_model("score", "--data - --keep-going --json", bad + good).out);
  REQUIRE(objects.size() == 2);
  CHECK(objects[0].contains("error"));
  CHECK(objects[1].contains("score"));
}

TEST_CASE("standard input has a name in messages", "[cli][score][error]") {
  CHECK(error_of(score_input("go\n")) ==
        "bahdanau: <stdin>:1: expected a source, a tab and a target, got a line without a tab");
}

TEST_CASE("a source beyond the row of a padded model is an error with its line", "[cli][score][error]") {
  const Run run = score(padded_model, "--json --data -", "go go go go go\tva\ngo go go go go go\tva\n");
  CHECK(lines_of(run.out).size() == 1);
  CHECK_THAT(error_of(run),
             StartsWith("bahdanau: <stdin>:2: expected a source of at most 6 tokens with its <eos>, got 7"));
  CHECK(score_input("go go go go go go go go\tva\n").code == 0);
}

TEST_CASE("files that cannot be used are named", "[cli][score][error]") {
  const TemporaryDirectory files;
  const std::string missing = (files / "missing").string();
  CHECK(error_of(score(model, "--data " + shell_word(missing))) ==
        "bahdanau: " + missing + ": expected a file that can be opened, got \"No such file or directory\"");
  CHECK(error_of(score(missing, "--data -", "go\tva\n")) ==
        "bahdanau: " + missing + ": expected a file that can be opened, got \"No such file or directory\"");
  CHECK(error_of(score(model, "--data " + shell_word(files.path()))) ==
        "bahdanau: " + files.path().string() + ": expected a file, got a directory");
  put(files / "model", "not a model file");
  CHECK_THAT(error_of(score(files / "model", "--data -", "go\tva\n")),
             StartsWith("bahdanau: " + (files / "model").string() + ": expected a header"));
  const fs::path bare = golden / "gru_additive_uni_l1_valid.state_dict.safetensors";
  CHECK_THAT(error_of(score(bare, "--data -", "go\tva\n")),
             ContainsSubstring("expected metadata \"format\""));
}

TEST_CASE("policies that are not compiled in are named, and those that are listed", "[cli][score][error]") {
  const TemporaryDirectory files;
  const fs::path path = files / "m";
  const auto error = [&](const std::string& cell, const std::string& score_name, const std::string& encoder) {
    alter(path, policies(cell, score_name, encoder));
    const Run run = score(path, "--data -", "go\tva\n");
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    return run.err;
  };
  const std::string start =
      "bahdanau: " + path.string() + ": expected policies that are compiled into the tool together, got ";
  const std::string list =
      ", \"attend_then_step\", \"linear\"; others need a program of one's own; the tool has\n"
      "  gru, additive, unidirectional, attend_then_step, linear (d2l)\n";
  CHECK_THAT(error("gru", "scaled_dot", "bidirectional"),
             StartsWith(start + "\"gru\", \"scaled_dot\", \"bidirectional\"" + list));
  CHECK_THAT(error("gru\x1b", "dit", "both"), StartsWith(start + "\"gru\\x1b\", \"dit\", \"both\"" + list));
  CHECK_THAT(error("gru", "additive", "bidirectional"),
             StartsWith("bahdanau: " + path.string() + ": expected tensor "));
}

TEST_CASE("weights that are not finite never become JSON", "[cli][score][error]") {
  const TemporaryDirectory files;
  alter(files / "m", {}, [](const std::string& name, std::vector<double>& values) {
    if (name == "decoder.dense.bias") values[5] = std::numeric_limits<double>::quiet_NaN();
  });
  const Run run = score(files / "m", "--json --data -", "go\tva\n");
  CHECK(run.out.empty());
  CHECK_THAT(error_of(run), StartsWith("bahdanau: <stdin>:1: expected a finite score, got "));
}

TEST_CASE("wrong usage is exit code 2", "[cli][usage]") {
  for (const std::string arguments :
       {"", "nothing", "--nothing", "score", "score --data -", "score --model m",
        "score --model m --data - more", "score --model m --data - --batch 0",
        "score --model m --data - --batch -1", "score --model m --data - --batch many",
        "score --model m --data - --nothing"}) {
    CAPTURE(arguments);
    const Run run = run_tool(arguments);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, StartsWith("bahdanau: "));
    CHECK_THAT(run.err, ContainsSubstring("--help"));
  }
  CHECK_THAT(run_tool("score --data -").err, ContainsSubstring("--model"));
}

TEST_CASE("help and version go to standard output", "[cli][usage]") {
  for (const std::string arguments : {"--help", "-h", "score --help"}) {
    const Run run = run_tool(arguments);
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    CHECK_THAT(run.out, ContainsSubstring("score"));
  }
  for (const char* option : {"--model", "--data", "--json", "--batch"})
    CHECK_THAT(run_tool("score --help").out, ContainsSubstring(option));
  const std::string version = std::to_string(BAHDANAU_VERSION_MAJOR) + "." +
                              std::to_string(BAHDANAU_VERSION_MINOR) + "." +
                              std::to_string(BAHDANAU_VERSION_PATCH);
  const Run run = run_tool("--version");
  CHECK(run.code == 0);
  // The level of instructions follows the processor, and OpenBLAS's core its version.
  CHECK(run.out == "bahdanau " + version + "\ninstructions: " + std::string(name(bahdanau::instructions())) +
                       "\nOpenBLAS's core: " + bahdanau::blas::core() + "\n");
  CHECK_THAT(run_shell("BAHDANAU_INSTRUCTIONS=mmx \"$TOOL\" --version").err,
             ContainsSubstring("BAHDANAU_INSTRUCTIONS: expected"));
  // Not the first line of the input, which is fine.
  const Run refused = run_shell("echo 'go .' | BAHDANAU_INSTRUCTIONS=mmx \"$TOOL\" translate --model " +
                                shell_word(trained_model()));
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, ContainsSubstring("bahdanau: BAHDANAU_INSTRUCTIONS: expected"));
}

TEST_CASE("a reader that goes away ends the tool quietly; a full disk does not", "[cli][pipe]") {
  std::string input;
  for (int i = 0; i < 5000; ++i) input += "go run .\tva ça cours !\n";
  const std::string command = "\"$TOOL\" score --json --data - --model " + shell_word(model);
  const Run run = run_shell("{ " + command + "; echo \"code $?\" >&2; } | head -n 1", input);
  CHECK(run.code == 0);
  CHECK(run.err == "code 0\n");
  CHECK(lines_of(run.out).size() == 1);
  if (fs::exists("/dev/full"))
    CHECK(error_of(run_shell(command + " > /dev/full", "go\tva\n")) ==
          "bahdanau: standard output: expected room to write, got \"No space left on device\"");
}

TEST_CASE("what was read is answered before the input ends", "[cli][pipe]") {
  // The second pair waits for the answer to the first.
  const Run run = run_shell(
      "d=$(mktemp -d) && mkfifo \"$d/in\" \"$d/out\" && "
      "{ \"$TOOL\" score --batch 1 --data - --model " +
      shell_word(model) +
      " < \"$d/in\" > \"$d/out\" & } && "
      "exec 3> \"$d/in\" 4< \"$d/out\" && printf 'go\\tva\\n' >&3 && read -r first <&4 && "
      "printf 'run\\tcours\\n' >&3 && exec 3>&- && read -r second <&4 && echo \"$first\" && echo "
      "\"$second\"; "
      "wait; rm -r \"$d\"");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("go\tva\n"));
  CHECK_THAT(run.out, EndsWith("run\tcours\n"));
}
