// What `fit` says while it trains: lines that stay, and one line for each thing that may be wrong.
#include <clocale>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using bd::detail::Divergence;
using Catch::Matchers::ContainsSubstring;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

bd::Corpus corpus(const bd::CorpusOptions& options = {.min_frequency = 1, .max_length = 6}) {
  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 60; ++i)
    pairs.push_back({"a" + std::to_string(i % 7) + " b" + std::to_string(i / 7) + " c",
                     "b" + std::to_string(i / 7) + " a" + std::to_string(i % 7)});
  return bd::Corpus::from_pairs(pairs, options);
}

struct Fit {
  bd::TrainingReport report;
  std::string said;
};

template <class Optimizer = bd::Adam>
Fit fit(const bd::Corpus& c, bd::TrainerOptions options, Optimizer optimizer = {},
        const bd::Corpus* validation = nullptr) {
  options.batch = 16;
  Model model({.embed = 8, .hidden = 12, .layers = 1}, c.vocabularies(), 3);
  Fit out;
  out.said = captured_stderr([&] {
    bd::Trainer trainer(model, optimizer, options);
    out.report = validation ? trainer.fit(c, *validation) : trainer.fit(c);
  });
  return out;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// What a terminal shows in the end: each line with what was erased taken out.
std::vector<std::string> left_on_screen(const std::string& written) {
  std::vector<std::string> lines;
  std::istringstream stream(written);
  for (std::string line; std::getline(stream, line);) {
    const auto erased = line.rfind("\r\x1b[2K");
    lines.push_back(erased == line.npos ? line : line.substr(erased + 5));
  }
  return lines;
}

}  // namespace

TEST_CASE("a loss that rises far above what it was, or above guessing, is a divergence", "[train][warning]") {
  const auto at = [](double uniform, std::vector<double> losses) {
    Divergence divergence(uniform);
    for (std::size_t i = 0; i < losses.size(); ++i)
      if (divergence.observe(losses[i])) return i + 1;
    return std::size_t{0};
  };
  CHECK(at(5.3, {5.4, 3.1, 2.0, 1.5, 1.0, 0.4, 0.2, 0.05}) == 0);
  CHECK(at(5.3, {5.6, 5.55, 5.5}) == 0);             // it hardly learns
  CHECK(at(5.3, {4.0, 0.02, 0.3, 0.01, 0.9}) == 0);  // jumps of a model that knows it all
  CHECK(at(5.3, {4.0, 1.0, 2.1}) == 3);              // twice, and a nat above the best
  CHECK(at(5.3, {4.0, 0.02, 1.1}) == 3);
  CHECK(at(5.3, {5.4, 6.0}) == 2);  // worse than guessing, and than before
  CHECK(at(5.3, {30}) == 1);
}

TEST_CASE("a run that diverges is said once, and is in the report", "[train][warning]") {
  const bd::Corpus c = corpus();
  const Fit wild = fit(c, {.epochs = 6, .progress = bd::Progress::lines}, bd::Adam{.rate = 20});
  CHECK(wild.report.diverged_epoch > 0);
  CHECK(count(wild.said, "bahdanau: warning: the loss of epoch ") == 1);
  CHECK_THAT(wild.said, ContainsSubstring("lower the learning rate"));
  const Fit silent = fit(c, {.epochs = 6, .progress = bd::Progress::silent}, bd::Adam{.rate = 20});
  CHECK(silent.said.empty());
  CHECK(silent.report.diverged_epoch == wild.report.diverged_epoch);
  const Fit tame = fit(c, {.epochs = 60, .progress = bd::Progress::lines}, bd::Adam{.rate = 0.02});
  CHECK(tame.report.diverged_epoch == 0);
  CHECK(count(tame.said, "the loss of epoch ") == 0);

  // So it is after resuming.
  const TemporaryDirectory directory;
  bd::TrainerOptions options{.epochs = 4, .progress = bd::Progress::silent, .resume = true};
  options.checkpoint = directory / "checkpoint";
  fit(c, options, bd::Adam{.rate = 20});
  options.epochs = 6;
  CHECK(fit(c, options, bd::Adam{.rate = 20}).report.diverged_epoch == wild.report.diverged_epoch);
}

TEST_CASE("data that is mostly <unk> is said, and is in the report", "[train][warning]") {
  const bd::Corpus all = corpus({.min_frequency = 1000, .max_length = 6});
  const Fit unknown = fit(all, {.epochs = 1, .progress = bd::Progress::lines});
  CHECK_THAT(
      unknown.said,
      ContainsSubstring("bahdanau: warning: 100 % of the training data's source tokens and 100 % of its "
                        "target tokens are <unk>; lower min_frequency, or use the vocabularies of such "
                        "data\n"));
  CHECK(unknown.report.source_unknown == 1);
  CHECK(unknown.report.target_unknown == 1);
  const Fit some = fit(corpus({.min_frequency = 8, .max_length = 6}), {.epochs = 1});
  CHECK(some.report.source_unknown > 0);
  CHECK(some.report.source_unknown < 0.5);
  CHECK(some.said.find("<unk>") == some.said.npos);
  CHECK(fit(all, {.epochs = 1, .progress = bd::Progress::silent}).said.empty());
}

