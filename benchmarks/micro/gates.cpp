// The pointwise part of the cells, forward and adjoint: the functors that all backends run, through the CPU's
// vectors.
#include <array>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>

#include "micro.hpp"

namespace benchmark {
namespace {

constexpr std::size_t rows = 32, hidden = 512, elements = rows * hidden;

/// Applies a functor with so many outputs and inputs to every element, checks it in double, times it.
template <class Functor, std::size_t Outputs, std::size_t Inputs>
void measure(const std::string& what) {
  std::array<std::vector<float>, Inputs> in;
  std::array<std::vector<float>, Outputs> out;
  for (std::size_t i = 0; i < Inputs; ++i) in[i] = random_numbers(elements, i + 1);
  for (auto& o : out) o.resize(elements);
  const auto run = [&]<std::size_t... O, std::size_t... I>(std::index_sequence<O...>,
                                                           std::index_sequence<I...>) {
    bd::detail::map_elements<Cpu>(elements, Functor{}, bd::Store<float>{out[O].data()}...,
                                  bd::detail::input(in[I].data())...);
  };
  const auto all = [&] { run(std::make_index_sequence<Outputs>{}, std::make_index_sequence<Inputs>{}); };
  all();
  std::array<std::vector<double>, Outputs> expected;
  for (std::size_t e = 0; e < elements; ++e) {
    const auto values = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Functor{}(static_cast<double>(in[I][e])...);
    }
    (std::make_index_sequence<Inputs>{});
    for (std::size_t o = 0; o < Outputs; ++o) expected[o].push_back(values.value[o]);
  }
  for (std::size_t o = 0; o < Outputs; ++o) require_close(what, out[o].data(), expected[o]);
  print_row(what, std::to_string(rows) + " rows of " + std::to_string(hidden),
            nanoseconds(all) / static_cast<double>(elements), "ns/element");
}

}  // namespace

void measure_gates() {
  measure<bd::pointwise::GruStep, 5, 7>("GRU gates");
  measure<bd::pointwise::GruStepAdjoint, 5, 6>("GRU gates, adjoint");
  measure<bd::pointwise::LstmStep, 6, 9>("LSTM gates");
  measure<bd::pointwise::LstmStepAdjoint, 5, 8>("LSTM gates, adjoint");
}

}  // namespace benchmark
