// A model as a picture for papers and pages: its policies, the tensors of each part with their shapes, and
// what goes from part to part. As SVG, from a model or from its file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/io/tensor_info.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/model_parts.hpp>
#include <bahdanau/plot/svg.hpp>

namespace bahdanau::plot {

/// How a diagram looks.
struct DiagramOptions {
  std::string title = {};
};

}  // namespace bahdanau::plot

namespace bahdanau::detail {

/// A part of a model in a diagram: a box with a title, a line below it, and its tensors.
struct DiagramBox {
  std::string title, subtitle;
  std::string_view fill, stroke;
  std::vector<std::string> lines = {};
  std::size_t numbers = 0;  // in all its tensors
  double x = 0, y = 0, width = 0, height = 0;

  double middle() const { return x + width / 2; }
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// A count with commas: 1,234,567.
inline std::string grouped_digits(std::size_t value) {
  std::string out = text(value);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, 1, ',');
  return out;
}

/// Where everything stands in a diagram, in pixels; also writes it. Three columns: what reads the source,
/// what attends, what writes the target.
class DiagramPicture {
 public:
  DiagramPicture(const plot::ModelParts& parts, const plot::DiagramOptions& options) : parts_(parts) {
    const Config& config = parts.config;
    const std::string layers = text(config.layers) + (config.layers == 1 ? " layer of " : " layers of ") +
                               text(config.hidden) + (config.residual ? ", residual" : "");
    const std::string words = " words, " + text(config.embed) + " wide";
    title_ = visible(options.title);
    source_ = {"Source embedding", grouped_digits(parts.source_words) + words, "#f4f1ea", "#d8d1c2"};
    const bool recurrent = !parts.encoder.starts_with("convolutional");
    encoder_ = {"Encoder: " + parts.encoder,
                recurrent ? parts.cell + ", " + layers : text(config.hidden) + " wide", "#e8f0e9", "#b5cdb9"};
    bridge_ = {"Bridge", "the decoder's first state", "#e8f0e9", "#b5cdb9"};
    attention_ = {"Attention: " + parts.score, "softmax over the keys", "#fbeedd", "#e3c394"};
    target_ = {"Target embedding", grouped_digits(parts.target_words) + words, "#f4f1ea", "#d8d1c2"};
    decoder_ = {"Decoder: " + parts.decoder, parts.cell + ", " + layers, "#e4edf8", "#adc5e4"};
    readout_ = {"Readout: " + parts.readout, "what the output layer reads", "#e4edf8", "#adc5e4"};
    dense_ = {"Output layer",
              grouped_digits(parts.target_words) + " logits" + (config.tied ? ", tied to the embedding" : ""),
              "#f4f1ea", "#d8d1c2"};
    for (const auto& tensor : parts.tensors) take(tensor);
    place();
  }

