// The little of SVG that both pictures need: escaped text, numbers without a locale, a few elements.
// Everything is a string that grows; the same input gives the same bytes.
#pragma once

#include <string>
#include <string_view>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/plot/label.hpp>

namespace bahdanau::detail {

/// Text as it may stand between tags and in attributes; invisible characters become visible ones.
inline std::string escape_xml(std::string_view text) {
  std::string result;
  for (char character : visible(text)) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

/// A coordinate: hundredths of a pixel, without zeros at the end.
inline std::string svg_number(double value) {
  std::string result = fixed_digits(value, 2);
  result.erase(result.find_last_not_of('0') + 1);
  if (result.back() == '.') result.pop_back();
  return result;
}

/// ` name="12.5"`.
inline std::string attribute(std::string_view name, double value) {
  return std::string(" ").append(name).append("=\"").append(svg_number(value)).append("\"");
}

/// ` name="text"`, escaped.
inline std::string attribute(std::string_view name, std::string_view value) {
  return std::string(" ").append(name).append("=\"").append(escape_xml(value)).append("\"");
}

/// The opening tag and a white page; `name` is what a screen reader says. Ends with `</svg>`, which the
/// caller writes.
inline std::string svg_begin(double width, double height, std::string_view name) {
  const std::string size = attribute("width", width) + attribute("height", height);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         size + attribute("viewBox", "0 0 " + svg_number(width) + " " + svg_number(height)) +
         " role=\"img\"" + attribute("aria-label", name) +
         attribute("font-family",
                   "Helvetica, Arial, Noto Sans, DejaVu Sans, Noto Sans CJK SC, PingFang SC, "
                   "Hiragino Sans, Microsoft YaHei, sans-serif") +
         " fill=\"#333\">\n<rect" + size + " fill=\"#fff\"/>\n";
}

/// A line of text of a font size; x, y is the end of its baseline that the attributes' `text-anchor` names.
inline std::string svg_text(double x, double y, double size, std::string_view text,
                            std::string_view attributes = {}) {
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size) +
         std::string(attributes) + ">" + escape_xml(text) + "</text>\n";
}

/// The same, rotated around that point by degrees; positive is clockwise.
inline std::string svg_rotated_text(double x, double y, double size, double degrees, std::string_view text,
                                    std::string_view attributes = {}) {
  const std::string rotation =
      "rotate(" + svg_number(degrees) + " " + svg_number(x) + " " + svg_number(y) + ")";
  return svg_text(x, y, size, text, attribute("transform", rotation).append(attributes));
}

/// A straight line.
inline std::string svg_line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) +
         attribute("stroke", colour) + "/>\n";
}

}  // namespace bahdanau::detail
