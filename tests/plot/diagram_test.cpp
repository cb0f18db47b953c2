// The diagram of a model: all its parts, tensors and shapes, well-formed, and inside its page.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/plot/diagram.hpp>

#include "plot/xml.hpp"
#include "support/catch.hpp"

using namespace bahdanau;
using bahdanau::test::Element;
using bahdanau::test::elements;

namespace {

std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> out;
  for (const Element& text : elements(svg, "text")) out.push_back(text.text);
  return out;
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

TEST_CASE("a diagram has every part, its tensors and how many numbers they have", "[plot][diagram]") {
  const auto parts =
      plot::ModelParts::read(BAHDANAU_GOLDEN_DIR "/gru_additive_uni_l1_valid.model.safetensors");
  const std::string svg = plot::diagram_svg(parts, {.title = "a <model> & more"});
  const std::vector<std::string> texts = texts_of(svg);
  CHECK(has(texts, "a <model> & more"));
  std::size_t total = 0;
  for (const auto& tensor : parts.tensors) {
    std::size_t count = 1;
    for (const std::size_t extent : tensor.shape) count *= extent;
    total += count;
    CHECK(has(texts, tensor.name.substr(tensor.name.find('.') + 1) + " " + detail::bracketed(tensor.shape)));
  }
  CHECK(has(texts, detail::grouped_digits(total) + " parameters"));
  for (const char* name : {"Encoder: unidirectional", "Attention: additive", "Decoder: attend_then_step",
                           "Output layer", "keys", "context", "query", "first state"})
    CHECK(has(texts, name));
  CHECK_FALSE(has(texts, "Bridge"));
  CHECK(detail::grouped_digits(1234567) == "1,234,567");
  CHECK(detail::grouped_digits(999) == "999");
}

TEST_CASE("models of papers are drawn with their own parts, inside of the page", "[plot][diagram]") {
  for (const std::string name :
       {"rnnsearch_l3", "sutskever_l3", "nematus_l3", "gehring_l1", "multi_head_l1"}) {
    const auto parts = plot::ModelParts::read(BAHDANAU_GOLDEN_DIR "/" + name + ".model.safetensors");
    const std::string svg = plot::diagram_svg(parts);
    const std::vector<std::string> texts = texts_of(svg);
    CHECK(has(texts, "Attention: " + parts.score) == (parts.score != "none"));
    CHECK(has(texts, "Bridge") == (parts.encoder != "unidirectional"));
    CHECK(has(texts, "Decoder: " + parts.decoder));
    const Element page = elements(svg, "svg").at(0);
    const std::vector<Element> boxes = elements(svg, "rect");
    for (const Element& box : boxes) {
      if (!box.attributes.contains("x")) continue;
      CHECK(box.number("x") + box.number("width") < page.number("width"));
      CHECK(box.number("y") + box.number("height") < page.number("height"));
      for (const Element& other : boxes) {  // no box lies on another
        if (&other == &box || !other.attributes.contains("x")) continue;
        const bool apart = other.number("x") >= box.number("x") + box.number("width") ||
                           box.number("x") >= other.number("x") + other.number("width") ||
                           other.number("y") >= box.number("y") + box.number("height") ||
                           box.number("y") >= other.number("y") + other.number("height");
        CHECK(apart);
      }
    }
  }
}
