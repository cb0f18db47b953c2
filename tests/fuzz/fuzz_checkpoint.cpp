// Any bytes as a checkpoint that a training resumes: refused with a sentence, or gone on from to the end.
// What was written then can be resumed again.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/train/trainer.hpp>

#include "fuzz.hpp"
#include "mutate_safetensors.hpp"
#include "seeds.hpp"

namespace bd = bahdanau;
using bd::fuzz::accepted;
using bd::fuzz::require;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
constexpr std::size_t epochs = 3;

const bd::Corpus& corpus() {
  static const std::vector<bd::SentencePair> pairs = {{"a", "x"}, {"b a", "y x"}, {"a b", "x y"}};
  static const bd::Corpus corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 4});
  return corpus;
}

bd::TrainerOptions options(const std::filesystem::path& checkpoint, std::size_t last = epochs) {
  return {.epochs = last,
          .batch = 2,
          .threads = 1,
          .schedule = {.warm_up = 3, .patience = 1},
          .patience = 2,
          .progress = bd::Progress::silent,
          .checkpoint = checkpoint,
          .resume = true};
}

bd::TrainingReport train(Model& model, const bd::TrainerOptions& how, bool validated) {
  bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, how);
  return validated ? trainer.fit(corpus(), corpus()) : trainer.fit(corpus());
}

Model new_model() { return Model({.embed = 1, .hidden = 2, .layers = 1}, corpus().vocabularies(), 1); }

/// Resumes from the bytes; says whether that went well.
bool resume(std::string_view bytes, bool validated) {
  static const bd::fuzz::File file("checkpoint");
  file.write(bytes);
  Model model = new_model();
  std::optional<bd::TrainingReport> report;
  if (!accepted([&] { report = train(model, options(file.path()), validated); })) return false;
  require(report->best_epoch <= report->epochs.size(), "the best epoch is one of the report's");
  require(report->epochs.size() <= epochs, "there are no more epochs than were asked for");
  for (std::size_t i = 0; i < report->epochs.size(); ++i)
    require(report->epochs[i].epoch == i + 1, "the epochs of a report are numbered from 1");
  require(accepted([&] { train(model, options(file.path()), validated); }),
          "a training that has ended can be resumed");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!resume(bytes, /*validated=*/false)) resume(bytes, /*validated=*/true);
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bd::fuzz::seeds(*argc, *argv, [](const std::filesystem::path& folder) {
    for (const bool validated : {false, true})
      for (const std::size_t last : {std::size_t{1}, std::size_t{2}, epochs}) {
        Model model = new_model();
        train(model, options(folder / ((validated ? "validated-" : "epoch-") + std::to_string(last)), last),
              validated);
      }
    // Valid checkpoints with one odd value, which mutations would take long to come upon.
    const bd::fuzz::EditedSeeds edited(folder / "validated-2");
    for (const char* number : {"0", "1", "3", "5000", "18446744073709551615", "-1", "1e999", "[[[[1]]]]"}) {
      edited.write("state", "\"best_epoch\":2", "\"best_epoch\":" + std::string(number));
      edited.write("state", "{\"epoch\":2", "{\"epoch\":" + std::string(number));
      edited.write("state", "\"batch\":0", "\"batch\":" + std::string(number));
      edited.write("state", "\"batches\":4", "\"batches\":" + std::string(number));
      edited.write("state", "\"optimizer_steps\":4", "\"optimizer_steps\":" + std::string(number));
      edited.write("state", "\"schedule\":[1,", "\"schedule\":[" + std::string(number) + ",");
      edited.write("state", "\"running\":[0,", "\"running\":[" + std::string(number) + ",");
    }
  });
  return 0;
}
