// Training in libtorch: the twin of the Python peer's train.py. The C++ API's own Adam goes through the
// parameters one by one; `fused` is the operation behind Python's Adam(fused=True), which the C++ API has but
// does not wrap.
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "tasks.hpp"

namespace peer {
namespace {

constexpr double rate = 0.005, clip_norm = 1, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

class TrainTask : public benchmark::Task {
 public:
  TrainTask(const std::string& model, const std::string& batches)
      : model_(model), parameters_(model_.parameters()), batches_(read_batches(batches)) {
    start_adam();
    model_.train();
  }

  void set(const std::string& key, const std::string& value) override {
    if (key == "threads") return set_threads(value);
    if (key != "adam") throw std::runtime_error("no setting " + key);
    fused_ = value == "fused";
    start_adam();
  }

  void run(std::size_t iterations) override {
    for (std::size_t i = 0; i < iterations; ++i) step(batches_[i % batches_.size()]);
  }

  /// Nats of the first batch before and after one step, without dropout; the weights are put back.
  std::string check() override {
    std::vector<Tensor> kept;
    for (const Tensor& p : parameters_) kept.push_back(p.detach().clone());
    model_.eval();
    std::ostringstream out;
    out << std::setprecision(9) << step(batches_[0]).item<double>();
    const torch::NoGradGuard no_gradient;
    out << ' ' << nats(batches_[0]).item<double>();
    for (std::size_t i = 0; i < kept.size(); ++i) parameters_[i].copy_(kept[i]);
    start_adam();
    model_.train();
    return out.str();
  }

 private:
  Tensor nats(const Batch& batch) {
    namespace F = torch::nn::functional;
    return F::cross_entropy(model_.forward(batch), batch.labels.t().reshape(-1),
                            F::CrossEntropyFuncOptions().reduction(torch::kSum));
  }

  Tensor step(const Batch& batch) {
    model_.zero_grad();
    const Tensor loss = nats(batch);
    (loss / static_cast<double>(model_.max_length())).backward();
    const torch::NoGradGuard no_gradient;
    std::vector<Tensor> gradients;
    for (const Tensor& p : parameters_) gradients.push_back(p.grad());
    const double norm = torch::stack(at::_foreach_norm(gradients, 2)).norm().item<double>();
    if (norm > clip_norm) at::_foreach_mul_(gradients, at::Scalar(clip_norm / norm));
    if (fused_) {
      for (Tensor& s : steps_) s += 1;
      at::_fused_adam_(parameters_, gradients, first_, second_, {}, steps_, rate, beta1, beta2, 0, epsilon,
                       false, false);
    } else {
      wrapped_->step();
    }
    return loss.detach();
  }

  void start_adam() {
    first_.clear();
    second_.clear();
    steps_.clear();
    wrapped_.reset();
    if (!fused_) {
      wrapped_ = std::make_unique<torch::optim::Adam>(parameters_, torch::optim::AdamOptions(rate));
      return;
    }
    for (const Tensor& p : parameters_) {
      first_.push_back(torch::zeros_like(p));
      second_.push_back(torch::zeros_like(p));
      steps_.push_back(torch::zeros({}));
    }
  }

  Model model_;
  std::vector<Tensor> parameters_, first_, second_, steps_;
  std::unique_ptr<torch::optim::Adam> wrapped_;
  bool fused_ = true;
  std::vector<Batch> batches_;
};

}  // namespace

std::unique_ptr<benchmark::Task> make_training(const std::string& model, const std::string& batches) {
  return std::make_unique<TrainTask>(model, batches);
}

}  // namespace peer
