// bahdanau average: the mean of models, as those of a training's last epochs, as one model file.
#include <filesystem>
#include <iostream>
#include <vector>

#include <bahdanau/io/average.hpp>

#include "any_model.hpp"
#include "commands.hpp"

namespace cli {

void average(const AverageOptions& options) {
  const std::vector<std::filesystem::path> files = files_in(options.models);
  bd::average_weights(files, options.out);
  std::cerr << "wrote " << options.out.string() << ", the mean of " << files.size()
            << (files.size() == 1 ? " model" : " models") << '\n';
}

}  // namespace cli
