// bahdanau train from outside: what it writes, what it says, what it refuses.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

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
  CHECK_THAT(run.err, ContainsSubstring("pairs.tsv: 12 pairs\n"));
  CHECK_THAT(run.err,
             ContainsSubstring("bahdanau: warning: 8 of the training data's 24 rows were cut to 4 tokens"));
  CHECK(run.err.find(" cut to ") == run.err.rfind(" cut to "));  // once
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

TEST_CASE("the settings reach the model file", "[cli][train][lstm]") {
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

TEST_CASE("residual connections, dropout of all kinds and scheduled sampling are options", "[cli][train]") {
  const TemporaryDirectory files;
  const std::string settings =
      "--quiet --epochs 2 --layers 2 --residual --variational --dropout 0.2 --embedding-dropout 0.25 "
      "--scheduled-sampling linear --sampling-slope 0.5 --sampling-least 0.1 --sampling-best";
  REQUIRE(train_in(files, settings).code == 0);
  const bahdanau::Config config = description(files / "m").config;
  CHECK(config.residual);
  CHECK(config.dropout_masks == bahdanau::DropoutMasks::per_sequence);
  CHECK(config.embedding_dropout == 0.25F);
  const Run idle = train_in(files, "--scheduled-sampling linear");
  CHECK(idle.code == 2);
  CHECK_THAT(idle.err, ContainsSubstring("expected a --sampling-slope above 0"));
  const Run wrong = train_in(files, "--scheduled-sampling inverse_sigmoid --sampling-k 0.5");
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, ContainsSubstring("ScheduledSampling.k: expected at least 1, for an inverse sigmoid "
                                          "decay, got 0.5"));
}

TEST_CASE("without --max-length nothing is cut, and the padded rule asks for one", "[cli][train]") {
  const TemporaryDirectory files;
  std::string long_row = "go";
  for (int i = 0; i < 60; ++i) long_row += " on";
  put(files / "long.tsv", long_row + "\tva\n" + long_row + " .\tva .\n");
  const std::string command = "train --epochs 1 --data '" + (files / "long.tsv").string() + "' --model '" +
                              (files / "m").string() + "'";
  const Run run = run_tool(command);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("long.tsv: 2 pairs\n"));  // and no row cut
  CHECK(description(files / "m").vocabularies.text == bahdanau::TextOptions{});
  CHECK_THAT(run_tool(command + " --max-length 50").err,
             ContainsSubstring("2 of the training data's 4 rows were cut to 50 tokens;"));
  const Run padded = run_tool(command + " --final-state padded");
  CHECK(padded.code == 2);
  CHECK(padded.err ==
        "bahdanau: --final-state: expected a --max-length with padded, which steps over <pad> up to it, got "
        "none; "
        "see bahdanau train --help\n");
}

TEST_CASE("files beyond the limit of the shell are an error with a reason", "[cli][train][error]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", "go .\tva !\nrun .\tcours !\n");
  const Run run = run_shell("ulimit -f 40; \"$TOOL\" train --epochs 3 --min-frequency 1 --hidden 64 --data " +
                            shell_word(files / "pairs.tsv") + " --model " + shell_word(files / "m"));
  CHECK(run.code == 1);
  CHECK_THAT(run.err, ContainsSubstring("warning: a checkpoint could not be written"));
  CHECK_THAT(run.err, ContainsSubstring("File too large"));
  CHECK_FALSE(std::filesystem::exists(files / "m"));
}

TEST_CASE("every combination that is compiled in trains, scores, translates and is evaluated",
          "[cli][train][lstm]") {
  const Run list = run_tool("train --data none --model none --score scaled_dot --encoder bidirectional");
  std::size_t combinations = 0;
  for (const std::string& line : lines_in(list.err)) {
    if (!line.starts_with("  ")) continue;
    CAPTURE(line);
    std::string settings = "--quiet --epochs 1", rest = line.substr(2, line.find(" (") - 2) + ", ";
    for (const char* option : {" --cell ", " --score ", " --encoder ", " --decoder ", " --readout "}) {
      settings += option + ("'" + rest.substr(0, rest.find(", ")) + "'");
      rest.erase(0, rest.find(", ") + 2);
    }
    const TemporaryDirectory files;
    const Run run = train_in(files, settings);
    CHECK(run.err.empty());
    REQUIRE(run.code == 0);
    const std::string model = " --model " + shell_word(files / "m");
    const Run translated = run_tool("translate --beam 2" + model, "I go.\n");
    CHECK(translated.code == 0);
    CHECK(lines_in(translated.out).size() == 1);
    CHECK(run_tool("score --data -" + model, "I go.\tJe vais.\n").code == 0);
    CHECK(run_tool("evaluate --data -" + model, "I go.\tJe vais.\n").code == 0);
    const Run plot = run_tool("plot --terminal --source 'I go.'" + model);
    CHECK(plot.code == (settings.find("'none'") == settings.npos ? 0 : 1));
    ++combinations;
  }
  CHECK(combinations == BAHDANAU_CLI_MODELS);
}

