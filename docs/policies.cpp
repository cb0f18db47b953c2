// The program of the page on policies. The policies are in own_policies.hpp; tests/family checks each of them
// in whole models.
#include <cstddef>
#include <iostream>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "own_policies.hpp"

namespace bd = bahdanau;
using namespace own;

using Mixed = bd::EncoderDecoder<bd::Lstm, bd::General, bd::Xtensor<float>,              // in this order
                                 bd::TanhReadout, bd::InputFeeding, bd::Bidirectional>;  // in any order
static_assert(std::is_same_v<Mixed::Encoder, bd::Bidirectional>);
static_assert(std::is_same_v<bd::models::D2l<bd::Xtensor<float>>::Decoder, bd::AttendThenStep>);

static_assert(bd::Score<Forgetful> && bd::Score<Twofold>);
static_assert(bd::Encoder<Skipping> && bd::Decoder<Fading> && bd::Readout<Gated>);

using Strangers = bd::EncoderDecoder<bd::Gru, Forgetful, bd::Xtensor<float>, Skipping, Fading, Gated>;

/// Pairs of a key and a query that means the same: each query is to find its own key among all.
struct Pairs {
  bd::Array<float, 2> queries, keys;  // [pairs, width]
};
class Finder : public bd::Attention<bd::General, bd::Xtensor<float>> {
 public:
  using Batch = Pairs;
  using Attention::Attention;
  std::size_t check(const Pairs& batch) const { return batch.queries.shape(0); }
  bd::Objective<Backend> objective(bd::Tape<Backend>& tape, const Pairs& batch, bd::RowRange rows,
                                   const bd::DropoutPlan&) const {
    const auto all = static_cast<bd::Index>(batch.keys.shape(0));
    const std::vector<bd::Index> begin(rows.count), length(rows.count, all);  // each meets all keys
    const bd::Spans<Backend> spans(tape, begin, length);
    const auto keys = tape.constant(batch.keys);
    const auto queries = tape.constant(batch.queries).row_range(rows.first, rows.count);
    const auto found = attend(tape, queries, keys, keys, spans.view());
    const auto wrong = found.context - keys.row_range(rows.first, rows.count);
    return {sum(wrong * wrong), rows.count};
  }
};

int main() {
  using Exact = bd::Xtensor<double>;
  const bd::GradientCheck check = bd::check_gradient<Exact>(
      [](bd::Tape<Exact>&, std::span<const bd::Variable<Exact>> x) {
        return tanh(linear(x[0], x[1])) * sigmoid(x[2]);  // tanh(x Wᵀ) ⊙ σ(g)
      },
      {bd::Shape{3, 4}, bd::Shape{5, 4}, bd::Shape{3, 5}});
  std::cout << (check.relative() < 1e-6 ? "the gradient is right\n" : "the gradient is wrong\n");

  const bd::Attention<bd::Additive, bd::Xtensor<float>> attention({.query = 3, .key = 2, .hidden = 8});
  const bd::Array<float, 3> queries({2, 1, 3}, 0.5f);  // [batch, queries, width of a query]
  const bd::Array<float, 3> keys({2, 4, 2}, 1.0f);     // [batch, keys, width of a key]
  const bd::Array<float, 3> values({2, 4, 6}, 1.0f);   // [batch, keys, width of a value]
  const std::vector<bd::Index> lengths{4, 2};          // of the second sentence only two keys count
  const auto attended = attention(queries, keys, values, lengths);
  std::cout << "weights of the second sentence:";
  for (std::size_t k = 0; k < 4; ++k) std::cout << ' ' << attended.weights(1, 0, k);
  std::cout << '\n';

  Finder finder({.query = 2, .key = 2}, /*seed=*/1);
  const bd::Array<float, 2> keys_to_find{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const bd::Array<float, 2> queries_for_them{{0, 1}, {-1, 0}, {0, -1}, {1, 0}};  // each a quarter turn on
  bd::Training training(finder, bd::Adam{.rate = 0.1f});
  for (int step = 0; step < 200; ++step) {
    training.loss({queries_for_them, keys_to_find});
    training.backward();
    training.step();
  }
  const double left = training.evaluate({queries_for_them, keys_to_find}).nats_per_token();
  std::cout << (left < 0.01 ? "all keys are found\n" : "keys are missed\n");

  const bd::Attention<Twofold, bd::Xtensor<float>> twofold({.query = 3, .key = 2, .hidden = 8, .value = 2});
  std::cout << "contexts of width " << twofold(queries, keys, keys, lengths).contexts.shape(2) << '\n';

  const bd::Vocabulary ten = bd::Vocabulary::numbered(10);
  const Strangers model({.embed = 5, .hidden = 6, .layers = 2}, {ten, ten, {}}, /*seed=*/1);
  const std::vector<std::vector<bd::Token>> sentence{{4, 5, 6, 7, bd::reserved::eos}};
  auto state = model.init_state(model.encode(bd::Sequences::from_rows(sentence)));
  model.step(std::vector<bd::Token>{bd::reserved::bos}, state);
  std::cout << sentence[0].size() << " tokens, " << state.attention_weights()[0].shape(1) << " keys\n";
  return check.relative() < 1e-6 && attended.contexts.shape(2) == 6 ? 0 : 1;
}
