// Subwords in a tool that has SentencePiece; model files that carry such a model can be read, too.
#include "../subwords.hpp"

#include <bahdanau/text/sentencepiece.hpp>

namespace cli {

std::shared_ptr<const bahdanau::Subwords> learn_subwords(const std::vector<std::string>& sentences,
                                                         std::size_t pieces, double coverage,
                                                         bool lowercase) {
  return bahdanau::SentencePiece::train(
      sentences, {.pieces = pieces, .lowercase = lowercase, .character_coverage = coverage});
}

std::shared_ptr<const bahdanau::Subwords> read_subwords(const std::filesystem::path& path) {
  return bahdanau::SentencePiece::read(path);
}

}  // namespace cli