TEST_CASE("every optimizer trains", "[cli][train]") {
  for (const std::string settings :
       {"--optimizer adamw", "--optimizer sgd", "--optimizer adadelta",
        "--group-by-length --label-smoothing 0.1 --warm-up 5 --decay-patience 1"}) {
    CAPTURE(settings);
    const TemporaryDirectory files;
    CHECK(train_in(files, "--quiet --epochs 2 " + settings).code == 0);
    const Run run = run_tool("translate --model " + shell_word(files / "m"), "I go.\n");
    CHECK(run.code == 0);
    CHECK(lines_in(run.out).size() == 1);
  }
}

TEST_CASE("the papers' models train, translate and go on from a checkpoint", "[cli][train][lstm]") {
  using bahdanau::Bridge;
  struct Paper {
    std::string architecture, policies;
    Bridge bridge;
  };
  const Paper papers[] = {
      {"rnnsearch", "gru_reset_before, additive, bidirectional, deep(500)", Bridge::backward},
      {"luong", "lstm, general, unidirectional, input_feeding", Bridge::both},
      {"nematus", "gru, additive, bidirectional, conditional, tanh", Bridge::mean},
      {"gehring", "lstm, general, convolutional(6,3)", Bridge::mean}};
  for (const auto& [architecture, policies, bridge] : papers) {
    CAPTURE(architecture);
    const TemporaryDirectory files, whole;
    const Run run = train_in(files, "--epochs 2 --architecture " + architecture);
    REQUIRE(run.code == 0);
    CHECK_THAT(run.err, ContainsSubstring("model: " + policies + ", 1 layer of"));
    const ModelDescription d = description(files / "m");
    CHECK(d.config.bridge == bridge);
    CHECK(d.config.tied == (architecture == "nematus"));
    const Run translated = run_tool("translate --beam 3 --model " + shell_word(files / "m"), "I go.\n");
    CHECK(translated.code == 0);
    CHECK(lines_in(translated.out).size() == 1);
    CHECK(train_in(whole, "--quiet --epochs 2 --threads 1 --architecture " + architecture).code == 0);
    CHECK(contents(files / "m") == contents(whole / "m"));
  }
}

TEST_CASE("models without attention train, translate, score and say that there is nothing to draw",
          "[cli][train][lstm]") {
  for (const std::string architecture : {"sutskever", "cho"}) {
    CAPTURE(architecture);
    const TemporaryDirectory files;
    const Run run = train_in(
        files, "--epochs 2 --plot " + shell_word(files / "plots") + " --architecture " + architecture);
    REQUIRE(run.code == 0);
    CHECK_THAT(run.err, ContainsSubstring(architecture == "cho"
                                              ? "model: gru_reset_before, none, unidirectional, "
                                                "fixed_context, deep(500,after), 1 layer of"
                                              : "model: lstm, none, unidirectional, plain, 1 layer"));
    CHECK_THAT(run.err, ContainsSubstring("no pictures of attention: the model has none\n"));
    CHECK(std::filesystem::exists(files / "plots" / "loss.svg"));
    CHECK(description(files / "m").vocabularies.text.reverse_source == (architecture == "sutskever"));
    const std::string model = " --model " + shell_word(files / "m");
    const Run translated = run_tool("translate --json --beam 3" + model, "I go.\n");
    REQUIRE(translated.code == 0);
    const auto line = json_lines(translated.out).front();
    CHECK(line["source"] == nlohmann::json({"i", "go", ".", "<eos>"}));
    CHECK(line["attention"] == nlohmann::json(std::vector<std::vector<double>>(line["target"].size())));
    const Run replaced = run_tool("translate --replace-unknown" + model, "I go.\n");
    CHECK(replaced.code == 1);
    CHECK(replaced.err ==
          "bahdanau: --replace-unknown: expected a model that attends, got one with the score \"none\"\n");
    const Run drawn = run_tool("plot --terminal --source 'I go.'" + model);
    CHECK(drawn.code == 1);
    CHECK_THAT(drawn.err, ContainsSubstring("heatmap: expected attention to draw, got none; the translation "
                                            "is of a model that does not attend"));
  }
}

