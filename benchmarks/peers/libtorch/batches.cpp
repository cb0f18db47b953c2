#include "batches.hpp"

#include <utility>

namespace peer {

Rows::Rows(const Tensor& padded, const Tensor& valid) : lengths(valid.to(torch::kLong)) {
  const auto width = lengths.max().item<std::int64_t>();
  tokens = padded.narrow(1, 0, width).to(torch::kLong).contiguous();
  full = (lengths == width).all().item<bool>();
  if (!full) mask = torch::arange(width).unsqueeze(0) >= lengths.unsqueeze(1);
}

Batch::Batch(Rows from, Rows to) : source(std::move(from)), target(std::move(to)) {
  const Tensor& words = target.tokens;
  inputs = torch::cat({torch::full({words.size(0), 1}, bos), words.narrow(1, 0, words.size(1) - 1)}, 1);
  labels = target.full ? words : words.masked_fill(target.mask, -100);
}

std::vector<Batch> read_batches(const std::string& path) {
  const auto file = bahdanau::SafetensorsFile::open(path);
  const auto rows = [&](const std::string& name) {
    return Rows(read_tensor<std::int32_t>(file, name + ".tokens"),
                read_tensor<std::int32_t>(file, name + ".lengths"));
  };
  std::vector<Batch> batches;
  for (std::string b = "0"; file.contains(b + ".source.tokens"); b = std::to_string(batches.size()))
    batches.emplace_back(rows(b + ".source"), rows(b + ".target"));
  return batches;
}

}  // namespace peer
