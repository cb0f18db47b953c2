// bahdanau align, explain, evaluate --gold, and a training that is watched, from outside.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/align/symmetrize.hpp>
#include <bahdanau/core/base64.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

/// Target and source of each line.
std::string turned(const std::string& pairs) {
  std::string out;
  for (const std::string& line : lines_in(pairs)) {
    const std::size_t tab = line.find('\t');
    out += line.substr(tab + 1) + '\t' + line.substr(0, tab) + '\n';
  }
  return out;
}

/// A model of the other direction.
const fs::path& reverse_model() {
  static const TemporaryDirectory files;
  static const fs::path path = [] {
    train_in(files, "--quiet --epochs 60 --rate 0.02 --dropout 0 --seed 2", turned(tiny_pairs));
    return files / "m";
  }();
  return path;
}

/// The data of a page.
nlohmann::json data_of(const fs::path& page) {
  const std::string html = contents(page), open = "id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("align gives a line of links for each pair, one for each target word", "[cli][align]") {
  const Run run = with_model("align", "--data -", tiny_pairs);
  CHECK(run.code == 0);
  const std::vector<std::string> lines = lines_in(run.out);
  REQUIRE(lines.size() == 12);
  const bahdanau::Alignment links = bahdanau::parse_pharaoh("line", lines[6]);  // I see him. Je le vois.
  CHECK(links.size() == 4);
  for (const bahdanau::Link& link : links.links()) {
    CHECK(link.source < 4);
    CHECK(link.target < 4);
  }
  // The same attention as score writes, and the same lines in any batch.
  const auto scored = json_lines(with_model("score", "--data - --json", "I see him.\tJe le vois.\n").out);
  for (std::size_t t = 0; t < 4; ++t) {
    const std::vector<double> row = scored[0]["attention"][t];
    std::size_t best = 0;
    for (std::size_t s = 1; s < 4; ++s)
      if (row[s] > row[best]) best = s;
    CHECK(links.has(best, t));
  }
  CHECK(with_model("align", "--data - --batch 1", tiny_pairs).out == run.out);
}

TEST_CASE("align takes a threshold, and a model of the other direction", "[cli][align]") {
  CHECK(lines_in(with_model("align", "--data - --threshold 1", "Go.\tVa !\n").out) ==
        std::vector<std::string>{""});
  const std::string reverse = "--data - --reverse-model " + shell_word(reverse_model());
  // What each model says alone, put together here.
  const auto forward = lines_in(with_model("align", "--data -", tiny_pairs).out),
             backward = lines_in(
                 run_tool("align --data - --model " + shell_word(reverse_model()), turned(tiny_pairs)).out);
  REQUIRE(forward.size() == 12);
  REQUIRE(backward.size() == 12);
  for (const auto how : {bahdanau::Symmetrization::intersection, bahdanau::Symmetrization::either,
                         bahdanau::Symmetrization::grow_diag, bahdanau::Symmetrization::grow_diag_final,
                         bahdanau::Symmetrization::grow_diag_final_and}) {
    std::string expected, unturned;
    for (std::size_t i = 0; i < forward.size(); ++i) {
      const bahdanau::Alignment f = bahdanau::parse_pharaoh("forward", forward[i]),
                                b = bahdanau::parse_pharaoh("backward", backward[i]);
      expected += bahdanau::pharaoh_text(bahdanau::symmetrize(f, b.transposed(), how)) + '\n';
      unturned += bahdanau::pharaoh_text(bahdanau::symmetrize(f, b, how)) + '\n';
    }
    const Run run =
        with_model("align", reverse + " --symmetrize " + std::string(bahdanau::name(how)), tiny_pairs);
    CHECK(run.code == 0);
    CHECK(run.out == expected);
    CHECK(expected != unturned);  // these pairs tell the two apart
  }
  CHECK(with_model("align", reverse, tiny_pairs).out ==
        with_model("align", reverse + " --symmetrize grow-diag-final-and", tiny_pairs).out);
}