TEST_CASE("--reverse-source is for any model, and --no-reverse-source against Sutskever's",
          "[cli][train][lstm]") {
  const TemporaryDirectory files;
  CHECK(train_in(files, "--quiet --epochs 1 --reverse-source").code == 0);
  CHECK(description(files / "m").vocabularies.text.reverse_source);
  CHECK(train_in(files, "--quiet --epochs 1 --architecture sutskever --no-reverse-source").code == 0);
  CHECK_FALSE(description(files / "m").vocabularies.text.reverse_source);
}

TEST_CASE("the rate decays by what was said, from the epoch that was said on", "[cli][train]") {
  const TemporaryDirectory files;
  const std::string log = " --log " + shell_word(files / "log");
  REQUIRE(train_in(files, "--quiet --epochs 4 --optimizer sgd --rate 0.1 --decay 0.25 --decay-after 2" + log)
              .code == 0);
  std::vector<double> rates;
  for (const auto& line : json_lines(contents(files / "log")))
    if (line["event"] == "epoch") rates.push_back(line["rate"].get<double>());
  REQUIRE(rates.size() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(rates[i] == Approx(std::vector<double>{0.1, 0.1, 0.025, 0.00625}[i]));
  const Run run = train_in(files, "--decay 0.25");
  CHECK(run.code == 2);
  CHECK_THAT(run.err, StartsWith("bahdanau: --decay: expected --decay-patience or --decay-after above 0"));
  CHECK(train_in(files, "--decay 0 --decay-after 1").code == 2);
}

TEST_CASE("--paper takes the paper's choices where nothing else was said", "[cli][train][lstm]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", tiny_pairs);
  const Run run = run_tool(
      "train --quiet --epochs 1 --min-frequency 1 --architecture luong --paper --embed 6 --hidden 6 --data " +
      shell_word(files / "pairs.tsv") + " --model " + shell_word(files / "m"));
  REQUIRE(run.code == 0);
  const ModelDescription d = description(files / "m");
  CHECK(d.config.layers == 4);
  CHECK(d.config.hidden == 6);
  CHECK(d.config.dropout == 0.2F);
}

TEST_CASE("an option puts another part into an architecture, where that is compiled in",
          "[cli][train][error][lstm]") {
  const TemporaryDirectory files;
  const Run same =
      train_in(files, "--epochs 0 --architecture luong --decoder attend_then_step --score additive");
  REQUIRE(same.code == 0);
  CHECK_THAT(same.err, ContainsSubstring("model: lstm, additive, unidirectional, 1 layer of"));
  // A bridge belongs to its encoder, tied embeddings to their readout.
  const std::string other = "--epochs 0 --architecture nematus --decoder attend_then_step --readout linear";
  CHECK(train_in(files, other).code == 0);
  CHECK(train_in(files, other + " --encoder unidirectional").code == 0);
  const Run run = train_in(files, "--architecture luong --cell gru");
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("expected policies that are compiled into the tool together, got "
                                        R"("gru", "general", "unidirectional", "input_feeding", "linear")"));
  CHECK_THAT(run.err,
             ContainsSubstring("\n  lstm, general, unidirectional, input_feeding, linear (luong)\n"));
}

TEST_CASE("--bridge chooses what the decoder starts from", "[cli][train]") {
  using bahdanau::Bridge;
  const TemporaryDirectory files;
  for (const Bridge bridge : {Bridge::both, Bridge::backward, Bridge::mean}) {
    CAPTURE(name(bridge));
    const std::string option = " --bridge " + std::string(name(bridge));
    REQUIRE(train_in(files, "--quiet --epochs 1 --encoder bidirectional" + option).code == 0);
    CHECK(description(files / "m").config.bridge == bridge);
    const Run translated = run_tool("translate --model " + shell_word(files / "m"), "I go.\n");
    CHECK(translated.code == 0);
    CHECK(lines_in(translated.out).size() == 1);
    // An encoder of one direction has none, and says so before anything is read.
    const Run refused = run_tool("train --data none --model none" + option);
    CHECK(refused.code == 2);
    CHECK(refused.err == "bahdanau: --bridge: expected an encoder that has one, got \"" +
                             std::string(name(bridge)) +
                             "\" with \"unidirectional\", whose states the decoder takes as they are; choose "
                             "--encoder bidirectional; see bahdanau train --help\n");
  }
}

