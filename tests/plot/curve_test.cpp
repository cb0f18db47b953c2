// Loss curves as SVG: complete, with gaps where there is no value, inside the page, and refused when empty.
// Paths are read back as the numbers that they hold.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <bahdanau/plot/curve.hpp>

#include "plot/xml.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::Error;
using bahdanau::plot::Curve;
using bahdanau::plot::curve_svg;
using bahdanau::plot::CurveOptions;
using bahdanau::test::Element;
using bahdanau::test::elements;
using Catch::Matchers::Message;

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Point {
  char command;
  double x, y;
};

std::vector<Point> points(const std::string& path) {
  std::vector<Point> result;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t space = path.find(' ', at);
    std::size_t used = 0;
    const double x = std::stod(path.substr(at + 1, space - at - 1));
    const double y = std::stod(path.substr(space + 1), &used);
    result.push_back({path[at], x, y});
    at = space + 1 + used;
  }
  return result;
}

std::vector<Curve> falling(std::size_t count, const std::string& name = "training") {
  Curve curve{name, {}};
  for (std::size_t i = 0; i < count; ++i)
    curve.values.push_back(0.02 + std::exp(-0.02 * static_cast<double>(i)));
  return {curve};
}

}  // namespace

TEST_CASE("a curve of many epochs is one path that falls to the right", "[plot][curve]") {
  const bool log_y = GENERATE(false, true);
  const std::string svg = curve_svg(falling(400), {.log_y = log_y});
  const std::vector<Element> paths = elements(svg, "path");
  REQUIRE(paths.size() == 1);
  const std::vector<Point> found = points(paths[0].attributes.at("d"));
  REQUIRE(found.size() == 400);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].command == (i == 0 ? 'M' : 'L'));
    CHECK((found[i].x > 0 && found[i].x < 720 && found[i].y > 0 && found[i].y < 420));
    if (i > 0) CHECK((found[i].x > found[i - 1].x && found[i].y >= found[i - 1].y));
  }
}

TEST_CASE("epochs without a finite value are gaps, and a value between gaps is a dot", "[plot][curve]") {
  const std::vector<Curve> curves = {
      {"loss", {no_value, 3, 2, infinity, 1.5, no_value, 1.2, 1.1, -infinity}}};
  const std::string svg = curve_svg(curves);
  std::string commands;
  for (const Point& point : points(elements(svg, "path").at(0).attributes.at("d"))) commands += point.command;
  CHECK(commands == "MLML");
  CHECK(elements(svg, "circle").size() == 1);
}

TEST_CASE("what is not positive is a gap on a logarithmic axis", "[plot][curve]") {
  const std::vector<Curve> curves = {{"loss", {1, 0, -1, 2, 3}}};
  const std::string svg = curve_svg(curves, {.log_y = true});
  CHECK(points(elements(svg, "path").at(0).attributes.at("d")).size() == 2);
  CHECK(elements(svg, "circle").size() == 1);
}

TEST_CASE("a single value is a dot and a constant curve a straight line in the middle", "[plot][curve]") {
  const std::string single = curve_svg(std::vector<Curve>{{"loss", {0.3}}});
  CHECK(elements(single, "path").empty());
  CHECK(elements(single, "circle").size() == 1);
  const std::string constant = curve_svg(std::vector<Curve>{{"loss", {0.3, 0.3, 0.3}}});
  const std::vector<Point> found = points(elements(constant, "path").at(0).attributes.at("d"));
  REQUIRE(found.size() == 3);
  CHECK((found[0].y == found[1].y && found[1].y == found[2].y));
  CHECK((found[0].y > 100 && found[0].y < 300));
}

TEST_CASE("extreme values neither overflow nor divide by zero", "[plot][curve]") {
  const bool log_y = GENERATE(false, true);
  const double greatest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  for (std::vector<double> values :
       {std::vector{greatest, -greatest, 1.0}, std::vector{1e299, -1e299, 1e299},
        std::vector{least, 0.0, 2 * least, 1e-250}, std::vector{1.0, 1.0 + 1e-15, 1.0}}) {
    const std::string svg = curve_svg(std::vector<Curve>{{"loss", values}}, {.log_y = log_y});
    CHECK(svg.find("nan") == svg.npos);
    CHECK(svg.find("inf") == svg.npos);
  }
}

TEST_CASE("several curves have a legend, in which names come out right", "[plot][curve]") {
  std::vector<Curve> curves = falling(5, "a <b> & \"c\"");
  auto texts = [&curves](const CurveOptions& options) {
    std::vector<std::string> result;
    for (const Element& text : elements(curve_svg(curves, options), "text")) result.push_back(text.text);
    return result;
  };
  auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  CHECK_FALSE(has(texts({}), "a <b> & \"c\""));
  curves.push_back({"验证 损失", {1, 2, 3}});
  const std::vector<std::string> found = texts({.title = "d'été", .x_label = "époque", .y_label = "<loss>"});
  for (const char* text : {"a <b> & \"c\"", "验证 损失", "d'été", "époque", "<loss>"})
    CHECK(has(found, text));
}