TEST_CASE("rows that were cut are said, and are in the report, of a part of a corpus too",
          "[train][warning]") {
  const bd::Corpus cut = corpus({.min_frequency = 1, .max_length = 3});
  const auto both = cut.split(10, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  const Fit said = fit(training, {.epochs = 1, .progress = bd::Progress::lines}, bd::Adam{}, &validation);
  CHECK_THAT(said.said,
             ContainsSubstring("bahdanau: warning: 50 of the training data's 100 rows were cut to 3 "
                               "tokens; raise max_length to keep them whole\n"));
  CHECK_THAT(said.said, ContainsSubstring("10 of the validation data's 20 rows were cut to 3 tokens"));
  CHECK(said.report.cut_rows == 50);
  CHECK(fit(corpus(), {.epochs = 1}).report.cut_rows == 0);
}

TEST_CASE("a program that was compiled without optimisation says so once", "[train][warning]") {
  CHECK_FALSE(bd::detail::build_warning<true>());
  const auto first = bd::detail::build_warning<false>();
  if (bd::detail::optimised) CHECK(first);  // else a test before this one may have said it
  if (first) CHECK_THAT(*first, ContainsSubstring("-O2") && ContainsSubstring("-DCMAKE_BUILD_TYPE=Release"));
  CHECK_FALSE(bd::detail::build_warning<false>());
#if defined(__OPTIMIZE__)
  CHECK(bd::detail::optimised);
#else
  CHECK_FALSE(bd::detail::optimised);
#endif
}

TEST_CASE("epochs stay readable on a terminal: lines above a bar", "[train][progress]") {
  const auto both = corpus().split(10, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  for (const bd::Corpus* measured : {static_cast<const bd::Corpus*>(nullptr), &validation}) {
    bd::TrainerOptions options{.epochs = 40, .progress = bd::Progress::bar};
    const Fit shown = fit(training, options, bd::Adam{.rate = 0.05}, measured);
    const std::vector<std::string> lines = left_on_screen(shown.said);
    CAPTURE(lines);
    std::vector<std::string> epochs;
    for (const std::string& line : lines)
      if (line.starts_with("epoch ")) epochs.push_back(line.substr(0, line.find(' ', 6)));
    REQUIRE(epochs.size() >= 2);
    CHECK(epochs.front() == "epoch 1/40");
    CHECK(epochs.back() == "epoch 40/40");
    CHECK_THAT(lines.back(), ContainsSubstring(" nats/token"));
    CHECK(shown.said.ends_with("\r\x1b[2K") == false);  // nothing is left below them
    if (measured) {
      // Of the epochs that did best, the last one is there, with its mark.
      const std::string best = "epoch " + std::to_string(shown.report.best_epoch) + "/40 ";
      bool found = false;
      for (const std::string& line : lines)
        found = found || (line.starts_with(best) && line.find(" *") != line.npos);
      CHECK(found);
    }
    // The same lines where there is no terminal.
    options.progress = bd::Progress::lines;
    const Fit plain = fit(training, options, bd::Adam{.rate = 0.05}, measured);
    CHECK(plain.said.find('\r') == plain.said.npos);
    CHECK_THAT(plain.said, ContainsSubstring("epoch 1/40  loss ") && ContainsSubstring("epoch 40/40  loss "));
  }
}

TEST_CASE("an epoch that ends training by the callback has its line", "[train][progress]") {
  const bd::Corpus c = corpus();
  Model model({.embed = 8, .hidden = 12, .layers = 1}, c.vocabularies(), 3);
  bd::Trainer<Model>* running = nullptr;
  bd::TrainerOptions options{.epochs = 50, .progress = bd::Progress::lines};
  options.on_epoch = [&](const bd::EpochReport& r) {
    if (r.epoch == 4) running->stop();
  };
  bd::Trainer<Model> trainer(model, {}, options);
  running = &trainer;
  CHECK_THAT(captured_stderr([&] { trainer.fit(c); }), ContainsSubstring("epoch 4/50  loss "));
}

TEST_CASE("numbers have a point and no groups, whatever the locale", "[train][locale]") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
  };
  struct Global {
    std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
    std::string c_before = std::setlocale(LC_ALL, nullptr);
    ~Global() {
      std::setlocale(LC_ALL, c_before.c_str());
      std::locale::global(before);
    }
  } global;
  bool commas = false;  // C's own functions, where such a locale is installed
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
    commas = commas || std::setlocale(LC_ALL, name) != nullptr;
  if (!commas) WARN("no locale with commas is installed: only that of C++ is tested");

  const bd::Corpus c = corpus();
  const TemporaryDirectory directory;
  bd::TrainerOptions options{.epochs = 11, .progress = bd::Progress::lines};
  options.checkpoint = directory / "checkpoint";
  const Fit said = fit(c, options);
  CHECK_THAT(said.said, ContainsSubstring("epoch 11/11  loss 0."));
  CHECK(said.said.find(',') == said.said.npos);
  CHECK(bd::SafetensorsFile::open(directory / "checkpoint")
            .metadata()
            .at("state")
            .find("\"optimizer.rate\":\"0.001\"") != std::string::npos);
  CHECK(message_of([] { bd::Config{.dropout = 1.5F}.check(); }).ends_with(", got 1.5"));
  CHECK(message_of([] { bd::Adam{.rate = -0.25}.check(); }).ends_with(", got -0.25"));
  bd::plot::curve(directory / "loss.svg", std::vector{bd::plot::Curve{"a", {1.5, 0.25, 12345.5}}}, {});
  const std::string svg = contents(directory / "loss.svg");
  CHECK(svg.find("1.2.3") == svg.npos);
}
