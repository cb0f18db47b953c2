// Attention as PyTorch recorded it: through the public class, and on a tape with all gradients.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

using namespace bahdanau;
using namespace bahdanau::test;

namespace {

/// Key rows that count and the span of every query, for a batch of padded sentences.
struct Ragged {
  std::vector<Index> rows, begin, length;

  Ragged(std::span<const Index> valid, std::size_t queries, std::size_t steps) {
    for (std::size_t b = 0; b < valid.size(); ++b) {
      begin.insert(begin.end(), queries, static_cast<Index>(rows.size()));
      length.insert(length.end(), queries, valid[b]);
      for (Index t = 0; t < valid[b]; ++t) rows.push_back(static_cast<Index>(b * steps) + t);
    }
  }
};

/// Compares contexts, weights and all gradients with what PyTorch recorded in layers.expected.safetensors.
template <class S, Backend B>
void check_recorded_attention(const std::string& score, ScoreWidths widths, double tolerance) {
  using T = typename B::Scalar;
  const SafetensorsFile file = SafetensorsFile::open(golden_path("layers.expected.safetensors"));
  const auto recorded = [&](const std::string& name) { return golden_array<T, 3>(file, score + "." + name); };
  const auto queries = recorded("queries"), keys = recorded("keys"), values = recorded("values");
  const std::vector<Index> valid = file.read<Index>(score + ".valid_lengths");
  // W_q.weight here is W_q there
  const auto bare = [](const std::string& name) { return name.substr(0, name.find('.')); };

  // The public class: arrays in, arrays out.
  Attention<S, B> attention(widths);
  for (const ParameterList::Entry& entry : attention.parameters().entries())
    attention.weights().write(entry.parameter, file.template read<T>(score + "." + bare(entry.name)));
  const AttentionResult<T> result = attention(queries, keys, values, valid);
  CHECK(largest_difference(result.contexts, recorded("out.contexts")) <= tolerance);
  CHECK(largest_difference(result.weights, recorded("out.weights")) <= tolerance);

  // The same on a tape, with gradients.
  const std::size_t batch = queries.shape(0), asked = queries.shape(1), steps = keys.shape(1);
  ParameterBlock<B> gradients(attention.parameters());
  ParameterList again;
  const typename S::Weights w = S::declare(Scope(again), widths);
  Tape<B> tape(Tape<B>::Mode::checked);
  bind(tape, attention.weights(), &gradients);
  const Variable<B> q = tape.leaf(queries), k = tape.leaf(keys), v = tape.leaf(values);
  const Ragged ragged(valid, asked, steps);
  const Spans<B> spans(tape, ragged.begin, ragged.length);
  const auto rows = [&](const Variable<B>& x) {
    return gather_rows(x.reshape({batch * steps, x.cols()}), ragged.rows);
  };
  const Variable<B> prepared = S::prepare(w, rows(k));
  const Variable<B> flat = q.reshape({batch * asked, q.cols()});
  const Variable<B> alpha = softmax(S::scores(w, flat, prepared, spans.view()), spans.view());
  const Variable<B> context = span_sum(alpha, rows(v), spans.view());
  tape.backward(sum(context * tape.constant(recorded("g.contexts")).reshape(context.shape)));
  CHECK(largest_difference(gradient<3>(q), recorded("gradient.queries")) <= tolerance);
  CHECK(largest_difference(gradient<3>(k), recorded("gradient.keys")) <= tolerance);
  CHECK(largest_difference(gradient<3>(v), recorded("gradient.values")) <= tolerance);
  for (const ParameterList::Entry& entry : attention.parameters().entries()) {
    CAPTURE(entry.name);
    const std::vector<T> expected = file.template read<T>(score + ".gradient." + bare(entry.name));
    const std::vector<T> got = gradients.read(entry.parameter);
    REQUIRE(got.size() == expected.size());
    CHECK(largest_difference(got.data(), expected.data(), got.size()) <= tolerance);
  }
}

}  // namespace

TEST_CASE("attention with the additive score is PyTorch's", "[additive][golden]") {
  const ScoreWidths widths{.query = 5, .key = 6, .hidden = 8};
  check_recorded_attention<Additive, TestBackend<double>>("additive", widths, 1e-12);
  check_recorded_attention<Additive, TestBackend<float>>("additive", widths, 1e-5);
}

TEST_CASE("attention with the scaled dot product is PyTorch's", "[scaled_dot][golden]") {
  const ScoreWidths widths{.query = 5, .key = 5};
  check_recorded_attention<ScaledDot, TestBackend<double>>("scaled_dot", widths, 1e-12);
  check_recorded_attention<ScaledDot, TestBackend<float>>("scaled_dot", widths, 1e-5);
}
