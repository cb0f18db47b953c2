// Subwords in a tool that was built without SentencePiece: a sentence that says so.
#include "../subwords.hpp"

#include <bahdanau/core/error.hpp>

namespace cli {

namespace {

[[noreturn]] void refuse() {
  bahdanau::fail("--tokens subwords", "a tool that was built with SentencePiece", "one without",
                 "install the Debian package libsentencepiece-dev and build it again");
}

}  // namespace

std::shared_ptr<const bahdanau::Subwords> learn_subwords(const std::vector<std::string>&, std::size_t, double,
                                                         bool) {
  refuse();
}

std::shared_ptr<const bahdanau::Subwords> read_subwords(const std::filesystem::path&) { refuse(); }

}  // namespace cli