TEST_CASE("--bridge takes the place of an architecture's, where the encoder has it",
          "[cli][train][error][lstm]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 1 --architecture rnnsearch --bridge mean").code == 0);
  CHECK(description(files / "m").config.bridge == bahdanau::Bridge::mean);
  REQUIRE(train_in(files, "--quiet --epochs 1 --architecture gehring --bridge mean").code == 0);
  CHECK(description(files / "m").config.bridge == bahdanau::Bridge::mean);
  for (const std::string bridge : {"both", "backward"}) {
    const Run refused = train_in(files, "--architecture gehring --bridge " + bridge);
    CHECK(refused.code == 2);
    CHECK(refused.err ==
          "bahdanau: --bridge: expected \"mean\" with \"convolutional(6,3)\", which has no last states, got "
          "\"" +
              bridge + "\"; choose --encoder bidirectional; see bahdanau train --help\n");
  }
}

TEST_CASE("--tied takes the target embedding for the output layer, where the readout is as wide",
          "[cli][train]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 1 --tied").code == 0);
  CHECK(description(files / "m").config.tied);
  CHECK_FALSE(SafetensorsFile::open(files / "m").tensors().contains("decoder.dense.weight"));
  const Run translated = run_tool("translate --beam 2 --model " + shell_word(files / "m"), "I go.\n");
  CHECK(translated.code == 0);
  CHECK(lines_in(translated.out).size() == 1);
  const Run refused = run_tool("train --data none --model none --embed 8 --hidden 12 --tied");
  CHECK(refused.code == 2);
  CHECK(refused.err ==
        "bahdanau: --tied: expected a readout as wide as the embeddings, 8, got 12 from \"linear\"; choose "
        "--readout tanh, or --embed 12; see bahdanau train --help\n");
}

TEST_CASE("--no-tied is against Nematus's tied embeddings, and --tied for others",
          "[cli][train][error][lstm]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 1 --architecture nematus --no-tied").code == 0);
  CHECK_FALSE(description(files / "m").config.tied);
  CHECK(train_in(files, "--quiet --epochs 1 --architecture nematus --hidden 12 --tied").code == 0);
  const Run deep = train_in(files, "--architecture cho --tied");
  CHECK(deep.code == 2);
  CHECK_THAT(deep.err,
             ContainsSubstring("got 500 from \"deep(500,after)\"; choose --readout tanh, or --embed 500"));
  REQUIRE(train_in(files, "--quiet --epochs 1 --architecture cho --tied --embed 500").code == 0);
  CHECK(description(files / "m").config.tied);
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
  // The last line of the progress is that of the epoch that ended it.
  const auto stopped = run.err.find("stopped early: nothing better since epoch ");
  REQUIRE(stopped != run.err.npos);
  const std::size_t best = std::stoul(run.err.substr(stopped + 42));
  CHECK_THAT(run.err, ContainsSubstring("\nepoch " + std::to_string(best + 3) + "/400  loss "));

  const Run share = train_in(files, "--epochs 2 --validation 0.25");
  CHECK(share.code == 0);
  CHECK_THAT(share.err, ContainsSubstring("validation: 3 pairs of them"));
  for (const std::string wrong : {"0", "1", "1.5", "-0.5"}) {
    const Run refused = train_in(files, "--epochs 2 --validation=" + wrong);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, StartsWith("bahdanau: --validation: expected a file, or a share"));
  }
  CHECK(train_in(files, "--patience 3").code == 2);                   // of what?
  const Run nothing = train_in(files, "--epochs 1 --validation ''");  // a shell's variable without a value
  CHECK(nothing.code == 2);
  CHECK_THAT(nothing.err, ContainsSubstring("expected a file, or a share between 0 and 1, got \"\""));
}

