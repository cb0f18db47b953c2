// The attention of a translation as text for a terminal, in shades or in colours.
// Labels are measured as a terminal shows them; columns that do not fit go into further panels below.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/weights.hpp>

namespace bahdanau::detail {

/// A heatmap made of characters; every line takes the same number of columns.
class TerminalHeatmap {
 public:
  TerminalHeatmap(const Translation& translation, bool colour, std::size_t columns)
      : translation_(translation), colour_(colour) {
    columns = std::max<std::size_t>(columns, 24);
    // Row labels give way, down to a width that still says something, if that keeps all columns side by side.
    const std::size_t frame = 3, least_label = 12;
    const std::size_t beside =
        columns - frame - std::min(columns - frame, 2 * translation.attention.shape()[1]);
    rows_ = labels(translation.target, beside < least_label ? columns / 4 : std::min(beside, columns / 3));
    columns_ = labels(column_labels(translation), longest_label);
    for (const std::string& label : rows_) label_width_ = std::max(label_width_, columns_of(label));
    const std::size_t available = columns - frame - label_width_;
    const std::size_t count = columns_.size();
    std::size_t widest = 0;
    for (const std::string& label : columns_) widest = std::max(widest, columns_of(label));
    upright_ = widest < longest_upright && count * std::max(widest + 1, narrow) <= available;
    if (upright_) {
      cell_ = std::max(widest + 1, narrow);
    } else {
      cell_ = count * 3 <= available ? 3 : 2;
    }
    const std::size_t panels = (count + available / cell_ - 1) / (available / cell_);
    per_panel_ = (count + panels - 1) / panels;
    width_ = std::max(label_width_ + 3 + cell_ * per_panel_, legend_width);
  }

  std::string text() const {
    std::string out;
    for (std::size_t begin = 0; begin < columns_.size(); begin += per_panel_) {
      const std::size_t end = std::min(begin + per_panel_, columns_.size());
      if (begin > 0) end_line(out, 0);
      write_column_labels(out, begin, end);
      write_frame(out, "\u250C", "\u2510", end - begin);
      for (std::size_t row = 0; row < rows_.size(); ++row) write_row(out, row, begin, end);
      write_frame(out, "\u2514", "\u2518", end - begin);
    }
    write_legend(out);
    return out;
  }

 private:
  static constexpr std::size_t longest_label = 16, longest_upright = 10, narrow = 5, legend_width = 19;

  static std::vector<std::string> labels(const std::vector<std::string>& tokens, std::size_t limit) {
    std::vector<std::string> result;
    for (const std::string& token : tokens) {
      result.push_back(
          elide(visible(token), limit, [](utf8proc_int32_t value) { return columns_of(value); }));
    }
    return result;
  }

  static std::string spaces(std::size_t count) { return std::string(count, ' '); }
  static std::string repeated(std::string_view what, std::size_t count) {
    std::string out;
    while (count-- > 0) out.append(what);
    return out;
  }
  // In the middle of so many columns, rather to the left.
  static std::string centred(std::string_view what, std::size_t columns) {
    const std::size_t rest = columns - columns_of(what);
    return spaces(rest / 2).append(what).append(spaces(rest - rest / 2));
  }

  void end_line(std::string& out, std::size_t columns) const { out += spaces(width_ - columns) + "\n"; }

  // The characters of a label one below the other, each with its marks.
  static std::vector<std::string> characters(std::string_view label) {
    std::vector<std::string> result;
    each_code_point(label, [&result](utf8proc_int32_t value, std::string_view bytes) {
      if (columns_of(value) == 0 && !result.empty()) {
        result.back().append(bytes);
      } else {
        result.emplace_back(value == 0x2026 ? "\u22EE" : bytes);
      }
    });
    return result;
  }

  void write_column_labels(std::string& out, std::size_t begin, std::size_t end) const {
    std::vector<std::vector<std::string>> lines;  // [column][line]
    std::size_t height = 1;
    for (std::size_t i = begin; i < end; ++i) {
      lines.push_back(upright_ ? std::vector{columns_[i]} : characters(columns_[i]));
      height = std::max(height, lines.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      out += spaces(label_width_ + 2);
      for (const auto& column : lines) {
        const std::size_t empty = height - column.size();  // above it: the label ends at the grid
        out += centred(line < empty ? "" : column[line - empty], cell_);
      }
      end_line(out, label_width_ + 2 + cell_ * (end - begin));
    }
  }

  void write_frame(std::string& out, std::string_view left, std::string_view right, std::size_t cells) const {
    out += spaces(label_width_ + 1).append(left) + repeated("\u2500", cell_ * cells).append(right);
    end_line(out, label_width_ + 3 + cell_ * cells);
  }

  void write_row(std::string& out, std::size_t row, std::size_t begin, std::size_t end) const {
    out += spaces(label_width_ - columns_of(rows_[row])) + rows_[row] + " \u2502";
    for (std::size_t i = begin; i < end; ++i) {
      const double weight = translation_.attention(row, i);
      const auto percent = std::lround(100 * weight);
      std::string inside = percent < 10 ? " " : "";  // units below units
      inside.append(exact_digits(percent));
      if (!upright_ || percent <= 0) inside.clear();
      write_cell(out, weight, cell_, inside);
    }
    if (colour_) out += "\x1b[0m";
    out += "\u2502";
    end_line(out, label_width_ + 3 + cell_ * (end - begin));
  }

  void write_cell(std::string& out, double weight, std::size_t columns, std::string_view inside) const {
    if (!colour_) {
      constexpr std::array<std::string_view, 5> shades = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
      const int level = weight < 0.05 ? 0 : std::min(4, 1 + static_cast<int>(4 * weight));
      out += repeated(shades[static_cast<std::size_t>(level)], columns);
      return;
    }
    const auto [red, green, blue] = weight_colour(weight);
    out += "\x1b[48;2;" + detail::text(red) + ";" + detail::text(green) + ";" + detail::text(blue) +
           (dark(weight) ? ";38;2;255;255;255m" : ";38;2;0;0;0m") + centred(inside, columns);
  }

  void write_legend(std::string& out) const {
    out += "0 % ";
    for (double weight : {0.0, 0.1, 0.2, 0.3, 0.45, 0.55, 0.7, 0.8, 1.0}) write_cell(out, weight, 1, "");
    out += colour_ ? "\x1b[0m 100 %" : " 100 %";
    end_line(out, legend_width);
  }

  const Translation& translation_;
  bool colour_;
  bool upright_ = false;
  std::vector<std::string> rows_, columns_;
  std::size_t label_width_ = 0, cell_ = 0, per_panel_ = 0, width_ = 0;
};

}  // namespace bahdanau::detail

namespace bahdanau::plot {

/// The attention as lines for a terminal of so many columns (at least 24): shades ` ░▒▓█`, or 24-bit colours.
/// Short labels stand upright, long ones downwards. Throws what `heatmap` throws for bad attention.
inline std::string heatmap_text(const Translation& translation, bool colour, std::size_t columns = 80) {
  detail::require_attention("heatmap", translation);
  return detail::TerminalHeatmap(translation, colour, columns).text();
}

}  // namespace bahdanau::plot
