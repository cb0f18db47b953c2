// Axes with ticks at round numbers: 1, 2 or 5 times a power of ten.
// An axis maps a value to a fraction of its length and knows what to write beside it.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/plot/svg.hpp>

namespace bahdanau::detail {

struct Tick {
  double value;
  std::string label;
};

/// A range of values from one end of a picture to the other.
struct Axis {
  double low = 0;
  double high = 1;
  bool log = false;
  std::vector<Tick> ticks;

  /// 0 at `low`, 1 at `high`.
  double fraction(double value) const {
    if (log) return std::log10(value / low) / std::log10(high / low);
    return (value - low) / (high - low);
  }
};

/// The smallest of 1, 2, 5 times a power of ten that cuts the span into at most so many intervals.
inline double round_step(double span, int intervals) {
  const double least = span / intervals * (1 - 1e-9);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (least <= factor * power) return factor * power;
  }
  return 10 * power;
}

/// A number in at most so many significant digits, with an exponent only where it is shorter.
inline std::string short_digits(double value, int digits) {
  char buffer[64];
  return {buffer,
          std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr};
}

/// A linear axis around values of magnitude below 1e300, of about so many intervals; 0 is included where the
/// values come near it.
inline Axis linear_axis(double least, double greatest, int intervals) {
  const double magnitude = std::max(std::abs(least), std::abs(greatest));
  if (magnitude < 1e-290) {
    least = -1;
    greatest = 1;
  } else if (greatest - least <= 1e-12 * magnitude) {  // constant: half of it to either side
    least -= 0.5 * magnitude;
    greatest += 0.5 * magnitude;
  }
  if (least > 0 && least < 0.3 * greatest) least = 0;
  if (greatest < 0 && greatest > 0.3 * least) greatest = 0;
  const double step = round_step(greatest - least, intervals);
  const double first = std::floor(least / step + 1e-9);
  const auto count = static_cast<int>(std::ceil(greatest / step - 1e-9) - first);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step * (1 + 1e-9)))));
  Axis axis{first * step, (first + count) * step, false, {}};
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  const bool plain = largest >= 1e-4 && largest < 1e7;
  const int digits = 2 + static_cast<int>(std::log10(largest / step));
  for (int i = 0; i <= count; ++i) {
    const double value = (first + i) * step;
    axis.ticks.push_back({value, plain ? fixed_digits(value, decimals) : short_digits(value + 0.0, digits)});
  }
  return axis;
}

/// A logarithmic axis around positive values, from one of 1, 2, 5 times a power of ten to another.
inline Axis log_axis(double least, double greatest, int intervals) {
  // The round numbers are counted: 0 is 1, 1 is 2, 2 is 5, 3 is 10 …
  auto round = [](int index) {
    const int power = (index >= 0 ? index : index - 2) / 3;
    return std::array{1.0, 2.0, 5.0}[static_cast<std::size_t>(index - 3 * power)] * std::pow(10.0, power);
  };
  auto below = [&](double value) {
    int index = 3 * static_cast<int>(std::floor(std::log10(value)));
    while (round(index) > value * (1 + 1e-9)) --index;
    while (round(index + 1) <= value * (1 + 1e-9)) ++index;
    return index;
  };
  int first = below(least);
  int last = below(greatest);
  if (round(last) < greatest * (1 - 1e-9)) ++last;
  if (first == last) {
    --first;
    ++last;
  }
  Axis axis{round(first), round(last), true, {}};
  const int decades = (last - first) / 3;
  const int every =
      last - first <= intervals + 1 ? 1 : 3 * std::max(1, (decades + intervals - 1) / intervals);
  for (int index = first; index <= last; ++index) {
    if (index % every == 0) axis.ticks.push_back({round(index), short_digits(round(index), 6)});
  }
  return axis;
}

/// The axis of a count that starts at 1: ticks at whole numbers only.
inline Axis count_axis(std::size_t count, int intervals) {
  const auto last = static_cast<double>(count);
  Axis axis{1, last, false, {}};
  if (count == 1) axis = {0.5, 1.5, false, {}};
  const double step = last - 1 <= intervals ? 1 : std::max(1.0, round_step(last - 1, intervals));
  if (step >= 5) axis.ticks.push_back({1, "1"});
  for (double value = step; value <= last; value += step)
    axis.ticks.push_back({value, fixed_digits(value, 0)});
  return axis;
}

}  // namespace bahdanau::detail