  std::string text_of() const {
    std::string out = svg_begin(width_, height_, title_.empty() ? "diagram of a model" : title_);
    out +=
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" "
        "fill=\"#77716a\"/></marker></defs>\n";
    if (!title_.empty()) out += svg_text(margin, margin + 15, 16, title_, attribute("font-weight", "bold"));
    const auto down = [&](const DiagramBox& from, const DiagramBox& to, std::string_view name = {}) {
      arrow(out, {{from.middle(), from.bottom()}, {from.middle(), to.y}}, name);
    };
    word(out, source_.middle(), source_.y, "source words");
    word(out, target_.middle(), target_.y, "the word before");
    down(source_, encoder_);
    down(target_, decoder_);
    const bool attends = parts_.score != "none";
    const double at = encoder_.y + 34;
    if (attends) {
      arrow(out, {{encoder_.right(), at}, {attention_.x, at}}, "keys");
      arrow(out, {{attention_.right(), at}, {decoder_.x, at}}, "context");
      arrow(out, {{decoder_.x, at + 40}, {attention_.right(), at + 40}}, "query");
    }
    // The first state goes below the attention.
    const DiagramBox& last = bridged() ? bridge_ : encoder_;
    if (bridged()) down(encoder_, bridge_);
    const double low = last.bottom() - 18;
    const double lane = std::max(low, attends ? attention_.bottom() + 22 : low);
    if (lane > low)
      arrow(out,
            {{last.middle(), last.bottom()},
             {last.middle(), lane},
             {decoder_.x - 26, lane},
             {decoder_.x - 26, decoder_.bottom() - 16},
             {decoder_.x, decoder_.bottom() - 16}},
            "first state");
    else
      arrow(out,
            {{last.right(), low},
             {decoder_.x - 26, low},
             {decoder_.x - 26, decoder_.bottom() - 16},
             {decoder_.x, decoder_.bottom() - 16}},
            "first state");
    down(decoder_, has_readout() ? readout_ : dense_, "state");
    if (has_readout()) down(readout_, dense_);
    for (const DiagramBox* box : boxes()) draw(out, *box);
    arrow(out, {{dense_.middle(), dense_.bottom()}, {dense_.middle(), dense_.bottom() + 26}});
    out += svg_text(dense_.middle(), dense_.bottom() + 42, 13, "the next word",
                    attribute("text-anchor", "middle"));
    out += svg_text(
        margin, height_ - margin, 12,
        grouped_digits(total_) + " parameters" +
            (parts_.config.dropout > 0 ? ", dropout " + exact_digits(parts_.config.dropout) : std::string()),
        attribute("fill", "#77716a"));
    return out += "</svg>\n";
  }

 private:
  struct Point {
    double x, y;
  };
  static constexpr double margin = 20, gap = 92, down_gap = 34, line = 15, padding = 12;
  static constexpr std::size_t most_lines = 14;

  /// Each tensor is a line of the part that its name belongs to.
  void take(const plot::ModelParts::Tensor& tensor) {
    const auto begins = [&](std::string_view prefix) { return tensor.name.starts_with(prefix); };
    DiagramBox& box = begins("encoder.embedding")    ? source_
                      : begins("encoder.")           ? encoder_
                      : begins("decoder.bridge")     ? bridge_
                      : begins("decoder.attention.") ? attention_
                      : begins("decoder.embedding")  ? target_
                      : begins("decoder.readout")    ? readout_
                      : begins("decoder.dense")      ? dense_
                                                     : decoder_;
    std::size_t count = 1;
    for (const std::size_t extent : tensor.shape) count *= extent;
    const std::size_t dot = tensor.name.find('.');
    box.lines.push_back(visible(dot == tensor.name.npos ? tensor.name : tensor.name.substr(dot + 1)) + " " +
                        bracketed(tensor.shape));
    box.numbers += count;
    total_ += count;
  }

  bool bridged() const { return !bridge_.lines.empty(); }
  bool has_readout() const { return !readout_.lines.empty() || parts_.readout != "linear"; }
  std::vector<const DiagramBox*> boxes() const {
    std::vector<const DiagramBox*> out{&source_, &encoder_, &target_, &decoder_, &dense_};
    if (parts_.score != "none") out.push_back(&attention_);
    if (bridged()) out.push_back(&bridge_);
    if (has_readout()) out.push_back(&readout_);
    return out;
  }

  static void measure(DiagramBox& box) {
    if (box.lines.size() > most_lines) {
      const std::size_t more = box.lines.size() - most_lines + 1;
      box.lines.resize(most_lines - 1);
      box.lines.push_back("and " + text(more) + " more");
    }
    if (box.numbers > 0) box.subtitle += ", " + grouped_digits(box.numbers);
    box.width = std::max(ems_of(box.title) * 14, ems_of(box.subtitle) * 12);
    for (const std::string& each : box.lines) box.width = std::max(box.width, ems_of(each) * 11);
    box.width += 2 * padding;
    box.height = 2 * padding + 34 + line * static_cast<double>(box.lines.size());
  }