TEST_CASE("a metric of translations says which epoch is the best", "[cli][train][validation]") {
  const TemporaryDirectory files;
  // One source has two translations: either is right.
  put(files / "held.tsv",
      "I go now.\tJe vais maintenant.\nHe sees it.\tIl le voit.\nHe sees it.\tIl voit.\n");
  const std::string file = " --validation " + shell_word(files / "held.tsv");
  const Run run = train_in(files, "--epochs 300 --rate 0.05 --patience 20 --best-by exact --log " +
                                      shell_word(files / "log") + file);
  CHECK(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("  100-exact 100.00 *") && ContainsSubstring("stopped early: "));
  CHECK_THAT(contents(files / "log"), ContainsSubstring("\"criterion\":100"));
  for (const char* metric : {"bleu", "per", "dictionary-wer"})
    CHECK(train_in(files, "--epochs 2 --best-by " + std::string(metric) + file).code == 0);

  const Run share = train_in(files, "--epochs 2 --best-by exact --validation 0.25");
  CHECK(share.code == 1);
  CHECK_THAT(share.err,
             ContainsSubstring("--best-by exact: expected a file for --validation, got a share of the data"));
  CHECK(train_in(files, "--epochs 2 --best-by exact").code == 2);
  // What was read as pairs already has none left.
  const Run pipe = train_in(files, "--epochs 2 --best-by exact --validation /dev/null");
  CHECK(pipe.code == 1);
  CHECK_THAT(pipe.err,
             ContainsSubstring("--validation: expected a regular file, which --best-by reads once more"));
  put(files / "long.tsv", "I go now.\tJe vais.\nI go now and now and now.\tJe vais.\n");
  const Run padded =
      train_in(files, "--epochs 2 --final-state padded --max-length 6 --best-by exact --validation " +
                          shell_word(files / "long.tsv"));
  CHECK(padded.code == 1);
  CHECK_THAT(padded.err, ContainsSubstring("expected sources of at most 6 tokens with <eos>, got 9 in "));
  const Run unknown = train_in(files, "--epochs 2 --best-by luck" + file);
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, ContainsSubstring("luck") && ContainsSubstring("loss,bleu"));
}

TEST_CASE("Chinese is trained on by characters", "[cli][train][characters]") {
  const TemporaryDirectory files;
  const Run run = train_in(files, "--quiet --epochs 80 --rate 0.02 --dropout 0 --tokens characters",
                           "我走。\t他走。\n我看他。\t他看我。\n我跑。\t他跑。\n");
  REQUIRE(run.code == 0);
  const Run translated = run_tool("translate --model " + shell_word(files / "m"), "我看他。\n我跑。\n");
  CHECK(translated.out == "他看我。\n他跑。\n");
}

TEST_CASE("each side is split in its own way, and text comes out as it went in", "[cli][train][text]") {
  const TemporaryDirectory files;
  const std::string learn = "--quiet --epochs 150 --rate 0.02 --dropout 0 ";
  const auto translated = [&](const std::string& sentence) {
    return run_tool("translate --model " + shell_word(files / "m"), sentence + "\n").out;
  };
  const std::string pairs = "我走。\tI walk, Tom!\n我看他。\tI see him: now.\n我跑。\tI don't (run).\n";
  REQUIRE(train_in(files,
                   learn + "--source-tokens characters --target-tokens words_and_marks --target-case true "
                           "--target-language english",
                   pairs)
              .code == 0);
  CHECK(translated("我走。") == "I walk, Tom!\n");
  CHECK(translated("我跑。") == "I don't (run).\n");
  CHECK(run_tool("score --model " + shell_word(files / "m") + " --data -", "我看他。\tI see him: now.\n")
            .out.ends_with("\t我看他。\tI see him: now.\n"));
  REQUIRE(train_in(files, learn + "--tokens characters --case keep --max-length 20",
                   "I go.\tOn y va.\nHe runs.\tIl court.\n")
              .code == 0);
  CHECK(translated("I go.") == "On y va.\n");
  const auto refused = [&](const std::string& arguments) {
    const Run run = train_in(files, arguments);
    CHECK(run.code == 2);
    return run.err;
  };
  CHECK_THAT(
      refused("--tokens characters --case true"),
      StartsWith(
          "bahdanau: --case true: expected words or words_and_marks as source tokens, got characters"));
  CHECK_THAT(
      refused("--target-tokens none --target-language french"),
      StartsWith(
          "bahdanau: --target-language: expected words or words_and_marks as target tokens, got none"));
  CHECK_THAT(refused("--source-subwords x.model"),
             StartsWith("bahdanau: --source-subwords: expected subwords as source tokens, got words"));
}

TEST_CASE("the tool learns subwords, and its model file carries them", "[cli][train][subwords]") {
  const TemporaryDirectory files;
  const Run run = train_in(files,
                           "--epochs 500 --rate 0.02 --dropout 0 --target-tokens subwords --target-case keep "
                           "--subwords 300 --max-length 30");
  if (run.err.find("a tool that was built with SentencePiece") != run.err.npos) return;  // it was not there
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("target subwords: "));
  CHECK(run_tool("translate --model " + shell_word(files / "m"), "I see him.\n").out == "Je le vois.\n");
  const Run few = train_in(files, "--epochs 1 --tokens subwords --subwords 100");
  CHECK(few.code == 1);
  CHECK_THAT(few.err, ContainsSubstring("pieces, as the text has"));
  REQUIRE(train_in(files, "--epochs 0 --tokens subwords --subwords 300").code == 0);
  const Run added =
      run_tool("train --data " + shell_word(files / "pairs.tsv") + " --model " + shell_word(files / "new") +
               " --epochs 0 --extend-vocabulary --from " + shell_word(files / "m"));
  CHECK(added.code == 1);
  CHECK_THAT(added.err, StartsWith("bahdanau: --extend-vocabulary: expected a model of --from with tokens"));
}

