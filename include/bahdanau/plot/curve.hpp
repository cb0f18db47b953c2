// Curves as an SVG picture: the epoch, or what else is counted, to the right, the loss upwards, a line for
// each curve. What is not finite (or, on a logarithmic axis, not positive) leaves a gap.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/plot/axis.hpp>
#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/svg.hpp>

namespace bahdanau::plot {

/// How a curve is drawn. `automatic`: solid, and dashed or dotted once all colours are taken.
enum class Stroke { automatic, solid, dashed };

/// A line of the picture; `values[0]` belongs to epoch 1, NaN to an epoch without a value.
struct Curve {
  std::string name;
  std::vector<double> values;
  Stroke stroke = Stroke::automatic;
};

/// How the picture looks; `width` and `height` are 240 to 10000 pixels. `x_ticks` are written below the
/// values in the place of their numbers: there is one for each.
struct CurveOptions {
  std::string title = {};
  std::string x_label = "epoch";
  std::vector<std::string> x_ticks = {};
  std::string y_label = "loss";
  bool log_y = false;
  double width = 720;
  double height = 420;
};

}  // namespace bahdanau::plot

namespace bahdanau::detail {

/// Where everything stands in a picture of curves, in pixels; also writes it.
class CurvePicture {
 public:
  CurvePicture(std::span<const plot::Curve> curves, const plot::CurveOptions& options)
      : curves_(curves), options_(options) {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    std::size_t longest = 0;
    for (const plot::Curve& curve : curves) {
      longest = std::max(longest, curve.values.size());
      for (double value : curve.values) {
        if (!shown(value)) continue;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      }
    }
    if (!(least <= greatest)) {
      fail("curve", options.log_y ? "at least one positive value" : "at least one finite value", "none");
    }
    top_ = margin + (options.title.empty() ? 0 : title_font + 12);
    height_ = options.height;
    if (curves.size() > 1) place_legend();
    top_ += 0.5 * tick_font;
    bottom_ = height_ - margin - (options.x_label.empty() ? 0 : font + 8) - tick_font - 8;
    const int intervals = std::clamp(static_cast<int>((bottom_ - top_) / 30), 2, 8);
    y_ = options.log_y ? log_axis(least, greatest, intervals) : linear_axis(least, greatest, intervals);
    double widest_tick = 0;
    for (const Tick& tick : y_.ticks) widest_tick = std::max(widest_tick, ems_of(tick.label) * tick_font);
    left_ = margin + (options.y_label.empty() ? 0 : font + 10) + widest_tick + 8;
    right_ = options.width - margin - 10;  // the last tick's label stands half outside
    if (options.x_ticks.empty())
      x_ = count_axis(longest, std::clamp(static_cast<int>((right_ - left_) / 60), 2, 10));
    else
      x_ = named_axis(options.x_ticks, longest);
  }

  std::string text() const {
    std::string out = svg_begin(options_.width, height_,
                                options_.title.empty() ? options_.y_label + " curve" : options_.title);
    if (!options_.title.empty()) {
      out += svg_text(margin, margin + title_font, title_font,
                      fitting(options_.title, options_.width - 2 * margin, title_font),
                      attribute("font-weight", "bold"));
    }
    write_axes(out);
    for (std::size_t i = 0; i < curves_.size(); ++i) write_curve(out, i);
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const auto& [x, y, name] = legend_[i];
      out += "<path" + attribute("d", "M" + point(x, y - 0.35 * font) + "H" + svg_number(x + 22)) + pen(i) +
             "/>\n" + svg_text(x + 28, y, font, name);
    }
    return out += "</svg>\n";
  }

 private:
  static constexpr double margin = 16, font = 13, tick_font = 11, title_font = 16;
  struct LegendEntry {
    double x, y;  // of the baseline
    std::string name;
  };

  static std::string fitting(std::string_view label, double pixels, double size) {
    return elide(visible(label), pixels / size, [](utf8proc_int32_t value) { return ems_of(value); });
  }
  static std::string point(double x, double y) { return svg_number(x) + " " + svg_number(y); }

