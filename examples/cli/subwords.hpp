// Subword models for the tool: by SentencePiece where it was found when the tool was built.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <bahdanau/text/subwords.hpp>

namespace cli {

/// Learns a model of so many pieces that covers that share of the text's characters, or reads one from a file
/// of SentencePiece's. Both throw in a tool that was built without it.
std::shared_ptr<const bahdanau::Subwords> learn_subwords(const std::vector<std::string>& sentences,
                                                         std::size_t pieces, double coverage, bool lowercase);
std::shared_ptr<const bahdanau::Subwords> read_subwords(const std::filesystem::path& path);

}  // namespace cli
