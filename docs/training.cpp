// The program of the page on training.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

std::atomic<bool> interrupted{false};
void interrupt(int) { interrupted = true; }

using Model = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<float>>;

int main() {
  const auto all = bd::Corpus::read("eng-fra.tsv", {.max_pairs = 300,    // 0: all of them
                                                    .min_frequency = 2,  // rarer tokens become <unk>
                                                    .max_length = 10,    // longer rows are cut; 0: none
                                                    .tokens = bd::Tokens::words,
                                                    .bad_lines = bd::BadLines::skip});
  const auto [corpus, validation] = all.split(/*count=*/30, /*seed=*/1);
  std::cout << corpus.size() << " pairs to train on, " << validation.size() << " to validate, "
            << all.skipped_lines() << " lines left out\n";

  Model model({.embed = 32, .hidden = 32, .layers = 1, .dropout = 0.1f}, corpus.vocabularies(), /*seed=*/1);

  std::signal(SIGINT, interrupt);

  bd::plot::Curve training_loss{"training", {}}, validation_loss{"validation", {}};
  bd::TrainerOptions options{
      .epochs = 8,
      .batch = 32,
      .clip = 1,                            // bound of the gradient's norm
      .seed = 1,                            // of the order of the pairs and of dropout
      .grouping = bd::Grouping::by_length,  // rows of similar lengths together
      .schedule = {.warm_up = 10, .patience = 2, .decay = 0.5},
      .label_smoothing = 0.1,
      .patience = 5,       // epochs without a better validation loss before it stops
      .min_delta = 0.001,  // nats per token by more than which a better one must be lower
      .progress = bd::Progress::silent,
      .checkpoint = "training.checkpoint",  // written at most once a second; resumed to the same bits
      .resume = true,
      .on_epoch =
          [&](const bd::EpochReport& epoch) {
            training_loss.values.push_back(epoch.training.nats_per_token());
            validation_loss.values.push_back(epoch.validation->nats_per_token());
          },
      .interrupt = &interrupted,  // looked at after every batch
  };
  bd::Trainer trainer(model, bd::AdamW{.rate = 0.005, .decay = 0.01}, options);
  const bd::TrainingReport report = trainer.fit(corpus, validation);
  std::filesystem::remove("training.checkpoint");

  const bd::EpochReport& best = report.epochs[report.best_epoch - 1];
  std::fprintf(stderr, "best epoch %d: perplexity %.1f, %.0f tokens/s\n", static_cast<int>(best.epoch),
               bd::perplexity(best.validation->nats_per_token()), best.tokens_per_second());
  bd::plot::curve("loss.svg", std::vector{training_loss, validation_loss}, {.y_label = "nats per token"});
  std::cout << report.epochs.size() << " epochs\n";

  bd::Training steps(model, bd::Sgd{.rate = 0.1, .momentum = 0.9}, {.clip = 1});
  const bd::EpochPlan plan(corpus, /*batch=*/32, bd::Grouping::random, bd::random::Key{7});
  for (std::size_t b = 0; b < plan.batches(); ++b) {
    const bd::Loss loss = steps.loss(bd::make_batch(corpus, plan.pairs(b)));
    steps.backward();
    const double norm = steps.step();  // of the gradient before clipping
    if (loss.nats_per_token() > 20 || norm > 1e4) return 1;
  }
  if (!(best.validation->nats_per_token() < training_loss.values[0])) return 1;

  model.save("first.safetensors");
  const auto file = bd::SafetensorsFile::open("first.safetensors");
  const auto before = bd::ModelDescription::read(file);
  const auto more = bd::Corpus::read("eng-fra.tsv", before.vocabularies, {.extend = true});
  Model next(before.config, more.vocabularies(), /*seed=*/2);
  const bd::KnownTokens known = bd::start_from(next, "first.safetensors");
  bd::Trainer(next, bd::Adam{.rate = 0.001},
              {.epochs = 1, .progress = bd::Progress::silent, .fixed = {"encoder.*"}})
      .fit(more);
  return known.source == before.vocabularies.source.size() ? 0 : 1;
}
