// Softmax and cross-entropy in one pass, with the gradient in place of the logits.
#include <bahdanau/autograd/ops/softmax.hpp>

#include "micro.hpp"

namespace benchmark {

void measure_cross_entropy() {
  constexpr std::size_t rows = 64, classes = 10000;
  const auto x = random_numbers(rows * classes, 1);
  std::vector<bd::Index> labels;
  for (std::size_t r = 0; r < rows; ++r) labels.push_back(static_cast<bd::Index>(r * 97 % classes));
  bd::Tape<Cpu> tape;
  const auto logits = tape.variable({rows, classes}, bd::Result::given);
  const bd::Index* target = tape.keep(labels);
  Cpu::upload(x.data(), x.size(), logits.value);
  const auto nats = bd::cross_entropy(logits, target, 0.1f);

  std::vector<double> expected_nats, gradient;
  for (std::size_t r = 0; r < rows; ++r) {
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += std::exp(static_cast<double>(x[r * classes + c]));
    const auto label = static_cast<std::size_t>(labels[r]);
    expected_nats.push_back(std::log(total) - static_cast<double>(x[r * classes + label]));
    for (std::size_t c = 0; c < classes; ++c)
      gradient.push_back(0.1 *
                         (std::exp(static_cast<double>(x[r * classes + c])) / total - (c == label ? 1 : 0)));
  }
  require_close("cross-entropy", nats.value, expected_nats);
  require_close("cross-entropy, gradient", logits.value, gradient);

  // Again and again on what it leaves behind: numbers as good as any.
  const double ns = nanoseconds([&] { bd::cross_entropy(logits, target, 0.1f); });
  print_row("softmax + cross-entropy + gradient", std::to_string(rows) + "x" + std::to_string(classes),
            ns / static_cast<double>(rows * classes), "ns/element");
}

}  // namespace benchmark
