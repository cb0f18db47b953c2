// The program of the page on operations.
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// The cosine of the angle between query and key. It models bd::Score (score/score.hpp).
struct Cosine {
  static constexpr std::string_view name = "cosine";
  static constexpr bool needs_equal_widths = true;
  struct Weights {};
  static Weights declare(bd::Scope, bd::ScoreWidths) { return {}; }

  // Every row divided by its length: a matrix [rows, width] by a column [rows, 1].
  template <bd::Backend B>
  static bd::Variable<B> normed(const bd::Variable<B>& x) {
    const auto squares = sum_columns(x * x).reshape({x.rows(), 1});
    return x / sqrt(affine(squares, 1, 1e-6));  // away from 0, where a root's slope is infinite
  }
  template <bd::Backend B>
  static bd::Variable<B> prepare(const Weights&, const bd::Variable<B>& keys) {
    return normed(keys);
  }
  template <bd::Backend B>
  static bd::Variable<B> scores(const Weights&, const bd::Variable<B>& query, const bd::Variable<B>& prepared,
                                const bd::SpanView<B>& spans) {
    return span_dot(normed(query), prepared, spans);
  }
};
static_assert(bd::Score<Cosine>);

/// Which key of its sentence each pair has: 0, 1, …
template <bd::Backend B>
struct PositionOfPair {
  bd::SpanView<B> spans;
  BAHDANAU_HOST_DEVICE double operator()(std::size_t pair, std::size_t) const {
    return spans.key_of_pair[pair] - spans.key_begin[spans.query_of_pair[pair]];
  }
};
template <bd::Backend B>
bd::Variable<B> positions(bd::Tape<B>& tape, const bd::SpanView<B>& spans) {
  const bd::Variable<B> position = tape.constant({spans.pairs});
  B::tabulate(spans.pairs, 1, PositionOfPair<B>{spans}, position.value);
  return position;
}

/// ln(1 + e^x), and what x's gradient receives. Generic over the value: a scalar, or a vector of lanes.
struct Softplus {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return bd::pointwise::log(V(1) + bd::pointwise::exp(x));
  }
};
struct SoftplusDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V /*y*/, V dy) const {
    return dy * bd::pointwise::sigmoid(x);
  }
};
template <bd::Backend B>
bd::Variable<B> softplus(const bd::Variable<B>& x) {
  return unary(x, Softplus{}, SoftplusDerivative{});
}

/// y = x², and what x's gradient receives.
struct Square {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return x * x;
  }
};
struct SquareDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V dy) const {
    return V(2) * x * dy;
  }
};
template <class T>
struct SquareRow {  // one row, on as many lanes as the backend has
  T* y;
  const T* x;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, Square{}, bd::Store<T>{y + r * cols}, x + r * cols);
  }
};
template <class T>
struct SquareAdjointRow {
  T* dx;
  const T *x, *dy;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, SquareDerivative{}, bd::Add<T>{dx + r * cols}, x + r * cols, dy + r * cols);
  }
};
template <bd::Backend B>
bd::Variable<B> square(const bd::Variable<B>& x) {
  using T = typename B::Scalar;
  const bd::Variable<B> y = x.tape->variable(x.shape);
  B::for_rows(x.rows(), SquareRow<T>{y.value, x.value, x.cols()});
  // its name, arguments, results, and the values that the adjoint reads
  x.tape->record({"square", {x}, {y}, {x}}, [=](bd::Gradients<B>& d) {
    // y = x²  =>  dx += 2 x dy
    B::for_rows(x.rows(), SquareAdjointRow<T>{d.to(x), x.value, d.of(y), x.cols()});
  });
  return y;
}

using B = bd::Xtensor<double>;

void print(std::string_view what, const bd::Array<double, 2>& rows) {
  std::cout << what << ':';
  for (std::size_t r = 0; r < rows.shape(0); ++r) {
    for (std::size_t c = 0; c < rows.shape(1); ++c) std::cout << ' ' << rows(r, c);
    std::cout << (r + 1 < rows.shape(0) ? " |" : "\n");
  }
}

int main() {
  bd::Tape<B> tape;
  const bd::Variable<B> a = tape.leaf({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  const bd::Variable<B> row = tape.leaf({3}, std::vector<double>{10, 20, 30});
  const bd::Variable<B> column = tape.leaf({2, 1}, std::vector<double>{3, 5});
  print("a + row", bd::value<2>(a + row));
  print("a * column", bd::value<2>(a * column));
  print("maximum(a, column)", bd::value<2>(maximum(a, column)));
  tape.backward(sum(maximum(a, column)));
  print("gradient of a", bd::gradient<2>(a));
  print("gradient of the column", bd::gradient<2>(column));

  const std::vector<bd::Index> begin{0, 2}, length{2, 3};  // two queries, of two sentences
  const bd::Spans<B> spans(tape, begin, length);
  print("positions", bd::value<2>(positions(tape, spans.view()).reshape({1, 5})));

  const bd::GradientCheck check = bd::check_gradient<B>(
      [](bd::Tape<B>&, std::span<const bd::Variable<B>> x) {
        return matmul(Cosine::normed(x[0]), softplus(x[1]));
      },
      {bd::Shape{3, 4}, bd::Shape{4, 2}});
  std::cout << (check.relative() < 1e-6 ? "the gradient is right\n" : "the gradient is wrong\n");

  const bd::GradientCheck of_square = bd::check_gradient<B>(
      [](bd::Tape<B>&, std::span<const bd::Variable<B>> x) { return square(x[0]); }, {bd::Shape{3, 4}});

  const bd::EncoderDecoder<bd::Gru, Cosine, bd::Xtensor<float>> model(
      {.embed = 8, .hidden = 8}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
  std::cout << "a model of " << model.parameters().size() << " numbers\n";
  return check.relative() < 1e-6 && of_square.relative() < 1e-6 ? 0 : 1;
}
