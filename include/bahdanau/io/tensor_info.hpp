// A tensor as a file describes it: what its elements are, how many, and where they stand.
// The arithmetic on shapes that strangers wrote is here, checked against overflow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// The element types that are read and written.
enum class Dtype { f32, f64, i32 };

/// The spelling in the file.
constexpr std::string_view name(Dtype dtype) {
  return dtype == Dtype::f32 ? "F32" : dtype == Dtype::f64 ? "F64" : "I32";
}

/// Bytes of one element.
constexpr std::size_t size_of(Dtype dtype) { return dtype == Dtype::f64 ? 8 : 4; }

/// A tensor as the header describes it; `begin` and `end` are byte offsets in the data section.
struct TensorInfo {
  Dtype dtype = Dtype::f32;
  std::vector<std::size_t> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// An element type that a tensor can be read into.
template <class T>
concept TensorElement = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t>;

namespace detail {

/// More dimensions than anybody needs; a shape stays short enough to print.
inline constexpr std::size_t max_rank = 8;

/// Elements in a shape, or nothing if that many bytes could not be addressed, zeros in the shape left aside.
inline std::optional<std::size_t> element_count(const std::vector<std::size_t>& shape, Dtype dtype) {
  const std::size_t most_elements = std::numeric_limits<std::size_t>::max() / size_of(dtype);
  std::size_t count = 1;
  bool empty = false;
  for (std::size_t extent : shape) {
    empty = empty || extent == 0;
    if (extent == 0) continue;
    if (count > most_elements / extent) return std::nullopt;
    count *= extent;
  }
  return empty ? 0 : count;
}

/// Numbers as they stand in a message: `[2, 3]`.
inline std::string bracketed(const std::vector<std::size_t>& numbers) {
  std::string result = "[";
  for (std::size_t number : numbers) result.append(result.size() > 1 ? ", " : "").append(text(number));
  return result + "]";
}

}  // namespace detail
}  // namespace bahdanau
