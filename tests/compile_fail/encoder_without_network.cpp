// error: bahdanau: this encoder has no Network<Cell> made from (Scope, vocabulary, Config) with
// run(tape, input, encoding); write it as points 3 and 4 of bahdanau::Encoder say (model/encoder.hpp)
#include <string_view>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Names {
  static constexpr std::string_view name = "names";
  static constexpr std::size_t directions = 1;
};

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, Names>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
