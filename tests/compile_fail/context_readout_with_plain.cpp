// error: bahdanau: this readout reads a context, and this decoder (Plain, say) has none; use FixedContext or
// a decoder that attends, or say `context_optional = true` in a readout that works without
#include <cstddef>
#include <string_view>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// logits = W c + b
struct ContextAlone {
  static constexpr std::string_view name = "context_alone";
  static constexpr bd::ReadoutInputs reads{.context = true};
  struct Weights {};
  static std::size_t width(const bd::ReadoutSizes& sizes) { return sizes.context; }
  static Weights declare(bd::Scope, const bd::ReadoutSizes&) { return {}; }
  template <bd::Backend B>
  static bd::Variable<B> features(const Weights&, const bd::Features<B>& in) {
    return in.context;
  }
};

using Model = bd::EncoderDecoder<bd::Gru, bd::NoScore, bd::Xtensor<float>, bd::Plain, ContextAlone>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
