// Operations of one's own, with their adjoints: recurrent cells as one fused kernel, on any backend. They
// have their gradients checked and train on the CPU and on Thrust. The one that computes what the built-in
// Rnn does is timed beside it, the other beside the same cell put together from small operations.
// docs/operations.md explains the rules.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <span>
#include <string_view>
#include <vector>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

/// f = σ(x_f + u_f), n = tanh(x_n + f u_n), h' = (1 - f) n + f h
struct GatedStep {
  template <class V>
  BAHDANAU_HOST_DEVICE bd::pointwise::Values<V, 3> operator()(V x_f, V x_n, V u_f, V u_n, V h) const {
    const V f = bd::pointwise::sigmoid(x_f + u_f);
    const V n = bd::pointwise::tanh(bd::pointwise::multiply_add(f, u_n, x_n));
    return {{f, n, bd::pointwise::multiply_add(f, h - n, n)}};
  }
};

/// From f, n, u_n, h and dh': the gradients of x_f, x_n, u_f, u_n and h.
struct GatedStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE bd::pointwise::Values<V, 5> operator()(V f, V n, V u_n, V h, V dh_next) const {
    const V dn = dh_next * (V(1) - f) * bd::pointwise::multiply_add(-n, n, V(1));
    const V df = bd::pointwise::multiply_add(dh_next, h - n, dn * u_n) * f * (V(1) - f);
    return {{df, dn, df, dn * f, dh_next * f}};
  }
};

// Rows of x and u are [2 · hidden]: f, n. The step leaves f and n in x's place; the adjoint leaves gradients
// in both.
template <class T>
struct GatedRow {
  std::size_t H;
  T* x;
  const T *u, *h;
  T* next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T* gates = x + r * 2 * H;
    const T *in = gates, *sums = u + r * 2 * H;
    lanes.map(H, GatedStep{}, bd::Store<T>{gates}, bd::Store<T>{gates + H}, bd::Store<T>{next + r * H}, in,
              in + H, sums, sums + H, h + r * H);
  }
};
template <class T>
struct GatedAdjointRow {
  std::size_t H;
  T *x, *u;
  const T *h, *dh_next;
  T* dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T *dx = x + r * 2 * H, *du = u + r * 2 * H;
    const T *gates = dx, *sums = du;
    lanes.map(H, GatedStepAdjoint{}, bd::Store<T>{dx}, bd::Store<T>{dx + H}, bd::Store<T>{du},
              bd::Store<T>{du + H}, bd::Add<T>{dh + r * H}, gates, gates + H, sums + H, h + r * H,
              dh_next + r * H);
  }
};

/// The cell: a gate less than a GRU has. It models bd::Cell.
template <bool Fused>
struct Gated {
  static constexpr std::string_view name = "gated";
  static constexpr bool uses_up_input = true;  // x may be taken over
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 2, inputs, hidden);
  }

  template <bd::Backend B>
  static bd::CellState<Gated, B> step(const Weights& w, const bd::Variable<B>& projected,
                                      const bd::CellState<Gated, B>& state) {
    using T = typename B::Scalar;
    bd::Tape<B>& tape = *projected.tape;
    const bd::Variable<B> h = state[0];
    const std::size_t rows = h.rows(), H = h.cols();
    const bd::Variable<B> sums = linear(h, tape[w.weight_hh], tape[w.bias_hh], bd::Result::given);
    if constexpr (!Fused) {
      const auto f = sigmoid(slice_columns(projected, 0, H) + slice_columns(sums, 0, H));
      const auto n = tanh(slice_columns(projected, H, H) + f * slice_columns(sums, H, H));
      return {n + f * (h - n)};
    } else {
      const bd::Variable<B> x = tape.take(projected), u = tape.take(sums), next = tape.following(h);
      B::for_rows(rows, GatedRow<T>{H, x.value, u.value, h.value, next.value});
      tape.record({"Gated::step", {x, u, h}, {next}, {h}}, [=](bd::Gradients<B>& d) {
        B::for_rows(rows, GatedAdjointRow<T>{H, d.in_place(x), d.in_place(u), h.value, d.of(next), d.to(h)});
      });
      return {next};
    }
  }
};

/// h' = tanh(x + u)
struct PlainStep {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V u) const {
    return bd::pointwise::tanh(x + u);
  }
};

/// From h' and dh': the gradients of x and u.
struct PlainStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE bd::pointwise::Values<V, 2> operator()(V next, V dnext) const {
    const V dx = dnext * bd::pointwise::multiply_add(-next, next, V(1));
    return {{dx, dx}};
  }
};

template <class T>
struct PlainRow {
  std::size_t H;
  const T *x, *u;
  T* next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(H, PlainStep{}, bd::Store<T>{next + r * H}, x + r * H, u + r * H);
  }
};
template <class T>
struct PlainAdjointRow {
  std::size_t H;
  T *dx, *du;
  const T *next, *dnext;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(H, PlainStepAdjoint{}, bd::Store<T>{dx + r * H}, bd::Store<T>{du + r * H}, next + r * H,
              dnext + r * H);
  }
};