  // Colours that colour-blind readers can tell apart: Okabe and Ito's, without a yellow that white drowns;
  // after these, dashes.
  static constexpr std::array<std::string_view, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                              "#e69f00", "#56b4e9", "#222222", "#8c6d31"};
  static std::string_view colour(std::size_t i) { return colours[i % colours.size()]; }
  std::string pen(std::size_t i) const {
    std::string out = " fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";
    out += attribute("stroke", colour(i));
    const plot::Stroke stroke = curves_[i].stroke;
    if (stroke == plot::Stroke::dashed || (stroke == plot::Stroke::automatic && i >= colours.size()))
      out += attribute("stroke-dasharray", i < 2 * colours.size() ? "6 5" : "1 5");
    return out;
  }

  // A tick with its own label for each value, in the middle of its part of the axis.
  Axis named_axis(const std::vector<std::string>& labels, std::size_t longest) const {
    if (labels.size() < longest)
      fail("curve", "an x_tick for each of " + detail::text(longest) + " values",
           detail::text(labels.size()));
    const auto count = static_cast<double>(labels.size());
    Axis axis{0.5, count + 0.5, false, {}};
    for (const std::string& label : labels)
      axis.ticks.push_back(
          {static_cast<double>(axis.ticks.size() + 1), fitting(label, (right_ - left_) / count, tick_font)});
    return axis;
  }

  // Values near the end of the range of double would overflow on the way to a pixel.
  bool shown(double value) const { return std::abs(value) < 1e300 && (!options_.log_y || value > 1e-300); }

  double x_at(std::size_t i) const {
    return left_ + (right_ - left_) * x_.fraction(static_cast<double>(i + 1));
  }
  double y_at(double value) const { return bottom_ - (bottom_ - top_) * y_.fraction(value); }

  // In rows above the plot, where no curve can run through it; further rows make the picture higher.
  void place_legend() {
    double x = margin;
    const double right = options_.width - margin;
    for (const plot::Curve& curve : curves_) {
      const std::string name = fitting(curve.name, right - margin - 30, font);
      const double width = 28 + ems_of(name) * font;
      if (x > margin && x + width > right) {
        x = margin;
        top_ += font + 6;
        height_ += font + 6;
      }
      legend_.push_back({x, top_ + font, name});
      x += width + 20;
    }
    top_ += font + 10;
  }

  void write_axes(std::string& out) const {
    for (const Tick& tick : y_.ticks) {
      const double y = y_at(tick.value);
      out += svg_line(left_, y, right_, y, "#e3e6ea");
      out +=
          svg_text(left_ - 8, y + 0.36 * tick_font, tick_font, tick.label, attribute("text-anchor", "end"));
    }
    for (const Tick& tick : x_.ticks) {
      const double x = left_ + (right_ - left_) * x_.fraction(tick.value);
      out += svg_line(x, top_, x, bottom_, "#eff1f4");
      out += svg_line(x, bottom_, x, bottom_ + 4, "#888");
      out += svg_text(x, bottom_ + 6 + tick_font, tick_font, tick.label, attribute("text-anchor", "middle"));
    }
    out += svg_line(left_, bottom_, right_, bottom_, "#888");
    const std::string middle = attribute("text-anchor", "middle");
    out += svg_text((left_ + right_) / 2, height_ - margin, font,
                    fitting(options_.x_label, right_ - left_, font), middle);
    out += svg_rotated_text(margin + 0.8 * font, (top_ + bottom_) / 2, font, -90,
                            fitting(options_.y_label, bottom_ - top_, font), middle);
  }

  // One path, which starts anew after a gap; a value alone between two gaps is a dot.
  void write_curve(std::string& out, std::size_t which) const {
    const std::vector<double>& values = curves_[which].values;
    auto is_shown = [&](std::size_t i) { return i < values.size() && shown(values[i]); };
    std::string path;
    std::string dots;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_shown(i)) continue;
      const bool starts = i == 0 || !is_shown(i - 1);
      if (starts && !is_shown(i + 1)) {
        dots += "<circle" + attribute("cx", x_at(i)) + attribute("cy", y_at(values[i])) + attribute("r", 3) +
                attribute("fill", colour(which)) + "/>\n";
      } else {
        path += (starts ? "M" : "L") + point(x_at(i), y_at(values[i]));
      }
    }
    if (!path.empty()) out += "<path" + attribute("d", path) + pen(which) + "/>\n";
    out += dots;
  }

  std::span<const plot::Curve> curves_;
  const plot::CurveOptions& options_;
  Axis x_, y_;
  std::vector<LegendEntry> legend_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, height_ = 0;
};

}  // namespace bahdanau::detail

namespace bahdanau::plot {

/// The curves as an SVG document, with a legend if there are several.
/// Throws if there is nothing to draw, or for a size out of range.
inline std::string curve_svg(std::span<const Curve> curves, const CurveOptions& options = {}) {
  if (!(options.width >= 240 && options.width <= 10000 && options.height >= 240 && options.height <= 10000)) {
    fail("curve", "a picture of 240x240 to 10000x10000 pixels",
         detail::exact_digits(options.width) + "x" + detail::exact_digits(options.height));
  }
  return detail::CurvePicture(curves, options).text();
}

/// Writes that document; the old file stays if this throws.
inline void curve(const std::filesystem::path& path, std::span<const Curve> curves,
                  const CurveOptions& options = {}) {
  write_atomically(path, curve_svg(curves, options));
}

}  // namespace bahdanau::plot
