// Pointwise maths, written once for all backends: functors generic over their value type.
// The CPU calls them with vectors of lanes, a device calls them with scalars; both run the same formula.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include <bahdanau/core/device.hpp>

namespace bahdanau::pointwise {

/// Several results of one functor, stored by as many outputs.
template <class V, std::size_t Count>
struct Values {
  V value[Count];
};
template <class V, class... Rest>
Values(V, Rest...) -> Values<V, 1 + sizeof...(Rest)>;

// Inlined always, so that they become code of the level that their caller runs at. Unqualified calls find
// std:: for scalars and the vector type's own functions by argument-dependent look-up.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V exp(V x) {
  using std::exp;
  return exp(x);
}
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V log(V x) {
  using std::log;
  return log(x);
}
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V sqrt(V x) {
  using std::sqrt;
  return sqrt(x);
}
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V tanh(V x) {
  using std::tanh;
  return tanh(x);
}
/// a b + c: for vectors one rounding, where the instructions have that. Formulas that add products use it, so
/// that their bits do not depend on what a compiler fuses.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V multiply_add(V a, V b, V c) {
  if constexpr (std::is_floating_point_v<V>)
    return a * b + c;
  else
    return fma(a, b, c);
}
/// A product that stands in a sum on its own: it is rounded, and not fused with the sum.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V rounded_product(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    return a * b;
  else
    return rounded(a * b);
}
/// 1 / (1 + e^-x); e^-x may overflow to infinity, which gives the right 0.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V sigmoid(V x) {
  return V(1) / (V(1) + pointwise::exp(-x));
}
/// a where the condition holds, b elsewhere; vectors of lanes bring their own.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline V select(bool condition, V a, V b) {
  return condition ? a : b;
}

struct Identity {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return x;
  }
};
struct Plus {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return a + b;
  }
};
struct Minus {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return a - b;
  }
};
struct Times {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return a * b;
  }
};
/// a b c; with a scalar among them, a scaled product.
struct Times3 {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b, V c) const {
    return a * b * c;
  }
};
struct Divide {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return a / b;
  }
};
struct Negate {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return -x;
  }
};
struct Tanh {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::tanh(x);
  }
};
struct Sigmoid {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::sigmoid(x);
  }
};
struct Exp {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::exp(x);
  }
};
struct Log {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::log(x);
  }
};
struct Sqrt {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::sqrt(x);
  }
};
struct Reciprocal {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return V(1) / x;
  }
};
/// The larger one; NaN where one of them is.
struct Maximum {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return select(a > b, a, select(a == a, b, a));
  }
};

}  // namespace bahdanau::pointwise
