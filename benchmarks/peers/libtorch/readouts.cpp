#include "readouts.hpp"

#include <regex>

namespace peer {
namespace {

/// The dense layer reads the state.
struct Linear : Readout {
  using Readout::Readout;
  std::vector<Tensor> seen(const Tensor& after, const Tensor&, const Tensor&) override { return {after}; }
  Tensor forward(const Tensor&, const std::vector<Tensor>& seen) override { return seen[0]; }
};

/// t_j = max(u_2j, u_2j+1) with u = U s + V y + C c + b, s before the step
struct Deep : Readout {
  Deep(const Config& c, std::int64_t out)
      : Readout(out),
        state(add_linear(*this, "state", c.hidden, 2 * out, true)),
        token(add_linear(*this, "token", c.embed, 2 * out, false)),
        context(add_linear(*this, "context", c.key_width(), 2 * out, false)) {}
  std::vector<Tensor> seen(const Tensor&, const Tensor& c, const Tensor& before) override {
    return {before, c};
  }
  Tensor forward(const Tensor& embedded, const std::vector<Tensor>& seen) override {
    const Tensor pieces = state(seen[0]) + token(embedded) + context(seen[1]);
    return std::get<0>(pieces.unflatten(-1, {width, 2}).max(-1));
  }
  torch::nn::Linear state, token, context;
};

}  // namespace

std::shared_ptr<Readout> make_readout(const Config& config) {
  if (config.readout == "linear") return std::make_shared<Linear>(config.hidden);
  std::smatch found;
  if (std::regex_match(config.readout, found, std::regex(R"(deep\((\d+)\))")))
    return std::make_shared<Deep>(config, std::stol(found[1]));
  unknown("readout", config.readout);
}

}  // namespace peer
