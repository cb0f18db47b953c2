// exp, tanh, log and sqrt of vectors, written once for all widths and both scalar types; errors in ulp are
// tested. The polynomials are minimax ones (Remez), for |r| <= ln 2 / 2 and for s² <= ((√2 - 1) / (√2 + 1))².
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <bahdanau/kernel/vector.hpp>

namespace bahdanau::kernel {

namespace detail {

template <class T>
struct Constants;

template <>
struct Constants<float> {
  static constexpr float log2_e = 0x1.715476p+0F;
  // The upper part has so few bits that its product with an exponent is exact.
  static constexpr float ln2_high = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float round = 0x1.8p+23F;  // adding it leaves an integer in the lowest bits
  static constexpr float exp_lowest = -104.0F, exp_highest = 89.0F, tanh_highest = 10.0F;
  // e^r = 1 + r + r² P(r), to 3e-9
  static constexpr float exp[] = {0x1.000000p-1F, 0x1.55548ep-3F, 0x1.55545ep-5F, 0x1.123bdep-7F,
                                  0x1.6db4eap-10F};
  // ln((1 + s) / (1 - s)) = 2 s + s³ Q(s²), to 2e-9
  static constexpr float log[] = {0x1.55557ap-1F, 0x1.995e9cp-2F, 0x1.31e678p-2F};
  static constexpr int mantissa = 23, bias = 127;
  static constexpr std::uint32_t root_half = 0x3f3504f3, reciprocal_root = 0x5f3759df;
};

template <>
struct Constants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double round = 0x1.8p+52;
  static constexpr double exp_lowest = -746.0, exp_highest = 710.0, tanh_highest = 20.0;
  // to 4e-18
  static constexpr double exp[] = {0x1.000000000000cp-1,  0x1.5555555555561p-3,  0x1.555555554ff92p-5,
                                   0x1.111111110d5d5p-7,  0x1.6c16c185cabbfp-10, 0x1.a01a01bb043c5p-13,
                                   0x1.a0199631010abp-16, 0x1.71dddf8016519p-19, 0x1.28b0a6ca4c38ap-22,
                                   0x1.af85ffba526a0p-26};
  // to 3e-18
  static constexpr double log[] = {0x1.5555555555593p-1, 0x1.999999997fb31p-2, 0x1.2492494217a8bp-2,
                                   0x1.c71c51e7f3125p-3, 0x1.7466462d33713p-3, 0x1.39a0f4f5f828fp-3,
                                   0x1.2f0d8ef234f70p-3};
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, reciprocal_root = 0x5fe6eb50c7b537a9;
};

/// c[0] + c[1] x + c[2] x² + ...
template <std::size_t I = 0, class V, std::size_t Count>
[[gnu::always_inline]] inline V polynomial(const V& x, const typename V::Scalar (&c)[Count]) {
  if constexpr (I + 1 == Count)
    return V(c[I]);
  else
    return fma(polynomial<I + 1>(x, c), x, V(c[I]));
}

/// An integer n as a number, and, taken from its lowest bits, 2^n.
template <class V>
struct Exponent {
  using Raw = typename V::Raw;
  using RawUnsigned = typename V::RawUnsigned;
  using C = Constants<typename V::Scalar>;
  V shifted;  // n + C::round

  [[gnu::always_inline]] V number() const { return shifted - V(C::round); }
  /// For exponents of normal numbers.
  [[gnu::always_inline]] V power() const {
    const V one(1);
    V out;
    // The lowest bits are n, the others go out of the number.
    out.raw = (Raw)((RawUnsigned)one.raw + ((RawUnsigned)shifted.raw << C::mantissa));
    return out;
  }
};

/// x = n ln 2 + r with |r| <= ln 2 / 2; gives n, and e^r - 1.
template <class V>
[[gnu::always_inline]] inline V reduced_exp(const V& x, Exponent<V>& n) {
  using C = Constants<typename V::Scalar>;
  n.shifted = fma(x, V(C::log2_e), V(C::round));
  const V count = n.number();
  const V r = fma(count, V(-C::ln2_low), fma(count, V(-C::ln2_high), x));
  return fma(polynomial(r, C::exp), r * r, r);
}

}  // namespace detail

/// e^x; 0 and infinity where it is out of range, denormal numbers included.
template <class T, std::size_t Bytes>
[[gnu::always_inline]] inline Vector<T, Bytes> exp(const Vector<T, Bytes>& x) {
  using V = Vector<T, Bytes>;
  using C = detail::Constants<T>;
  // Comparisons are false for NaN, which stays.
  V bounded = select(x > V(C::exp_highest), V(C::exp_highest), x);
  bounded = select(bounded < V(C::exp_lowest), V(C::exp_lowest), bounded);
  detail::Exponent<V> n;
  const V y = detail::reduced_exp(bounded, n) + V(1);
  // In two steps, as 2^n may be no normal number where e^x is one, or is infinite.
  const detail::Exponent<V> half{fma(n.number(), V(T(0.5)), V(C::round))};
  const detail::Exponent<V> rest{n.number() - half.number() + V(C::round)};
  return y * half.power() * rest.power();
}