TEST_CASE("align says what is wrong", "[cli][align][error]") {
  const Run bad = with_model("align", "--data -", "Go.\tVa !\nno tab\n");
  CHECK(bad.code == 1);
  CHECK(lines_in(bad.out).size() == 1);  // what came before it
  CHECK_THAT(bad.err, StartsWith("bahdanau: <stdin>:2: "));
  CHECK(with_model("align", "--data - --symmetrize union", tiny_pairs).code == 2);  // of what?
  CHECK(with_model("align", "--data - --threshold 0", tiny_pairs).code == 2);
  CHECK(run_tool("align --model m --data d --reverse-model r --symmetrize grow").code == 2);
  CHECK(run_tool("align --help").code == 0);
}

TEST_CASE("evaluate --gold has the error rate of alignments", "[cli][align][evaluate]") {
  const TemporaryDirectory files;
  const std::string own = with_model("align", "--data -", tiny_pairs).out;
  put(files / "gold", own);
  const std::string gold = "--data - --gold " + shell_word(files / "gold");
  const Run run = with_model("evaluate", gold, tiny_pairs);
  CHECK_THAT(run.out,
             ContainsSubstring("\nalignment error rate\t0.0000\nalignment precision\t1.0000\nalignment "
                               "recall\t1.0000\n"));
  // Of two links one is right, and of one that is sure none is found.
  const std::string line = lines_in(own)[0];
  put(files / "gold", line.substr(0, line.find(' ')).replace(1, 1, "?") + " 1-0 0-1\n");
  const bahdanau::Alignment found = bahdanau::parse_pharaoh("found", line);
  const bahdanau::Alignment hand = bahdanau::parse_pharaoh("gold", contents(files / "gold").substr(0, 11));
  std::size_t sure = 0, possible = 0;
  for (const bahdanau::Link& link : found.links()) {
    sure += hand.has_sure(link.source, link.target) ? 1 : 0;
    possible += hand.has(link.source, link.target) ? 1 : 0;
  }
  const Run json = with_model("evaluate", gold + " --json", "Go.\tVa !\n");
  const auto alignment = nlohmann::json::parse(json.out)["alignment"];
  CHECK(alignment["precision"].get<double>() == Approx(static_cast<double>(possible) / 2));
  CHECK(alignment["recall"].get<double>() == Approx(static_cast<double>(sure) / 2));
  CHECK(alignment["error_rate"].get<double>() == Approx(1 - static_cast<double>(sure + possible) / 4));

  const Run few = with_model("evaluate", gold, tiny_pairs);
  CHECK(few.code == 1);
  CHECK_THAT(few.err, ContainsSubstring("expected a line for each line of --data, at least 2, got 1"));
  put(files / "gold", "0-9\n");
  CHECK_THAT(with_model("evaluate", gold, "Go.\tVa !\n").err,
             ContainsSubstring(":1: expected links of 2 source and 2 target words, counted from 0, got 0-9"));
  put(files / "gold", "0:0\n");
  CHECK_THAT(with_model("evaluate", gold, "Go.\tVa !\n").err,
             ContainsSubstring(":1: expected links such as 0-1"));
  CHECK(with_model("evaluate", "--data - --threshold 0.5", tiny_pairs).code == 2);
}