TEST_CASE("the tool reads subwords from files, and splits text anew in each epoch",
          "[cli][train][subwords]") {
  const TemporaryDirectory files;
  const std::string learn = "--quiet --epochs 500 --rate 0.02 --dropout 0 --max-length 30 ";
  const Run first = train_in(files, "--quiet --epochs 0 --tokens subwords --case keep --subwords 300");
  if (first.err.find("a tool that was built with SentencePiece") != first.err.npos) return;
  REQUIRE(first.code == 0);
  // The model file has what SentencePiece would have written, as a string of base64.
  const auto metadata = SafetensorsFile::open(files / "m").metadata();
  for (const std::string side : {"source", "target"}) {
    const std::string& json = metadata.at(side + "_subwords");
    put(files / (side + ".model"), bahdanau::detail::from_base64("", json.substr(1, json.size() - 2)));
  }
  const auto translated = [&] {
    return run_tool("translate --model " + shell_word(files / "m"), "I see him.\n").out;
  };
  const std::string target = "--target-tokens subwords --target-case keep --target-subwords " +
                             shell_word(files / "target.model") + " ";
  REQUIRE(train_in(files, learn + target).code == 0);
  CHECK(translated() == "Je le vois.\n");
  const std::string source = "--source-tokens subwords --source-case keep --source-subwords " +
                             shell_word(files / "source.model") + " ";
  // What a dozen sentences teach in so many pieces differs with rounding; that it is text again does not.
  const auto is_text = [&] {
    const std::string text = translated();
    CHECK_THAT(text, StartsWith("Je ") && Catch::Matchers::EndsWith(".\n"));
    CHECK(text.find("▁") == text.npos);
  };
  REQUIRE(train_in(files, learn + source + target).code == 0);
  is_text();
  const std::string unsampled = contents(files / "m");
  REQUIRE(train_in(files, learn + source + target + "--subword-sampling 4").code == 0);
  is_text();
  CHECK(contents(files / "m") != unsampled);
}

TEST_CASE("settings of subwords that are learnt are refused where none are",
          "[cli][train][usage][subwords]") {
  const std::string train = "train --data none --model none ";
  for (const std::string option : {"--subwords 300", "--character-coverage 0.99"})
    for (const std::string tokens :
         {"", "--source-tokens subwords --source-subwords x.model ",
          "--tokens subwords --source-subwords x.model --target-subwords x.model "}) {
      CAPTURE(option, tokens);
      const Run run = run_tool(train + tokens + option);
      CHECK(run.code == 2);
      CHECK_THAT(run.err, StartsWith("bahdanau: " + option.substr(0, option.find(' ')) +
                                     ": expected a side whose subwords are learnt from the data, got none"));
    }
  CHECK(run_tool(train + "--tokens subwords --character-coverage 0.9").err ==
        "bahdanau: --character-coverage: expected a number from 0.98 to 1, got \"0.9\"; see bahdanau train "
        "--help\n");
}

