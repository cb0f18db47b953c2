// Additive scores of one decoder step and their adjoint, as a shard of a training batch has them.
#include <bahdanau/score/additive.hpp>

#include "micro.hpp"

namespace benchmark {

void measure_additive() {
  constexpr std::size_t queries = 32, steps = 30, width = 512, pairs = queries * steps;
  const auto q = random_numbers(queries * width, 1), k = random_numbers(pairs * width, 2),
             w = random_numbers(width, 3), ds = random_numbers(pairs, 4);
  std::vector<bd::Index> begin, length(queries, steps);
  for (std::size_t r = 0; r < queries; ++r) begin.push_back(static_cast<bd::Index>(r * steps));

  bd::Tape<Cpu> tape;
  const bd::Spans<Cpu> spans(tape, begin, length);
  const auto query = tape.leaf({queries, width}, q), keys = tape.leaf({pairs, width}, k),
             weights = tape.leaf({1, width}, w);
  const auto score = bd::additive_scores(query, keys, weights, spans.view());
  Cpu::upload(ds.data(), pairs, tape.seed(score));
  tape.play();

  std::vector<double> s(pairs), dq(queries * width), dk(pairs * width), dw(width);
  for (std::size_t p = 0; p < pairs; ++p)
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t at_q = p / steps * width + c, at_k = p * width + c;
      const double t = std::tanh(static_cast<double>(q[at_q]) + static_cast<double>(k[at_k]));
      const double inner = static_cast<double>(ds[p]) * static_cast<double>(w[c]) * (1 - t * t);
      s[p] += static_cast<double>(w[c]) * t;
      dq[at_q] += inner;
      dk[at_k] += inner;
      dw[c] += static_cast<double>(ds[p]) * t;
    }
  require_close("additive scores", score.value, s);
  require_close("additive scores, dq", tape.gradient_of(query), dq);
  require_close("additive scores, dk", tape.gradient_of(keys), dk);
  require_close("additive scores, dw", tape.gradient_of(weights), dw);

  const double count = static_cast<double>(pairs * width);
  const std::string shape =
      std::to_string(queries) + "x" + std::to_string(steps) + "x" + std::to_string(width);
  print_row("additive scores, adjoint", shape, nanoseconds([&] { tape.play(); }) / count, "ns/element");
  bd::Tape<Cpu> quiet(bd::Tape<Cpu>::Mode::infer);
  const auto forward = nanoseconds([&] {
    quiet.reset();
    const bd::Spans<Cpu> again(quiet, begin, length);
    const auto on = [&](const bd::Variable<Cpu>& v) { return quiet.borrow(v.value, v.shape); };
    bd::additive_scores(on(query), on(keys), on(weights), again.view());
  });
  print_row("additive scores", shape, forward / count, "ns/element");
}

}  // namespace benchmark