TEST_CASE("explain writes a page with all that the search has seen", "[cli][explain]") {
  const TemporaryDirectory files;
  put(files / "gold", "0-0 1-1\n0?0\n\n");
  const std::string out = "--data - --out " + shell_word(files / "page.html");
  const Run run = with_model("explain", out + " --gold " + shell_word(files / "gold"),
                             "I see him.\tJe le vois.\nRun.\nHe </script>.\tIl va.\n");
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  CHECK(run.err == "wrote " + (files / "page.html").string() + "\n");
  const auto data = data_of(files / "page.html");
  CHECK(data["title"] == "m");
  REQUIRE(data["sentences"].size() == 3);
  const auto& first = data["sentences"][0];
  CHECK(first["source"] == std::vector<std::string>{"i", "see", "him", ".", "<eos>"});
  CHECK(first["reference"] == std::vector<std::string>{"je", "le", "vois", "."});
  REQUIRE(first["nbest"].size() == 4);  // three, and the reference
  CHECK(first["nbest"][0]["bleu"] == 1);
  CHECK(first["nbest"][0]["runners_up"][0].size() == 5);
  CHECK(first["nbest"][3]["forced"] == true);
  CHECK(first["gold"].size() == 2);
  CHECK(first["history"].size() >= 5);
  CHECK_FALSE(data["sentences"][1].contains("reference"));
  CHECK(data["sentences"][1]["nbest"].size() == 3);

  CHECK(with_model("explain", out + " --beam 1 --runners-up 0 --title T", "Run.\n").code == 0);
  const auto greedy = data_of(files / "page.html");
  CHECK(greedy["title"] == "T");
  CHECK(greedy["sentences"][0]["nbest"].size() == 1);
  CHECK_FALSE(greedy["sentences"][0].contains("history"));
  CHECK_FALSE(greedy["sentences"][0]["nbest"][0].contains("runners_up"));
}

TEST_CASE("explain shows each head of a model with several, and their mean", "[cli][explain][lstm]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 5 --score 'multi_head(scaled_dot,4)'").code == 0);
  const fs::path page = files / "page.html";
  REQUIRE(run_tool("explain --data - --model " + shell_word(files / "m") + " --out " + shell_word(page),
                   "I see him.\tJe le vois.\n")
              .code == 0);
  const nlohmann::json best = data_of(page)["sentences"][0]["nbest"][0];
  REQUIRE(best["heads"].size() == 4);
  const auto weight = [](const nlohmann::json& packed, std::size_t i) {  // two digits of base64 each
    const std::string text = packed;
    const auto digit = [&](std::size_t at) {
      return static_cast<double>(bahdanau::detail::base64_digits.find(text.at(at)));
    };
    return (digit(2 * i) * 64 + digit(2 * i + 1)) / 4095;
  };
  const std::size_t weights = best["attention"].get<std::string>().size() / 2;
  REQUIRE(weights == best["target"].size() * 5);  // I see him . <eos>
  for (std::size_t i = 0; i < weights; ++i) {
    double mean = 0;
    for (const auto& head : best["heads"]) mean += weight(head, i) / 4;
    CHECK(weight(best["attention"], i) == Approx(mean).margin(1e-3));
  }
}

TEST_CASE("explain is told wrong things", "[cli][explain][error]") {
  const TemporaryDirectory files;
  const std::string out = " --out " + shell_word(files / "page.html");
  CHECK(with_model("explain", "--data -" + out, "").code == 1);
  CHECK(with_model("explain", "--data " + shell_word(files / "none") + out).code == 1);
  CHECK_THAT(with_model("explain", "--data -" + out, "Go.\n\tVa !\n").err,
             StartsWith("bahdanau: <stdin>:2: expected a source"));
  CHECK(with_model("explain", "--data -", "Go.\n").code == 2);
  CHECK(with_model("explain", "--data - --beam 2 --nbest 3" + out, "Go.\n").code == 2);
  CHECK(with_model("explain", "--data - --out " + shell_word(trained_model()), "Go.\n").code == 1);
  CHECK_FALSE(fs::exists(files / "page.html"));
  CHECK(run_tool("explain --help").code == 0);
}

TEST_CASE("plot --diagram draws the model itself", "[cli][plot][diagram]") {
  const TemporaryDirectory files;
  CHECK(with_model("plot", "--diagram --title T --out " + shell_word(files / "d.svg")).code == 0);
  const std::string picture = contents(files / "d.svg");
  for (const char* text :
       {">T<", "Encoder: unidirectional", "Attention: additive", "rnn.weight_ih_l0 [24, 8]", "parameters"})
    CHECK_THAT(picture, ContainsSubstring(text));
  CHECK(run_tool("plot --model m --diagram").code == 2);
  CHECK(run_tool("plot --model m --diagram --out d.svg --source s").code == 2);
  CHECK(run_tool("plot --model m --diagram --terminal").code == 2);
}

