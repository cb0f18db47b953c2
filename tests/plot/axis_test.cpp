// Ticks at round numbers, for any range that a loss may have.
// The labels are what a reader sees, so they are compared as text.
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <bahdanau/plot/axis.hpp>

#include "support/catch.hpp"

using bahdanau::detail::Axis;
using bahdanau::detail::count_axis;
using bahdanau::detail::linear_axis;
using bahdanau::detail::log_axis;

namespace {

using Labels = std::vector<std::string>;

Labels labels(const Axis& axis) {
  Labels result;
  for (const auto& tick : axis.ticks) result.push_back(tick.label);
  return result;
}

}  // namespace

TEST_CASE("ticks are 1, 2 or 5 times a power of ten", "[plot][axis]") {
  CHECK(labels(linear_axis(0.0186, 0.26, 8)) ==
        Labels{"0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"});
  CHECK(labels(linear_axis(7, 8, 5)) == Labels{"7.0", "7.2", "7.4", "7.6", "7.8", "8.0"});
  CHECK(labels(linear_axis(-3, 5, 4)) == Labels{"-4", "-2", "0", "2", "4", "6"});
  CHECK(labels(linear_axis(1000, 4000, 4)) == Labels{"0", "1000", "2000", "3000", "4000"});
}

TEST_CASE("very large, very small and very close values have readable ticks", "[plot][axis]") {
  CHECK(labels(linear_axis(1e-8, 3e-8, 3)) == Labels{"1e-08", "2e-08", "3e-08"});
  CHECK(labels(linear_axis(1e9, 3e9, 3)) == Labels{"1e+09", "2e+09", "3e+09"});
  CHECK(labels(linear_axis(1.0000001, 1.0000003, 2)) == Labels{"1.0000001", "1.0000002", "1.0000003"});
}

TEST_CASE("a range without extent gets one", "[plot][axis]") {
  for (double value :
       {0.3, 0.0, -2.0, 1e-9, 1e12, 1e-299, 9e299, std::numeric_limits<double>::denorm_min()}) {
    const Axis axis = linear_axis(value, value, 8);
    CHECK(axis.low < axis.high);
    CHECK(axis.fraction(value) == Approx(0.5).margin(0.2));
    CHECK(axis.ticks.size() >= 3);
  }
}

TEST_CASE("every value of an axis is between its ends", "[plot][axis]") {
  for (double least : {1e-12, 0.0199999, 0.02, 0.3, 1.0, 7.7, 123456.0}) {
    for (double factor : {1.0, 1.0001, 1.3, 2.0, 17.0, 1e5, 1e20}) {
      const double greatest = least * factor;
      for (int intervals : {2, 5, 8}) {
        for (const Axis& axis :
             {linear_axis(least, greatest, intervals), log_axis(least, greatest, intervals)}) {
          CHECK(axis.fraction(least) >= -1e-6);
          CHECK(axis.fraction(greatest) <= 1 + 1e-6);
          CHECK(!axis.ticks.empty());
          CHECK(axis.ticks.size() <= static_cast<std::size_t>(intervals) + 3);
        }
      }
    }
  }
}

TEST_CASE("a logarithmic axis has ticks at 1, 2 and 5, or at powers of ten when it is long", "[plot][axis]") {
  CHECK(labels(log_axis(0.0186, 0.26, 8)) == Labels{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5"});
  CHECK(labels(log_axis(0.2, 0.2, 8)) == Labels{"0.1", "0.2", "0.5"});
  CHECK(labels(log_axis(0.001, 1000, 8)) == Labels{"0.001", "0.01", "0.1", "1", "10", "100", "1000"});
  CHECK(labels(log_axis(1e-6, 1e6, 8)) == Labels{"1e-06", "0.0001", "0.01", "1", "100", "10000", "1e+06"});
  const Axis axis = log_axis(0.01, 1, 8);
  CHECK(axis.fraction(0.1) == Approx(0.5));
}

TEST_CASE("epochs are counted in whole numbers from 1", "[plot][axis]") {
  CHECK(labels(count_axis(1, 8)) == Labels{"1"});
  CHECK(count_axis(1, 8).fraction(1) == Approx(0.5));
  CHECK(labels(count_axis(4, 8)) == Labels{"1", "2", "3", "4"});
  CHECK(labels(count_axis(15, 8)) == Labels{"2", "4", "6", "8", "10", "12", "14"});
  CHECK(labels(count_axis(250, 8)) == Labels{"1", "50", "100", "150", "200", "250"});
}
