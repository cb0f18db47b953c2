// bahdanau train from outside: what it writes, what it says, what it refuses.
#include <filesystem>
#include <string>

#include <bahdanau/io/model_description.hpp>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using bahdanau::ModelDescription;
using bahdanau::SafetensorsFile;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

ModelDescription description(const fs::path& path) {
  return ModelDescription::read(SafetensorsFile::open(path));
}

}  // namespace

TEST_CASE("training writes a model, says what it read, and leaves no checkpoint", "[cli][train]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--epochs 3 --max-length 4");
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("pairs.tsv: 12 pairs, 8 rows cut to 4 tokens\n"));
  CHECK_THAT(run.err, ContainsSubstring("vocabularies: "));
  CHECK_THAT(run.err, ContainsSubstring("gru, additive, unidirectional"));
  CHECK_THAT(run.err, ContainsSubstring("wrote " + (files / "m").string()));
  CHECK(run.err.find('\r') == run.err.npos);    // plain lines where there is no terminal
  CHECK(run.err.find('\x1b') == run.err.npos);  // and no colours
  CHECK_THAT(run.err, ContainsSubstring("\nepoch 1/3  loss "));
  CHECK_THAT(run.err, ContainsSubstring("\nepoch 3/3  loss "));
  CHECK(fs::exists(files / "m"));
  CHECK_FALSE(fs::exists(files / "m.checkpoint"));
  CHECK(std::distance(fs::directory_iterator(files.path()), {}) == 2);
}

TEST_CASE("the settings reach the model file", "[cli][train]") {
  const TemporaryDirectory files;
  const Run run = train_in(files,
                           "--quiet --epochs 1 --cell lstm --score scaled_dot --layers 2 --hidden 6 "
                           "--dropout 0.25 --final-state padded --tokens none --max-length 9");
  REQUIRE(run.code == 0);
  const ModelDescription d = description(files / "m");
  CHECK(d.cell == "lstm");
  CHECK(d.score == "scaled_dot");
  CHECK(d.encoder == "unidirectional");
  CHECK(d.config == bahdanau::Config{8, 6, 2, 0.25F, bahdanau::FinalState::padded});
  CHECK(d.vocabularies.text == bahdanau::TextOptions{bahdanau::Tokens::none, true, 9});
  CHECK(d.vocabularies.source.contains("Go."));
}

TEST_CASE("every combination of policies and every optimizer trains", "[cli][train]") {
  for (const std::string settings :
       {"--cell gru --score additive --encoder bidirectional", "--cell gru --score scaled_dot",
        "--cell lstm --score additive", "--cell lstm --score additive --encoder bidirectional",
        "--optimizer adamw", "--optimizer sgd", "--optimizer adadelta",
        "--group-by-length --label-smoothing 0.1 --warm-up 5 --decay-patience 1"}) {
    CAPTURE(settings);
    const TemporaryDirectory files;
    CHECK(train_in(files, "--quiet --epochs 2 " + settings).code == 0);
    const Run run = run_tool("translate --model " + shell_word(files / "m"), "I go.\n");
    CHECK(run.code == 0);
    CHECK(lines_in(run.out).size() == 1);
  }
}

TEST_CASE("the same seed gives the same bytes, whatever the threads; another seed others", "[cli][train]") {
  const TemporaryDirectory one, two, three;
  CHECK(train_in(one, "--quiet --epochs 2 --seed 3 --threads 1").code == 0);
  CHECK(train_in(two, "--quiet --epochs 2 --seed 3 --threads 2").code == 0);
  CHECK(train_in(three, "--quiet --epochs 2 --seed 4").code == 0);
  CHECK(contents(one / "m") == contents(two / "m"));
  CHECK(contents(one / "m") != contents(three / "m"));
}

TEST_CASE("--quiet says nothing", "[cli][train]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--quiet --epochs 2 --plot " + shell_word(files / "pictures"));
  CHECK(run.code == 0);
  CHECK(run.out.empty());
  CHECK(run.err.empty());
}

TEST_CASE("--plot writes the loss curve and heatmaps and says where", "[cli][train][plot]") {
  const TemporaryDirectory files;
  const fs::path folder = files / "some";
  const Run run = train_in(files, "--epochs 2 --plot " + shell_word(folder / "pictures"));
  CHECK(run.code == 0);
  for (const char* name : {"loss.svg", "attention-1.svg", "attention-2.svg", "attention-4.svg"}) {
    const fs::path path = folder / "pictures" / name;
    CHECK_THAT(run.err, ContainsSubstring("wrote " + path.string() + "\n"));
    CHECK_THAT(contents(path), ContainsSubstring("<svg") && ContainsSubstring("</svg>"));
  }
}