TEST_CASE("train --log writes a line of JSON for each batch and epoch", "[cli][train][log]") {
  const TemporaryDirectory files;
  const std::string log = " --log " + shell_word(files / "log.jsonl");
  CHECK(train_in(files, "--quiet --epochs 2 --validation 0.2 --warm-up 4" + log).code == 0);
  const auto lines = json_lines(contents(files / "log.jsonl"));
  REQUIRE(lines.size() == 2 * (3 + 1));  // ten pairs in batches of four
  CHECK(lines[0]["event"] == "batch");
  CHECK(lines[0]["epoch"] == 1);
  CHECK(lines[1]["batch"] == 2);
  CHECK(lines[1]["batches"] == 3);
  CHECK(lines[0]["loss"].get<double>() > 1);
  CHECK(lines[0]["gradient_norm"].get<double>() > 0);
  CHECK(lines[0]["rate"].get<double>() == Approx(0.005 / 4));
  CHECK(lines[7]["rate"].get<double>() == Approx(0.005));
  CHECK(lines[3]["event"] == "epoch");
  CHECK(lines[7]["epoch"] == 2);
  CHECK(lines[7]["validation_loss"].get<double>() > 0);
  CHECK(lines[7]["tokens_per_second"].get<double>() > 0);
  // Nothing that is measured moves the weights.
  const std::string watched = contents(files / "m");
  CHECK(train_in(files, "--quiet --epochs 2 --validation 0.2 --warm-up 4").code == 0);
  CHECK(contents(files / "m") == watched);
  CHECK(train_in(files, "--quiet --epochs 1 --log " + shell_word(files / "pairs.tsv")).code == 1);
  CHECK(train_in(files, "--quiet --epochs 1 --log " + shell_word(files / "none" / "log")).code == 1);
}

TEST_CASE("train --plot writes a report with the samples of its epochs", "[cli][train][plot]") {
  const TemporaryDirectory files;
  CHECK(train_in(files, "--quiet --epochs 3 --plot " + shell_word(files / "plots")).code == 0);
  const auto data = data_of(files / "plots" / "report.html");
  CHECK(data["refresh"] == 0);  // it is finished
  CHECK(data["total"] == 3);
  CHECK(data["epochs"].size() == 3);
  CHECK(data["batches"].size() == 9);
  CHECK(data["samples"].back()["epoch"] == 3);
  CHECK(data["samples"].back()["translations"].size() == 4);
  const std::string watched = contents(files / "m");
  CHECK(train_in(files, "--quiet --epochs 3").code == 0);
  CHECK(contents(files / "m") == watched);
}

TEST_CASE("the report of a training that runs loads itself anew, and has the epochs so far",
          "[cli][train][plot]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", tiny_pairs);
  const fs::path report = files / "plots" / "report.html";
  // As a reader sees it: at any moment, until there is an epoch; then the training is ended.
  const Run run =
      run_shell("\"$TOOL\" train --quiet --epochs 1000000 --data " + shell_word(files / "pairs.tsv") +
                " --model " + shell_word(files / "m") + small + "--plot " + shell_word(files / "plots") +
                " & child=$!\n"
                "for i in $(seq 600); do\n"
                "  sleep 0.1; cp " +
                shell_word(report) + " " + shell_word(files / "seen.html") +
                " 2>/dev/null || continue\n"
                "  ! grep -q '\"epochs\":\\[{' " +
                shell_word(files / "seen.html") +
                " || break\n"
                "done\n"
                "kill -TERM $child; wait $child");
  CHECK(run.code == 143);
  const auto seen = data_of(files / "seen.html"), last = data_of(report);
  CHECK(seen["refresh"] == 2);
  CHECK(seen["total"] == 1000000);
  REQUIRE_FALSE(seen["epochs"].empty());
  CHECK(seen["epochs"][0]["epoch"] == 1);
  CHECK(last["refresh"] == 0);  // it stays as it is
  CHECK(last["epochs"].size() >= seen["epochs"].size());
}
