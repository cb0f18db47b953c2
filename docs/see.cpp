// The program of the page on seeing what a model does.
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

int main() {
  const std::vector<bd::SentencePair> pairs{{"go .", "va !"},
                                            {"go now .", "va maintenant !"},
                                            {"i lost .", "j'ai perdu ."},
                                            {"i'm home .", "je suis chez moi ."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  Model model({.embed = 16, .hidden = 24, .layers = 1}, corpus.vocabularies(), /*seed=*/1);

  bd::plot::TrainingRecord record;
  bd::TrainerOptions options{.epochs = 60, .progress = bd::Progress::silent};
  options.on_batch = [&](const bd::BatchReport& report) { record.add(report); };  // loss, gradient, rate
  options.on_epoch = [&](const bd::EpochReport& report) {
    record.add(report);
    record.add_samples(report.epoch, model.translate({"go .", "i lost ."}));
    bd::plot::report("report.html", record, {.title = "Training", .epochs = 60, .refresh = 2});
  };
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options).fit(corpus);
  bd::plot::report("report.html", record, {.title = "Trained"});  // without `refresh` it stays as it is

  std::vector<bd::plot::PageSentence> sentences;
  const auto scored = bd::score_pairs(model, pairs);  // forced decoding of the references
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bd::Beam beam{.width = 3, .nbest = 2, .runners_up = 4, .history = true};
    sentences.push_back({.translations = bd::translate_nbest(model, {pairs[i].source}, beam).front(),
                         .reference = model.vocabularies().target_tokens(pairs[i].target),
                         .scored = scored[i]});
  }
  bd::plot::page("page.html", sentences, {.title = "Four sentences"});

  bd::plot::diagram("model.svg", model, {.title = "A small model"});

  const bd::Alignment attended = bd::argmax_alignment(model.translate("i lost ."));
  const bd::Alignment given = bd::threshold_alignment(scored[2], 0.4);

  const bd::Alignment forward = bd::parse_pharaoh("forward", "0-0 1-1 2-1 3-3");
  const bd::Alignment backward = bd::parse_pharaoh("backward", "0-0 1-1 2-2");
  for (const auto how : {bd::Symmetrization::intersection, bd::Symmetrization::either,
                         bd::Symmetrization::grow_diag, bd::Symmetrization::grow_diag_final_and})
    std::cout << bd::name(how) << ": " << bd::pharaoh_text(bd::symmetrize(forward, backward, how)) << '\n';

  const bd::Alignment gold = bd::parse_pharaoh("gold", "0-0 1-1 2-2 2?1 3-3");
  bd::AlignmentCounts counts = bd::count_links(forward, gold);  // += those of other sentences
  std::cout << std::fixed << std::setprecision(3) << "AER " << counts.error_rate() << ", precision "
            << counts.precision() << ", recall " << counts.recall() << '\n';

  return attended.size() == 3 && !given.empty() && std::filesystem::file_size("page.html") > 10'000 &&
                 std::filesystem::file_size("report.html") > 10'000
             ? 0
             : 1;
}
