// A vector of lanes with arithmetic, on the vector extensions of g++ and clang++: what pointwise functors
// compute with. No intrinsics: the same code becomes SSE2, AVX2, AVX-512 or NEON instructions, as the
// function around it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <bahdanau/core/device.hpp>
#include <bahdanau/kernel/fma.hpp>

#if !defined(__GNUC__)
#error "bahdanau needs g++ or clang++: its kernels are written with their vectors"
#endif

namespace bahdanau::kernel {

/// `Bytes / sizeof(T)` lanes of type `T`.
///
/// Every function is inlined, whatever the optimisation, and the copy is user-provided: so a vector never
/// travels in registers between functions that are compiled for different instructions.
///
/// `fma(a, b, c)` rounds once where the instructions have that (with g++ from -O2 on, unless
/// -ffp-contract=off says otherwise). A formula that adds products says `fma`, so that nothing is left for a
/// compiler to contract as it likes, and bits do not depend on it.
template <class T, std::size_t Bytes>
class Vector {
 public:
  using Scalar = T;
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Unsigned = std::make_unsigned_t<Integer>;
  static constexpr std::size_t size = Bytes / sizeof(T);
  typedef T Raw __attribute__((vector_size(Bytes)));
  typedef Integer RawInteger __attribute__((vector_size(Bytes)));
  typedef Unsigned RawUnsigned __attribute__((vector_size(Bytes)));

  /// A truth for each lane: all bits set, or none.
  class Mask {
   public:
    [[gnu::always_inline]] Mask() {}
    [[gnu::always_inline]] Mask(const Mask& other) : raw(other.raw) {}
    [[gnu::always_inline]] Mask& operator=(const Mask& other) {
      raw = other.raw;
      return *this;
    }
    [[gnu::always_inline]] friend Mask operator|(const Mask& a, const Mask& b) {
      Mask out;
      out.raw = a.raw | b.raw;
      return out;
    }
    [[gnu::always_inline]] friend Mask operator&(const Mask& a, const Mask& b) {
      Mask out;
      out.raw = a.raw & b.raw;
      return out;
    }
    [[gnu::always_inline]] friend Mask operator!(const Mask& a) {
      Mask out;
      out.raw = ~a.raw;
      return out;
    }
    RawInteger raw;
  };

  [[gnu::always_inline]] Vector() {}
  [[gnu::always_inline]] explicit Vector(T x) { broadcast(raw, x); }
  [[gnu::always_inline]] Vector(const Vector& other) : raw(other.raw) {}
  [[gnu::always_inline]] Vector& operator=(const Vector& other) {
    raw = other.raw;
    return *this;
  }

  [[gnu::always_inline]] static Vector load(const T* from) {
    Vector out;
    std::memcpy(&out.raw, from, Bytes);
    return out;
  }
  [[gnu::always_inline]] void store(T* to) const { std::memcpy(to, &raw, Bytes); }

  [[gnu::always_inline]] friend Vector operator+(const Vector& a, const Vector& b) {
    Vector out;
    out.raw = a.raw + b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Vector operator-(const Vector& a, const Vector& b) {
    Vector out;
    out.raw = a.raw - b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Vector operator-(const Vector& a) {
    Vector out;
    out.raw = -a.raw;
    return out;
  }
  [[gnu::always_inline]] friend Vector operator*(const Vector& a, const Vector& b) {
    Vector out;
    out.raw = a.raw * b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Vector operator/(const Vector& a, const Vector& b) {
    Vector out;
    out.raw = a.raw / b.raw;
    return out;
  }
  [[gnu::always_inline]] Vector& operator+=(const Vector& b) { return *this = *this + b; }
  [[gnu::always_inline]] Vector& operator-=(const Vector& b) { return *this = *this - b; }
  [[gnu::always_inline]] Vector& operator*=(const Vector& b) { return *this = *this * b; }
  [[gnu::always_inline]] Vector& operator/=(const Vector& b) { return *this = *this / b; }

  [[gnu::always_inline]] friend Mask operator>(const Vector& a, const Vector& b) {
    Mask out;
    out.raw = a.raw > b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Mask operator<(const Vector& a, const Vector& b) {
    Mask out;
    out.raw = a.raw < b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Mask operator>=(const Vector& a, const Vector& b) {
    Mask out;
    out.raw = a.raw >= b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Mask operator<=(const Vector& a, const Vector& b) {
    Mask out;
    out.raw = a.raw <= b.raw;
    return out;
  }
  [[gnu::always_inline]] friend Mask operator==(const Vector& a, const Vector& b) {
    Mask out;
    out.raw = a.raw == b.raw;
    return out;
  }

  /// a b + c.
  [[gnu::always_inline]] friend Vector fma(const Vector& a, const Vector& b, const Vector& c) {
    Vector out(c);
    detail::multiply_add<T, Bytes>(out.raw, a.raw, b.raw);
    return out;
  }

  /// Zeros of which g++ does not know that they are.
  [[gnu::always_inline]] static Vector opaque_zeros() {
    Integer zero = 0;
#if !defined(__clang__) && !defined(__NO_INLINE__) && !defined(__CUDACC__)
    asm("" : "+r"(zero));
#endif
    RawInteger zeros;
    broadcast(zeros, zero);
    Vector out;
    out.raw = (Raw)zeros;
    return out;
  }
  /// x, which has been rounded: a product stays one, though something is added to it. g++ fuses whatever it
  /// sees, also across functions; clang++ only within an expression, and so needs no zeros.
  [[gnu::always_inline]] friend Vector rounded(const Vector& x, [[maybe_unused]] const Vector& zeros) {
#if defined(__clang__) || defined(__NO_INLINE__) || defined(__CUDACC__)
    return x;
#else
    Vector out;
    out.raw = (Raw)((RawInteger)x.raw ^ (RawInteger)zeros.raw);
    return out;
#endif
  }
  [[gnu::always_inline]] friend Vector rounded(const Vector& x) { return rounded(x, opaque_zeros()); }

  /// a where the mask is set, b elsewhere.
  [[gnu::always_inline]] friend Vector select(const Mask& mask, const Vector& a, const Vector& b) {
    Vector out;
    out.raw = mask.raw ? a.raw : b.raw;
    return out;
  }

  /// Whether a lane of the mask is set.
  [[gnu::always_inline]] friend bool any(const Mask& mask) { return any_bit<Bytes>(mask.raw); }

  Raw raw;

 private:
  // By way of an array, which becomes one instruction: in a function that is not compiled for such vectors,
  // g++ makes one for each lane of what is written as `Raw{} + x`.
  template <class Wide, class Lane>
  [[gnu::always_inline]] static void broadcast(Wide& wide, Lane x) {
    Lane lanes[size];
    for (std::size_t i = 0; i < size; ++i) lanes[i] = x;
    std::memcpy(&wide, lanes, Bytes);
  }

  // Halves are or-ed until a register of the processor is left.
  template <std::size_t Size, class Bits>
  [[gnu::always_inline]] static bool any_bit(const Bits& bits) {
    if constexpr (Size == 8) {
      std::uint64_t word;
      std::memcpy(&word, &bits, 8);
      return word != 0;
    } else {
      typedef std::int64_t Half __attribute__((vector_size(Size / 2)));
      Half low, high;
      std::memcpy(&low, &bits, Size / 2);
      std::memcpy(&high, reinterpret_cast<const char*>(&bits) + Size / 2, Size / 2);
      low |= high;
      return any_bit<Size / 2>(low);
    }
  }
};

}  // namespace bahdanau::kernel
