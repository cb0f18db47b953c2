#include "scores.hpp"

#include <cmath>

namespace peer {
namespace {

/// w_v^T tanh(W_q q + W_k k)
struct Additive : Score {
  explicit Additive(const Config& c)
      : w_q(add_linear(*this, "W_q", c.hidden, c.hidden, false)),
        w_k(add_linear(*this, "W_k", c.key_width(), c.hidden, false)),
        w_v(add_linear(*this, "w_v", c.hidden, 1, false)) {}
  Tensor project(const Tensor& keys) override { return w_k(keys); }
  Tensor scores(const Tensor& queries, const Tensor& projected) override {
    return w_v(torch::tanh(w_q(queries).unsqueeze(2) + projected.unsqueeze(1))).squeeze(-1);
  }
  torch::nn::Linear w_q, w_k, w_v;
};

/// q^T k / sqrt(hidden)
struct ScaledDot : Score {
  Tensor project(const Tensor& keys) override { return keys; }
  Tensor scores(const Tensor& queries, const Tensor& projected) override {
    return torch::bmm(queries, projected.transpose(1, 2)) / std::sqrt(static_cast<double>(queries.size(-1)));
  }
};

/// q^T W k: with W folded into the keys a dot product
struct General : Score {
  explicit General(const Config& c) : w(add_linear(*this, "W", c.key_width(), c.hidden, false)) {}
  Tensor project(const Tensor& keys) override { return w(keys); }
  Tensor scores(const Tensor& queries, const Tensor& projected) override {
    return torch::bmm(queries, projected.transpose(1, 2));
  }
  torch::nn::Linear w;
};

}  // namespace

std::shared_ptr<Score> make_score(const Config& config) {
  if (config.score == "additive") return std::make_shared<Additive>(config);
  if (config.score == "scaled_dot") return std::make_shared<ScaledDot>();
  if (config.score == "general") return std::make_shared<General>(config);
  unknown("score", config.score);
}

}  // namespace peer
