// The attention of a translation as an SVG picture: a row for each target token, a column for each source
// token. It is sized by its labels, so that nothing overlaps or is cut, and each cell says its exact weight
// unless there are too many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/svg.hpp>
#include <bahdanau/plot/weights.hpp>

namespace bahdanau::plot {

/// How a heatmap looks; `cell` is the side of a cell in pixels, 8 to 200, and sets the size of the labels.
struct HeatmapOptions {
  std::string title = {};
  double cell = 28;
};

}  // namespace bahdanau::plot

namespace bahdanau::detail {

/// Where everything stands in a heatmap, in pixels; also writes it.
class HeatmapPicture {
 public:
  HeatmapPicture(const Translation& translation, const plot::HeatmapOptions& options)
      : translation_(translation),
        cell_(options.cell),
        font_(std::min(14.0, 0.5 * options.cell)),
        sources_(column_labels(translation)),
        columns_(labels(sources_)),
        rows_(labels(translation.target)) {
    // A label in <> is the model's own and may be rotated alone; words are rotated all or none.
    auto word_too_wide = [this](const std::string& label) { return !reserved(label) && too_wide(label); };
    rotate_all_ = std::any_of(columns_.begin(), columns_.end(), word_too_wide);
    for (const std::string& label : rows_) left_ = std::max(left_, margin + ems_of(label) * font_ + gap);
    grid_width_ = cell_ * static_cast<double>(columns_.size());
    grid_height_ = cell_ * static_cast<double>(rows_.size());
    bar_left_ = left_ + grid_width_ + 20;
    bar_height_ = std::clamp(grid_height_, 112.0, 320.0);
    width_ = bar_left_ + bar_width + 6 + ems_of("0.75") * tick_font + margin;
    double rise = font_;  // of the column labels above the grid
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!rotated(columns_[i])) continue;
      const double reach = (ems_of(columns_[i]) * font_ + 0.5 * font_) * std::sqrt(0.5);
      width_ = std::max(width_, column_middle(i) + reach + margin);
      rise = std::max(rise, reach + 0.5 * font_);
    }
    title_ = elide(visible(options.title), std::max(width_, 480.0) / title_font,
                   [](utf8proc_int32_t value) { return ems_of(value); });
    width_ = std::max(width_, ems_of(title_) * title_font + 2 * margin);
    top_ += margin + (title_.empty() ? 0 : title_font + 12) + rise + gap;
    height_ = top_ + std::max(grid_height_, bar_height_ + 0.5 * tick_font) + margin;
  }

  std::string text() const {
    std::string out = svg_begin(width_, height_, title_.empty() ? "attention heatmap" : title_);
    if (!title_.empty()) {
      out += svg_text(margin, margin + title_font, title_font, title_, attribute("font-weight", "bold"));
    }
    write_labels(out);
    write_cells(out);
    write_bar(out);
    return out += "</svg>\n";
  }

 private:
  static constexpr double margin = 16, gap = 7, bar_width = 14, tick_font = 11, title_font = 16;
  static constexpr double longest_label = 16;  // ems; the tooltip has the whole token
  static constexpr std::size_t most_tips =
      40'000;  // cells; with more, tips would make a file of many megabytes

  static std::vector<std::string> labels(const std::vector<std::string>& tokens) {
    std::vector<std::string> result;
    for (const std::string& token : tokens) {
      result.push_back(elide(visible(token), longest_label, [](utf8proc_int32_t v) { return ems_of(v); }));
    }
    return result;
  }
  static bool reserved(std::string_view label) {
    return label.size() > 2 && label.front() == '<' && label.back() == '>';
  }

  bool too_wide(std::string_view label) const { return ems_of(label) * font_ > cell_ - 3; }
  bool rotated(std::string_view label) const { return rotate_all_ || too_wide(label); }
  double column_middle(std::size_t i) const { return left_ + cell_ * (static_cast<double>(i) + 0.5); }
  double row_middle(std::size_t i) const { return top_ + cell_ * (static_cast<double>(i) + 0.5); }

  void write_labels(std::string& out) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += rotated(columns_[i])
                 ? svg_rotated_text(column_middle(i) + 0.2 * font_, top_ - gap, font_, -45, columns_[i])
                 : svg_text(column_middle(i), top_ - gap, font_, columns_[i],
                            attribute("text-anchor", "middle"));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      out += svg_text(left_ - gap, row_middle(i) + 0.35 * font_, font_, rows_[i],
                      attribute("text-anchor", "end"));
    }
  }

  void write_cells(std::string& out) const {
    const bool tips = rows_.size() * columns_.size() <= most_tips;
    out += "<g stroke=\"#dfe5ec\" stroke-width=\"1\">\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::size_t j = 0, next = 0; j < columns_.size(); j = next) {
        const float weight = translation_.attention(i, j);
        const Colour colour = weight_colour(weight);
        // Without tips, cells of one colour are drawn as one.
        next = j + 1;
        while (!tips && next < columns_.size() && weight_colour(translation_.attention(i, next)) == colour)
          ++next;
        out += "<rect" + attribute("x", column_middle(j) - cell_ / 2) +
               attribute("y", row_middle(i) - cell_ / 2) +
               attribute("width", cell_ * static_cast<double>(next - j)) + attribute("height", cell_) +
               attribute("fill", colour.hex());
        out += !tips ? "/>\n"
                     : "><title>" + escape_xml(translation_.target[i]) + " \u2190 " +
                           escape_xml(sources_[j]) + ": " + exact_digits(weight) + "</title></rect>\n";
      }
    }
    out += "</g>\n";
  }

  void write_bar(std::string& out) const {
    out += "<defs><linearGradient id=\"weights\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
    const auto last = static_cast<double>(weight_anchors.size() - 1);
    for (std::size_t i = 0; i < weight_anchors.size(); ++i) {
      out += "<stop" + attribute("offset", static_cast<double>(i) / last) +
             attribute("stop-color", weight_anchors[i].hex()) + "/>";
    }
    out += "</linearGradient></defs>\n<rect" + attribute("x", bar_left_) + attribute("y", top_) +
           attribute("width", bar_width) + attribute("height", bar_height_) +
           " fill=\"url(#weights)\" stroke=\"#b8c0c8\"/>\n";
    for (double value : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double y = top_ + bar_height_ * (1 - value);
      out += svg_line(bar_left_ + bar_width, y, bar_left_ + bar_width + 4, y, "#b8c0c8");
      out += svg_text(bar_left_ + bar_width + 7, y + 0.36 * tick_font, tick_font, exact_digits(value));
    }
  }

  const Translation& translation_;
  double cell_, font_;
  std::vector<std::string> sources_, columns_, rows_;
  std::string title_;
  bool rotate_all_ = false;
  double left_ = 0, top_ = 0, grid_width_ = 0, grid_height_ = 0, bar_left_ = 0, bar_height_ = 0;
  double width_ = 0, height_ = 0;
};

}  // namespace bahdanau::detail

namespace bahdanau::plot {

/// The attention as an SVG document: source tokens along the top, target tokens on the left, a colour bar.
/// Throws if attention is empty, does not fit the tokens or is no weight, or for a cell size out of range.
inline std::string heatmap_svg(const Translation& translation, const HeatmapOptions& options = {}) {
  detail::require_attention("heatmap", translation);
  if (!(options.cell >= 8 && options.cell <= 200)) {
    fail("heatmap", "a cell of 8 to 200 pixels", detail::exact_digits(options.cell));
  }
  return detail::HeatmapPicture(translation, options).text();
}

/// Writes that document; the old file stays if this throws.
inline void heatmap(const std::filesystem::path& path, const Translation& translation,
                    const HeatmapOptions& options = {}) {
  write_atomically(path, heatmap_svg(translation, options));
}

}  // namespace bahdanau::plot