TEST_CASE("a training goes on from a model, with more words, and with parameters that stay",
          "[cli][train][from]") {
  const TemporaryDirectory files;
  const std::string learn = "--epochs 100 --rate 0.02 --dropout 0 --fix 'encoder.embedding.*' ";
  put(files / "more.tsv", "We go.\tNous allons.\nWe go now.\tNous allons maintenant.\nGo.\tVa !\n");
  const std::string from = "train --data " + shell_word(files / "more.tsv") + " --model " +
                           shell_word(files / "new") + " --from " + shell_word(trained_model()) + " ";
  const std::string extend = "--extend-vocabulary --min-frequency 1 ";
  const Run run = run_tool(from + learn + extend);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring(": weights of "));
  const ModelDescription before = description(trained_model()), after = description(files / "new");
  CHECK(after.config.hidden == before.config.hidden);
  CHECK(after.vocabularies.target.size() == before.vocabularies.target.size() + 2);
  CHECK(run_tool("translate --model " + shell_word(files / "new"), "We go now.\n").out ==
        "nous allons maintenant .\n");
  const auto embedding = [](const fs::path& path) {
    return SafetensorsFile::open(path).read<float>("encoder.embedding.weight");
  };
  const std::vector<float> old_rows = embedding(trained_model()), new_rows = embedding(files / "new");
  REQUIRE(new_rows.size() > old_rows.size());
  CHECK(std::equal(old_rows.begin(), old_rows.end(), new_rows.begin()));

  for (const std::string option :
       {"--hidden 32", "--bridge mean", "--tied", "--character-coverage 0.99", "--final-state padded"}) {
    CAPTURE(option);
    const Run refused = run_tool(from + option);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, StartsWith("bahdanau: " + option.substr(0, option.find(' ')) +
                                       ": expected none beside --from, whose model has its own, got one"));
  }
  CHECK_THAT(run_tool(from + "--no-tied").err, StartsWith("bahdanau: --tied: expected none beside --from"));
  const Run idle = run_tool(from + "--min-frequency 1");
  CHECK(idle.code == 2);
  CHECK_THAT(idle.err, StartsWith("bahdanau: --min-frequency: expected --extend-vocabulary beside it"));
  const Run unknown = run_tool(from + "--epochs 1 --fix nothing");
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.err, ContainsSubstring("fixed: expected the name of a parameter"));
  put(files / "embeddings.txt", "we 1 2 3 4 5 6 7 8\nnow 1 1 1 1 1 1 1 1\n");
  CHECK_THAT(
      run_tool(from + "--epochs 0 " + extend + "--source-embeddings " + shell_word(files / "embeddings.txt"))
          .err,
      ContainsSubstring("embeddings.txt: embeddings of 2 of "));
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
  CHECK_THAT(run.err, ContainsSubstring("expected policies that are compiled into the tool together, got "
                                        R"("gru", "scaled_dot", "bidirectional", )"));
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
  const Run run = train_in(files, "--quiet --optimizer adamw --rate 1000 --epochs 60 --batch 12");
  CHECK(run.code == 1);
  CHECK_THAT(run.err, StartsWith("bahdanau: training, ") && ContainsSubstring("finite") &&
                          ContainsSubstring("the model has the weights of epoch "));
  // Its numbers are numbers, if large ones: what they give for other sentences may be none.
  const auto model = bahdanau::SafetensorsFile::open(files / "m");
  for (const auto& [name, tensor] : model.tensors())
    for (const float number : model.read<float>(name)) REQUIRE(std::isfinite(number));
}

TEST_CASE("a training that blows up at once leaves no model", "[cli][train][error]") {
  const TemporaryDirectory files;
  for (const std::string rate : {"1e39", "1e38"}) {
    const Run run = train_in(files, "--optimizer sgd --clip 0 --epochs 1 --batch 12 --rate " + rate);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, ContainsSubstring("\nbahdanau: training, end of epoch 1: expected ") &&
                            ContainsSubstring("the model has its first weights"));
    CHECK_FALSE(fs::exists(files / "m"));
    CHECK_FALSE(fs::exists(files / "m.checkpoint"));
  }
}

TEST_CASE("a file that is read is never written over", "[cli][train][error]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", tiny_pairs);
  put(files / "m.checkpoint", tiny_pairs);
  fs::create_symlink("pairs.tsv", files / "link");
  const auto refused = [&](const std::string& data, const std::string& model, const std::string& more) {
    const Run run = run_tool("train --epochs 1 --data " + shell_word(files / data) + " --model " +
                             shell_word(files / model) + " " + more);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, StartsWith("bahdanau: --model: expected another file than --"));
  };
  refused("pairs.tsv", "pairs.tsv", "");
  refused("pairs.tsv", "link", "");
  refused("link", "pairs.tsv", "");
  refused("m.checkpoint", "m", "");
  refused("m.checkpoint", "pairs.tsv", "--validation " + shell_word(files / "pairs.tsv"));
  CHECK(contents(files / "pairs.tsv") == tiny_pairs);
  CHECK(contents(files / "m.checkpoint") == tiny_pairs);

  const std::string model = shell_word(trained_model());
  const Run plot = run_tool("plot --source Go. --model " + model + " --out " + model);
  CHECK(plot.code == 1);
  CHECK_THAT(plot.err, StartsWith("bahdanau: --out: expected another file than --model, got "));
  CHECK(run_tool("translate --model " + model, "Go.\n").out == "va !\n");
}