TEST_CASE("many curves keep their legend inside a small page", "[plot][curve]") {
  std::vector<Curve> curves;
  for (int i = 0; i < 30; ++i) curves.push_back({"curve number " + std::to_string(i), {1.0 * i, 2.0 * i}});
  curves.push_back({std::string(300, 'W'), {1}});
  const std::string svg = curve_svg(curves, {.title = std::string(300, 'W'), .width = 240, .height = 240});
  const double height = elements(svg, "svg").at(0).number("height");
  double last = 0;
  for (const Element& text : elements(svg, "text")) {
    CHECK(text.number("x") + bahdanau::detail::ems_of(text.text) * text.number("font-size") / 2 < 240);
    CHECK(text.number("y") < height);
    last = std::max(last, text.number("y"));
  }
  CHECK(last > 240);
}

TEST_CASE("values can have names below them in the place of numbers", "[plot][curve]") {
  const std::vector<Curve> curves = {{"with", {40, 30, 20}}, {"without", {39, 20}}};
  const std::string svg = curve_svg(curves, {.x_ticks = {"1-4 words", "5-8", "9 & more"}});
  const std::vector<Element> texts = elements(svg, "text");
  const std::vector<Point> found = points(elements(svg, "path").at(0).attributes.at("d"));
  REQUIRE(found.size() == 3);
  std::size_t next = 0;
  for (const Element& text : texts) {
    CHECK(text.text != "1");
    if (next == 3 || text.text != std::vector<std::string>{"1-4 words", "5-8", "9 & more"}[next]) continue;
    CHECK(text.number("x") == found[next].x);
    ++next;
  }
  CHECK(next == 3);
  CHECK(found[2].x - found[1].x == Catch::Approx(found[1].x - found[0].x).margin(0.02));
  CHECK_THROWS_MATCHES(curve_svg(curves, {.x_ticks = {"1", "2"}}), Error,
                       Message("curve: expected an x_tick for each of 3 values, got 2"));
}

TEST_CASE("a curve is dashed where that is asked for, or all colours are taken", "[plot][curve]") {
  using bahdanau::plot::Stroke;
  std::vector<Curve> curves(10, Curve{"curve", {1, 2}});
  curves[1].stroke = Stroke::dashed;
  curves[9].stroke = Stroke::solid;
  const std::vector<Element> paths = elements(curve_svg(curves), "path");
  REQUIRE(paths.size() == 20);  // and the legend's
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK((paths[i].attributes.count("stroke-dasharray") == 1) == (i == 1 || i == 8));
    CHECK((paths[10 + i].attributes.count("stroke-dasharray") == 1) == (i == 1 || i == 8));
  }
}

TEST_CASE("the same curves give the same picture", "[plot][curve]") {
  CHECK(curve_svg(falling(250)) == curve_svg(falling(250)));
}

TEST_CASE("curves with nothing to draw and pages of no size are refused", "[plot][curve]") {
  CHECK_THROWS_MATCHES(curve_svg({}), Error, Message("curve: expected at least one finite value, got none"));
  CHECK_THROWS_AS(curve_svg(std::vector<Curve>{{"loss", {}}}), Error);
  CHECK_THROWS_AS(curve_svg(std::vector<Curve>{{"loss", {no_value, infinity}}}), Error);
  CHECK_THROWS_MATCHES(curve_svg(std::vector<Curve>{{"loss", {0, -1}}}, {.log_y = true}), Error,
                       Message("curve: expected at least one positive value, got none"));
  CHECK_THROWS_MATCHES(curve_svg(falling(3), {.width = 10}), Error,
                       Message("curve: expected a picture of 240x240 to 10000x10000 pixels, got 10x420"));
  CHECK_THROWS_AS(curve_svg(falling(3), {.height = no_value}), Error);
}

TEST_CASE("curves are written as a file, and refused ones leave the old file", "[plot][curve]") {
  const bahdanau::test::TemporaryDirectory directory;
  bahdanau::plot::curve(directory / "loss.svg", falling(20), {.title = "loss"});
  const std::string expected = curve_svg(falling(20), {.title = "loss"});
  CHECK(bahdanau::test::contents(directory / "loss.svg") == expected);
  CHECK_THROWS_AS(bahdanau::plot::curve(directory / "loss.svg", std::vector<Curve>{}), Error);
  CHECK(bahdanau::test::contents(directory / "loss.svg") == expected);
}
