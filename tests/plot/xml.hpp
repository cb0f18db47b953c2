// A small strict reader of XML, for tests of what the pictures write.
// It knows elements, attributes and five entities; anything else is an exception, so a test cannot pass on
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

namespace bahdanau::test {

/// An element with its attributes and the text directly inside it, entities resolved.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;

  double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
};

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  /// All elements in the order in which they begin; throws unless the document is well-formed.
  std::vector<Element> read() {
    check_characters();
    if (text_.starts_with("<?xml")) at_ = text_.find("?>") + 2;
    while (at_ < text_.size()) {
      if (text_[at_] != '<') {
        const std::string between = resolve(take_until('<'));
        if (!open_.empty()) {
          elements_[open_.back()].text += between;
        } else if (between.find_first_not_of(" \n") != between.npos) {
          fail("text outside the root");
        }
      } else if (text_.substr(at_).starts_with("</")) {
        at_ += 2;
        const std::string_view name = take_until('>');
        if (open_.empty() || elements_[open_.back()].name != name) fail("the wrong closing tag");
        open_.pop_back();
        ++at_;
      } else {
        begin_element();
      }
    }
    if (!open_.empty() || elements_.empty()) fail("no end of the root");
    return elements_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_));
  }

  void check_characters() const {
    for (std::size_t i = 0; i < text_.size();) {
      utf8proc_int32_t value = 0;
      auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + i,
                                     static_cast<utf8proc_ssize_t>(text_.size() - i), &value);
      if (length <= 0) throw std::runtime_error("not UTF-8 at byte " + std::to_string(i));
      if ((value < 0x20 && value != '\n') || value == 0x7F || value == 0xFFFE || value == 0xFFFF) {
        throw std::runtime_error("a control character at byte " + std::to_string(i));
      }
      i += static_cast<std::size_t>(length);
    }
  }

  std::string_view take_until(char stop) {
    const std::size_t begin = at_;
    at_ = std::min(text_.find(stop, at_), text_.size());
    if (at_ == text_.size() && stop != '<') fail("the end of the document");
    return text_.substr(begin, at_ - begin);
  }

  std::string resolve(std::string_view raw) const {
    static const std::map<std::string_view, char> entities = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '<') fail("a bare <");
      if (raw[i] != '&') {
        out += raw[i];
        continue;
      }
      const std::size_t end = raw.find(';', i);
      if (end == raw.npos || !entities.contains(raw.substr(i + 1, end - i - 1))) fail("a bare &");
      out += entities.at(raw.substr(i + 1, end - i - 1));
      i = end;
    }
    return out;
  }

  void begin_element() {
    if (elements_.empty() != open_.empty()) fail("a second root");
    ++at_;
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" />", at_), text_.size());
    Element element{std::string(text_.substr(begin, at_ - begin)), {}, {}};
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      const std::string name(take_until('='));
      if (text_.substr(at_, 2) != "=\"") fail("an attribute without quotes");
      at_ += 2;
      if (!element.attributes.emplace(name, resolve(take_until('"'))).second) fail("an attribute twice");
      ++at_;
    }
    const bool closed = text_.substr(at_).starts_with("/>");
    if (!closed && !text_.substr(at_).starts_with(">")) fail("an unfinished tag");
    at_ += closed ? 2 : 1;
    if (!closed) open_.push_back(elements_.size());
    elements_.push_back(element);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<std::size_t> open_;
};

/// The elements of that name; throws unless the document is well-formed.
inline std::vector<Element> elements(std::string_view document, std::string_view name) {
  std::vector<Element> found;
  for (const Element& element : XmlReader(document).read()) {
    if (element.name == name) found.push_back(element);
  }
  return found;
}

}  // namespace bahdanau::test