TEST_CASE("what has no room is said before training", "[cli][train][error]") {
  const TemporaryDirectory files;
  const Run folder = train_in(files, "--quiet --epochs 1 --plot " + shell_word(files / "pairs.tsv"));
  CHECK(folder.code == 1);
  CHECK(folder.err == "bahdanau: --plot: expected a folder for pictures, got " +
                          (files / "pairs.tsv").string() + ", which is none and cannot be made\n");
  const Run large = train_in(files, "--quiet --epochs 1 --hidden 16777216");
  CHECK(large.code == 1);
  CHECK(large.err ==
        "bahdanau: model: expected sizes that fit into memory, got --embed 8 --hidden 16777216 --layers 1\n");
  CHECK_FALSE(fs::exists(files / "m"));
  const Run stream = run_tool("train --data - --model " + shell_word(files / "m"), tiny_pairs);
  CHECK(stream.code == 1);
  CHECK_THAT(stream.err, StartsWith("bahdanau: --data: expected a file, got -, standard input"));
}

TEST_CASE("no epochs give a model and pictures of what it attends to", "[cli][train][plot]") {
  const TemporaryDirectory files;
  CHECK(train_in(files, "--quiet --epochs 0 --plot " + shell_word(files / "pictures")).code == 0);
  CHECK(fs::exists(files / "m"));
  CHECK(fs::exists(files / "pictures" / "attention-1.svg"));
  CHECK_FALSE(fs::exists(files / "pictures" / "loss.svg"));
}

TEST_CASE("of an option that is given twice the last counts", "[cli][usage]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 1 --hidden 9 --hidden 5").code == 0);
  CHECK(description(files / "m").config.hidden == 5);
}

TEST_CASE("training is told wrong things", "[cli][train][usage]") {
  for (const std::string arguments :
       {"--cell gurk",        "--score dots",     "--encoder both", "--tokens letters",
        "--final-state none", "--embed 0",        "--hidden 0",     "--layers 0",
        "--dropout 1",        "--dropout -1",     "--batch 0",      "--rate 0",
        "--rate fast",        "--clip -1",        "--rate nan",     "--rate inf",
        "--clip nan",         "--clip inf",       "--dropout nan",  "--label-smoothing nan",
        "--max-length 65537", "--layers -2",      "--max-length 0", "--epochs -1",
        "--seed -1",          "--optimizer none", "--nothing",      "--validation 0.5 --min-delta -1",
        "--min-delta 1",      "--bridge none"}) {
    CAPTURE(arguments);
    const Run run = run_tool("train --data none --model none " + arguments);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, StartsWith("bahdanau: ") && ContainsSubstring("see bahdanau train --help"));
  }
  CHECK(run_tool("train --data none --model none --rate nan").err ==
        "bahdanau: --rate: expected a number above 0, got \"nan\"; see bahdanau train --help\n");
  CHECK(run_tool("train --data none --model none --epochs -1").err ==
        "bahdanau: --epochs: expected a whole number from 0 to 1073741824, got \"-1\"; see bahdanau train "
        "--help\n");
  CHECK(run_tool("train --data none --modle none").err ==
        "bahdanau: expected known options, got \"--modle\"; see bahdanau train --help\n");
  CHECK(run_tool("frobnicate").err ==
        "bahdanau: expected a command, got \"frobnicate\"; see bahdanau --help\n");
  const Run help = run_tool("train --help");
  CHECK(help.code == 0);
  for (const char* text : {"--validation", "--min-delta", "Ctrl-C", "--resume", "--plot", "=250", "=64",
                           "0.005", "[nothing is cut]"})
    CHECK_THAT(help.out, ContainsSubstring(text));
}

TEST_CASE("pairs that stay in their file train to the same model", "[cli][train][stream]") {
  const TemporaryDirectory files;
  put(files / "dev", "I run.\tJe cours.\nHe sees it.\tIl le voit.\n");
  const std::string settings =
      "--quiet --epochs 3 --replicas 2 --max-pairs 11 --validation " + shell_word(files / "dev");
  REQUIRE(train_in(files, settings).code == 0);
  const std::string in_memory = contents(files / "m");
  const Run run = train_in(files, settings + " --stream");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK((contents(files / "m") == in_memory));
  CHECK(run_tool("train --quiet --epochs 1 --stream --extend-vocabulary --data " + shell_word(files / "dev") +
                 " --model " + shell_word(files / "n") + " --from " + shell_word(files / "m"))
            .code == 0);
}

TEST_CASE("what pairs that stay in their file cannot do is refused", "[cli][train][stream][error]") {
  const TemporaryDirectory files;
  const Run share = train_in(files, "--stream --validation 0.2");
  CHECK(share.code == 1);
  CHECK_THAT(share.err,
             ContainsSubstring("--stream: expected a file for --validation, got a share of the data"));
  CHECK(train_in(files, "--stream --tokens subwords --subword-sampling 4").code == 2);
}
