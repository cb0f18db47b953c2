// Greedy and beam search in libtorch: the twin of the Python peer's decode.py.
#include <limits>
#include <sstream>

#include "tasks.hpp"

namespace peer {

Tensor greedy(Model& model, const Rows& source) {
  auto [state, encoded] = model.encode(source);
  Tensor tokens = torch::full({source.tokens.size(0)}, bos);
  Tensor ended = torch::zeros_like(tokens, torch::kBool);
  std::vector<Tensor> found;
  for (std::int64_t t = 0; t < model.max_length(); ++t) {
    tokens = model.one_step(tokens, state, encoded).argmax(-1);
    found.push_back(tokens);
    ended.logical_or_(tokens == eos);
    if (ended.all().item<bool>()) break;
  }
  return torch::stack(found, 1);
}

namespace {

void reorder(State& state, const Tensor& rows) {
  for (Tensor& part : state) part = part.index_select(-2, rows);
}

/// All sentences and hypotheses in one batch of batch * width rows; scores [batch], tokens [batch,
/// max_length].
std::pair<Tensor, Tensor> beam(Model& model, const Rows& source, std::int64_t width) {
  auto [state, encoded] = model.encode(source);
  const std::int64_t batch = source.tokens.size(0);
  constexpr double never = -std::numeric_limits<double>::infinity();
  reorder(state, torch::arange(batch).repeat_interleave(width));
  Tensor scores = torch::full({batch, width}, never);
  scores.select(1, 0).zero_();  // at the first step all hypotheses are one
  const Tensor first = torch::arange(batch).unsqueeze(1) * width;
  Tensor tokens = torch::full({batch * width}, bos);
  Tensor ended = torch::zeros({batch, width}, torch::kBool);
  Tensor found = torch::empty({batch, width, 0}, torch::kLong);
  for (std::int64_t t = 0; t < model.max_length(); ++t) {
    Tensor log_probs = torch::log_softmax(model.one_step(tokens, state, encoded), -1);
    const std::int64_t vocabulary = log_probs.size(-1);
    if (ended.any().item<bool>()) {  // an ended hypothesis goes on as itself, at no cost
      const Tensor rows = ended.view(-1);
      log_probs.masked_fill_(rows.unsqueeze(1), never);
      log_probs.select(1, eos).masked_fill_(rows, 0);
    }
    const Tensor candidates = (scores.view({-1, 1}) + log_probs).view({batch, width * vocabulary});
    const auto [best_scores, best] = candidates.topk(width, -1);
    scores = best_scores;
    const Tensor parents = best.floor_divide(vocabulary), chosen = best.remainder(vocabulary);
    found = torch::cat({found.gather(1, parents.unsqueeze(2).expand_as(found)), chosen.unsqueeze(2)}, 2);
    ended = ended.gather(1, parents).logical_or(chosen == eos);
    reorder(state, (first + parents).view(-1));
    tokens = chosen.view(-1);
    if (ended.all().item<bool>()) break;
  }
  return {scores.select(1, 0), found.select(1, 0)};
}

class DecodeTask : public benchmark::Task {
 public:
  DecodeTask(const std::string& what, const std::string& model, const std::string& batches)
      : model_(model), width_(what == "beam_5" ? 5 : 0) {
    model_.eval();
    const Rows source = read_batches(batches)[0].source;
    const std::int64_t at_once = what == "greedy_1" ? 1 : source.tokens.size(0);
    const auto tokens = source.tokens.split(at_once), lengths = source.lengths.split(at_once);
    for (std::size_t i = 0; i < tokens.size(); ++i) pieces_.emplace_back(tokens[i], lengths[i]);
  }

  void set(const std::string&, const std::string& value) override { set_threads(value); }

  void run(std::size_t iterations) override {
    for (std::size_t i = 0; i < iterations; ++i) decode(pieces_[i % pieces_.size()]);
  }

  /// Score (0 where the search does not need it) and tokens of every translation.
  std::string check() override {
    std::ostringstream out;
    out.precision(9);
    for (const Rows& piece : pieces_) {
      const auto [scores, tokens] = decode(piece);
      for (std::int64_t r = 0; r < tokens.size(0); ++r) {
        out << (scores.defined() ? scores[r].item<double>() : 0);
        for (std::int64_t t = 0; t < tokens.size(1); ++t) out << ' ' << tokens[r][t].item<std::int64_t>();
        out << " ; ";
      }
    }
    return out.str();
  }

 private:
  std::pair<Tensor, Tensor> decode(const Rows& source) {
    const c10::InferenceMode inference;
    if (width_ != 0) return beam(model_, source, width_);
    return {Tensor(), greedy(model_, source)};
  }

  Model model_;
  std::int64_t width_;
  std::vector<Rows> pieces_;
};

}  // namespace

std::unique_ptr<benchmark::Task> make_decoding(const std::string& what, const std::string& model,
                                               const std::string& batches) {
  return std::make_unique<DecodeTask>(what, model, batches);
}

}  // namespace peer