  void place() {
    const std::vector<std::vector<DiagramBox*>> columns{
        {&source_, &encoder_, &bridge_}, {&attention_}, {&target_, &decoder_, &readout_, &dense_}};
    const double first = margin + (title_.empty() ? 0 : 30) + 34;
    double x = margin;
    for (const auto& column : columns) {
      double widest = 0;
      for (DiagramBox* box : column) {
        measure(*box);
        if (box != &attention_ || parts_.score != "none") widest = std::max(widest, box->width);
      }
      for (DiagramBox* box : column) {
        box->x = x;
        box->width = widest;
      }
      if (widest > 0) x += widest + gap;
    }
    width_ = std::max(x - gap + margin, ems_of(title_) * 16 + 2 * margin);
    source_.y = target_.y = first;
    encoder_.y = decoder_.y = attention_.y = std::max(source_.bottom(), target_.bottom()) + down_gap;
    attention_.height = std::max(attention_.height, 90.0);
    decoder_.height = std::max(decoder_.height, 130.0);  // three arrows come in or go out
    bridge_.y = encoder_.bottom() + down_gap;
    readout_.y = decoder_.bottom() + down_gap;
    dense_.y = (has_readout() ? readout_ : decoder_).bottom() + down_gap;
    height_ = std::max({dense_.bottom() + 50, (bridged() ? bridge_ : encoder_).bottom() + 40,
                        attention_.bottom() + 50}) +
              2 * margin;
  }

  static void draw(std::string& out, const DiagramBox& box) {
    out += "<rect" + attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
           attribute("height", box.height) + attribute("rx", 9.0) + attribute("fill", box.fill) +
           attribute("stroke", box.stroke) + "/>\n";
    double y = box.y + padding + 12;
    out += svg_text(box.x + padding, y, 14, box.title, attribute("font-weight", "bold"));
    out += svg_text(box.x + padding, y += 18, 12, box.subtitle, attribute("fill", "#55504a"));
    y += 4;
    for (const std::string& each : box.lines) out += svg_text(box.x + padding, y += line, 11, each);
  }

  static void word(std::string& out, double x, double y, std::string_view text) {
    out += svg_text(x, y - 24, 13, text, attribute("text-anchor", "middle"));
    arrow(out, {{x, y - 18}, {x, y}});
  }

  static void arrow(std::string& out, const std::vector<Point>& points, std::string_view name = {}) {
    std::string path;
    for (const Point& point : points)
      path += (path.empty() ? "M" : "L") + svg_number(point.x) + " " + svg_number(point.y);
    out += "<path" + attribute("d", path) +
           " fill=\"none\" stroke=\"#77716a\" stroke-width=\"1.4\" marker-end=\"url(#tip)\"/>\n";
    if (name.empty()) return;
    // At its longest level piece, else beside its first one.
    Point from = points[0], to = points[1];
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      if (points[i].y == points[i + 1].y &&
          (from.y != to.y || std::abs(points[i + 1].x - points[i].x) > std::abs(to.x - from.x))) {
        from = points[i];
        to = points[i + 1];
      }
    out += from.y == to.y
               ? svg_text((from.x + to.x) / 2, from.y - 6, 11, name, attribute("text-anchor", "middle"))
               : svg_text(from.x + 8, (from.y + to.y) / 2 + 4, 11, name);
  }

  plot::ModelParts parts_;
  std::string title_;
  DiagramBox source_, encoder_, bridge_, attention_, target_, decoder_, readout_, dense_;
  std::size_t total_ = 0;
  double width_ = 0, height_ = 0;
};

}  // namespace bahdanau::detail

namespace bahdanau::plot {

/// The model as an SVG document: what reads the source on the left, the attention, what writes the target on
/// the right; each part with its policy, its tensors and their shapes.
inline std::string diagram_svg(const ModelParts& parts, const DiagramOptions& options = {}) {
  return detail::DiagramPicture(parts, options).text_of();
}

/// Writes that document; the old file stays if this throws.
inline void diagram(const std::filesystem::path& path, const ModelParts& parts,
                    const DiagramOptions& options = {}) {
  write_atomically(path, diagram_svg(parts, options));
}
template <class Model>
requires requires(const Model& model) { ModelParts::of(model); }
void diagram(const std::filesystem::path& path, const Model& model, const DiagramOptions& options = {}) {
  diagram(path, ModelParts::of(model), options);
}

}  // namespace bahdanau::plot