/// A cell without gates: what the built-in Rnn computes. It models bd::Cell.
struct Plain {
  static constexpr std::string_view name = "plain";
  static constexpr bool uses_up_input = true;
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }

  template <bd::Backend B>
  static bd::CellState<Plain, B> step(const Weights& w, const bd::Variable<B>& projected,
                                      const bd::CellState<Plain, B>& state) {
    using T = typename B::Scalar;
    bd::Tape<B>& tape = *projected.tape;
    const bd::Variable<B> h = state[0];
    const std::size_t rows = h.rows(), H = h.cols();
    const bd::Variable<B> sums = linear(h, w.weight_hh, w.bias_hh, bd::Result::given);
    const bd::Variable<B> x = tape.take(projected), u = tape.take(sums), next = tape.following(h);
    B::for_rows(rows, PlainRow<T>{H, x.value, u.value, next.value});
    tape.record({"Plain::step", {x, u}, {next}, {next}}, [=](bd::Gradients<B>& d) {
      // h' = tanh(x + u)  =>  dx = du = dh' (1 - h'²)
      B::for_rows(rows, PlainAdjointRow<T>{H, d.in_place(x), d.in_place(u), next.value, d.of(next)});
    });
    return {next};
  }
};

template <class Cell, class Backend>
using Model = bd::EncoderDecoder<Cell, bd::Additive, Backend>;

bd::Batch batch() {
  std::vector<std::vector<bd::Token>> rows;
  for (bd::Token r = 0; r < 64; ++r) rows.emplace_back(10, 4 + r % 40);
  return {bd::Sequences::from_rows(rows), bd::Sequences::from_rows(rows)};
}

/// A model that is trained step by step: its loss, and the processor's time for its fastest step.
template <class Cell, class Backend>
struct Trained {
  bd::Vocabulary words = bd::Vocabulary::numbered(50);
  Model<Cell, Backend> model{{.embed = 128, .hidden = 128, .layers = 2}, {words, words, {}}, /*seed=*/1};
  bd::Training<Model<Cell, Backend>> training{model, bd::Adam{.rate = 0.005}, {.clip = 1, .threads = 1}};
  double loss = 0, milliseconds = 1e9;

  Trained& step(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const std::clock_t start = std::clock();  // of this process: others on the machine do not count
      loss = training.loss(batch()).nats_per_token();
      training.backward();
      training.step();
      milliseconds = std::min(milliseconds, 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return *this;
  }
};

/// Whether a step of the cell has the gradients that central differences say.
template <class Cell>
bool gradient_is_right() {
  using Exact = bd::Xtensor<double>;
  bd::ParameterList list;
  const auto weights = Cell::declare(bd::Scope(list), 3, 4);
  const bd::GradientCheck check = bd::check_gradient<Exact>(
      [&](bd::Tape<Exact>& tape, std::span<const bd::Variable<Exact>> in) {
        tape.bind(in[2]);  // tape[parameter] is a part of it
        const auto x = linear(in[0], tape[weights.weight_ih], tape[weights.bias_ih], bd::Result::given);
        return Cell::template step<Exact>(weights, x, {in[1]})[0];
      },
      {bd::Shape{5, 3}, bd::Shape{5, 4}, bd::Shape{list.size()}});
  return check.relative() < 1e-6;
}

int main() {
  bool fine = gradient_is_right<Gated<true>>() && gradient_is_right<Plain>();
  std::printf("the gradients are %s\n", fine ? "right" : "wrong");

  using Cpu = bd::Xtensor<float>;
  Trained<Gated<true>, Cpu> own;
  Trained<Gated<false>, Cpu> composed;
  Trained<bd::Gru, Cpu> gru;
  Trained<Plain, Cpu> plain;
  Trained<bd::Rnn, Cpu> built_in;
  for (int round = 0; round < 40; ++round) {  // in turns: a machine is slow for a while, and then for all
    own.step();
    composed.step();
    gru.step();
    plain.step();
    built_in.step();
  }
  std::printf("a training step takes %.1f ms with a cell of one's own, %.1f ms with the built-in Rnn\n",
              plain.milliseconds, built_in.milliseconds);
  std::printf("with a gate %.1f ms; put together from small operations %.1f ms; with a Gru %.1f ms\n",
              own.milliseconds, composed.milliseconds, gru.milliseconds);
  constexpr double as_fast = 1.1, noise = 0.05;
  fine = fine && std::abs(own.loss - composed.loss) < 0.05 && own.milliseconds < gru.milliseconds &&
         std::abs(plain.loss - built_in.loss) < 1e-3 &&
         plain.milliseconds < (as_fast + noise) * built_in.milliseconds;
  if (bd::Thrust<float>::available()) {
    const double on_thrust = Trained<Gated<true>, bd::Thrust<float>>().step(10).loss;
    const double on_cpu = Trained<Gated<true>, Cpu>().step(10).loss;
    std::printf("loss after ten steps on Thrust %.4f, on the CPU %.4f\n", on_thrust, on_cpu);
    fine = fine && std::abs(on_thrust - on_cpu) < 1e-3;
  }
  return fine ? 0 : 1;
}