/// tanh x = (e^2|x| - 1) / (e^2|x| + 1), with the sign of x.
template <class T, std::size_t Bytes>
[[gnu::always_inline]] inline Vector<T, Bytes> tanh(const Vector<T, Bytes>& x) {
  using V = Vector<T, Bytes>;
  using Raw = typename V::Raw;
  using RawInteger = typename V::RawInteger;
  using C = detail::Constants<T>;
  const V minus_zero(T(-0.0));
  V size;
  size.raw = (Raw)((RawInteger)x.raw & ~(RawInteger)minus_zero.raw);
  size = select(size > V(C::tanh_highest), V(C::tanh_highest), size);  // from there on it is 1
  detail::Exponent<V> n;
  // e^y - 1 = 2^n (e^r - 1) + (2^n - 1), which loses nothing near 0
  const V small = detail::reduced_exp(size + size, n), power = n.power();
  const V e = fma(power, small, power - V(1));
  V out = e / (e + V(2));
  out.raw = (Raw)((RawInteger)out.raw | ((RawInteger)x.raw & (RawInteger)minus_zero.raw));
  return out;
}

/// ln x; NaN below 0.
template <class T, std::size_t Bytes>
[[gnu::always_inline]] inline Vector<T, Bytes> log(const Vector<T, Bytes>& x) {
  using V = Vector<T, Bytes>;
  using Raw = typename V::Raw;
  using RawUnsigned = typename V::RawUnsigned;
  using Unsigned = typename V::Unsigned;
  using C = detail::Constants<T>;
  constexpr T infinity = std::numeric_limits<T>::infinity(), least = std::numeric_limits<T>::min();
  constexpr T up = std::numeric_limits<T>::epsilon();  // denormal numbers are made larger by 1 / up
  const auto denormal = x < V(least);
  const V scaled = select(denormal, x / V(up), x);
  // x = 2^n m with √½ <= m < √2. Bits are taken apart as unsigned numbers: a shift that keeps the sign is
  // slow for 64 bits.
  constexpr auto one = static_cast<Unsigned>(C::bias) << C::mantissa,
                 root = static_cast<Unsigned>(C::root_half);
  const RawUnsigned above_root = (RawUnsigned)scaled.raw + (one - root);
  const RawUnsigned biased = above_root >> C::mantissa;
  V m;
  m.raw = (Raw)((above_root & ((Unsigned{1} << C::mantissa) - 1)) + root);
  const V round(C::round);
  detail::Exponent<V> n;
  n.shifted.raw = (Raw)((RawUnsigned)round.raw + biased);
  V count = n.number() - V(T(C::bias));
  count = select(denormal, count - V(T(C::mantissa)), count);
  // ln m = 2 s + s³ Q(s²), s = (m - 1) / (m + 1)
  const V s = (m - V(1)) / (m + V(1)), square = s * s;
  const V of_m = fma(s, square * detail::polynomial(square, C::log), s + s);
  V out = fma(count, V(C::ln2_high), fma(count, V(C::ln2_low), of_m));
  out = select(x == V(0), V(-infinity), out);
  out = select(x < V(0), V(std::numeric_limits<T>::quiet_NaN()), out);
  return select(x < V(infinity), out, x);  // infinity and NaN are what they were
}

/// √x; NaN below 0.
template <class T, std::size_t Bytes>
[[gnu::always_inline]] inline Vector<T, Bytes> sqrt(const Vector<T, Bytes>& x) {
  using V = Vector<T, Bytes>;
  using Raw = typename V::Raw;
  using RawUnsigned = typename V::RawUnsigned;
  using C = detail::Constants<T>;
  constexpr T infinity = std::numeric_limits<T>::infinity(), least = std::numeric_limits<T>::min();
  // A square, and large enough for denormal numbers and what is subtracted from them below.
  constexpr T up = sizeof(T) == 4 ? T(0x1.0p+48) : T(0x1.0p+108),
              root_up = sizeof(T) == 4 ? T(0x1.0p+24) : T(0x1.0p+54);
  const auto small = x < V(least * up);
  const V scaled = select(small, x * V(up), x);
  // 1 / √x: a guess from the bits, then r (1 - h)^-1/2 = r (1 + h/2 + 3/8 h² + 5/16 h³ + ...), h = 1 - x r²
  V r;
  r.raw = (Raw)(C::reciprocal_root - ((RawUnsigned)scaled.raw >> 1));
  const auto refine = [&] {
    const V h = fma(-(scaled * r), r, V(1));
    r = fma(fma(fma(V(T(0.3125)), h, V(T(0.375))), h, V(T(0.5))) * h, r, r);
  };
  refine();  // to 7e-6
  if constexpr (sizeof(T) == 8) refine();
  // √x = x / √x, and one step for what is left
  V root = scaled * r;
  root = fma(V(T(0.5)) * fma(-root, root, scaled), r, root);
  root = select(small, root * V(1 / root_up), root);
  root = select(x < V(0), V(std::numeric_limits<T>::quiet_NaN()), root);
  return select(x < V(infinity), root, x);  // infinity and NaN are what they were
}

}  // namespace bahdanau::kernel