TEST_CASE("a validation set is a file or a share, and stops the training", "[cli][train][validation]") {
  const TemporaryDirectory files;
  put(files / "held.tsv", "I go now.\tJe vais maintenant.\nHe sees it.\tIl le voit.\n");
  const std::string file = " --validation " + shell_word(files / "held.tsv");
  const Run run = train_in(files, "--epochs 400 --rate 0.1 --patience 3" + file);
  CHECK(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("held.tsv: 2 pairs\n") && ContainsSubstring("  validation "));
  CHECK_THAT(run.err, ContainsSubstring("stopped early"));

  const Run share = train_in(files, "--epochs 2 --validation 0.25");
  CHECK(share.code == 0);
  CHECK_THAT(share.err, ContainsSubstring("validation: 3 pairs of them"));
  for (const std::string wrong : {"0", "1", "1.5", "-0.5"}) {
    const Run refused = train_in(files, "--epochs 2 --validation=" + wrong);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, StartsWith("bahdanau: --validation: expected a file, or a share"));
  }
  CHECK(train_in(files, "--patience 3").code == 2);  // of what?
}

TEST_CASE("Chinese is trained on by characters", "[cli][train][characters]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--quiet --epochs 80 --rate 0.02 --dropout 0 --tokens characters",
                           "我走。\t他走。\n我看他。\t他看我。\n我跑。\t他跑。\n");
  REQUIRE(run.code == 0);
  const Run translated = run_tool("translate --model " + shell_word(files / "m"), "我看他。\n我跑。\n");
  CHECK(translated.out == "他看我。\n他跑。\n");
}

TEST_CASE("a bad line is an error with path and line, or skipped and counted", "[cli][train][error]") {
  const TemporaryDirectory files;
  const std::string pairs = tiny_pairs + "no tab\n";
  const Run refused = train_in(files, "--epochs 1", pairs);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, ContainsSubstring("pairs.tsv:13: expected a source, a tab and a target"));
  CHECK_FALSE(fs::exists(files / "m"));
  const Run skipped = train_in(files, "--epochs 1 --skip-bad-lines", pairs);
  CHECK(skipped.code == 0);
  CHECK_THAT(skipped.err, ContainsSubstring("12 pairs, 1 line skipped"));
}

TEST_CASE("policies that do not fit are refused before anything is read", "[cli][train][error]") {
  const Run run = run_tool("train --data none --model none --score scaled_dot --encoder bidirectional");
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("a bidirectional encoder goes with \"additive\""));
}

TEST_CASE("what cannot work is said before training", "[cli][train][error]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", tiny_pairs);
  const std::string data = "train --data " + shell_word(files / "pairs.tsv") + " --model ";
  const Run nowhere = run_tool(data + shell_word(files / "no" / "m"));
  CHECK(nowhere.code == 1);
  CHECK(nowhere.err ==
        "bahdanau: " + (files / "no" / "m").string() + ": expected a folder to write it to, got none\n");
  CHECK(run_tool(data + shell_word(files.path())).code == 1);
  const Run missing = run_tool("train --data " + shell_word(files / "none") + " --model m");
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, ContainsSubstring("expected a file that can be opened"));
}

TEST_CASE("a loss that is no number ends training with the last good model", "[cli][train][error]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--quiet --optimizer sgd --rate 1e38 --clip 0 --epochs 9 --batch 12");
  CHECK(run.code == 1);
  CHECK_THAT(run.err, StartsWith("bahdanau: training, epoch 2, batch 1: ") && ContainsSubstring("finite"));
  CHECK(fs::exists(files / "m"));
}

TEST_CASE("of an option that is given twice the last counts", "[cli][usage]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 1 --hidden 9 --hidden 5").code == 0);
  CHECK(description(files / "m").config.hidden == 5);
}

TEST_CASE("training is told wrong things", "[cli][train][usage]") {
  for (const std::string arguments :
       {"--cell rnn", "--score dot", "--encoder both", "--tokens letters", "--final-state none", "--embed 0",
        "--hidden 0", "--layers 0", "--dropout 1", "--dropout -1", "--batch 0", "--rate 0", "--rate fast",
        "--clip -1", "--max-length 0", "--epochs -1", "--seed -1", "--optimizer none", "--nothing"}) {
    CAPTURE(arguments);
    const Run run = run_tool("train --data none --model none " + arguments);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, StartsWith("bahdanau: ") && ContainsSubstring("see bahdanau train --help"));
  }
  const Run help = run_tool("train --help");
  CHECK(help.code == 0);
  for (const char* text : {"--validation", "--resume", "--plot", "=250", "=64", "0.005", "=50"})
    CHECK_THAT(help.out, ContainsSubstring(text));
}
