// JSON from strangers (RFC 8259), read event by event. By hand: a general library takes over a second to
// compile, and makes of a text a tree many times its size; this keeps nothing but the string at hand.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <utf8proc.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau::detail {

/// What a reader has come upon; `natural` and `negative` are whole numbers of 64 bits, `real` is any other.
enum class JsonEvent {
  object,
  object_end,
  array,
  array_end,
  key,
  string,
  natural,
  negative,
  real,
  boolean,
  null,
  end
};

/// Goes through a text from event to event. It allocates nothing but the string at hand, and that only if it
/// has escapes. Throws `where: expected X, got Y` for what is not JSON, not UTF-8, or nested deeper than
/// allowed.
class JsonReader {
 public:
  /// `what` is how errors call the text; without it they quote how it begins. At most 64 levels.
  JsonReader(std::string where, std::string_view text, unsigned max_depth, std::string_view what = {})
      : where_(std::move(where)), what_(what), text_(text), max_depth_(max_depth) {}

  /// Goes on to the next event; `end` only after the whole text.
  JsonEvent next() {
    skip_space();
    if (event_ == JsonEvent::key) return event_ = value();
    if (depth_ == 0) {
      if (at_ < text_.size()) refuse_syntax();
      return event_ = JsonEvent::end;
    }
    if (take(in_object() ? '}' : ']')) return event_ = close();
    if (event_ != JsonEvent::object && event_ != JsonEvent::array) {
      if (!take(',')) refuse_syntax();
      skip_space();
    }
    return event_ = in_object() ? key() : value();
  }

  JsonEvent event() const { return event_; }
  const std::string& where() const { return where_; }

  /// The key, string, number or word at hand; the view lives until the next event.
  std::string_view view() const { return escaped_ ? std::string_view(buffer_) : plain_; }
  /// The key or string at hand, given away.
  std::string take_string() { return escaped_ ? std::move(buffer_) : std::string(plain_); }
  /// The number at hand, if it is natural, and the double nearest to any number.
  std::uint64_t natural() const { return natural_; }
  double real() const { return real_; }

  /// The event at hand as it stands in a message.
  std::string describe() const {
    switch (event_) {
      case JsonEvent::object:
        return "an object";
      case JsonEvent::array:
        return "an array";
      case JsonEvent::string:
        return "a string";
      case JsonEvent::natural:
        return detail::text(natural_);
      case JsonEvent::negative:
        return detail::text(negative_);
      case JsonEvent::real:
        return quote(plain_);
      case JsonEvent::boolean:
        return "a boolean";
      default:
        return "null";
    }
  }

 private:
  [[noreturn]] void refuse_syntax() const {
    const bool zero = at_ < text_.size() && text_[at_] == '\0';
    const std::string error =
        (zero ? "a zero at its byte " : "a syntax error at its byte ") + detail::text(at_ + 1);
    if (!what_.empty()) fail(where_, what_, error);
    fail(where_, "JSON", quote(text_.substr(0, 40)), error);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }
  bool in_object() const { return (objects_ & 1U) != 0; }

  JsonEvent value() {
    switch (peek()) {
      case '{':
        return open(JsonEvent::object);
      case '[':
        return open(JsonEvent::array);
      case '"':
        read_string();
        return JsonEvent::string;
      case 't':
        read_word("true");
        return JsonEvent::boolean;
      case 'f':
        read_word("false");
        return JsonEvent::boolean;
      case 'n':
        read_word("null");
        return JsonEvent::null;
      default:
        return read_number();
    }
  }

  JsonEvent open(JsonEvent event) {
    if (depth_ == max_depth_) fail(where_, "JSON at most " + detail::text(max_depth_) + " deep", "deeper");
    ++at_, ++depth_;
    objects_ = objects_ << 1U | (event == JsonEvent::object ? 1U : 0U);
    return event;
  }
  JsonEvent close() {
    const JsonEvent event = in_object() ? JsonEvent::object_end : JsonEvent::array_end;
    --depth_;
    objects_ >>= 1U;
    return event;
  }

  JsonEvent key() {
    if (peek() != '"') refuse_syntax();
    read_string();
    skip_space();
    if (!take(':')) refuse_syntax();
    return JsonEvent::key;
  }

  void read_word(std::string_view word) {
    plain_ = word;
    for (const char c : word)
      if (!take(c)) refuse_syntax();
  }

  void read_string() {
    const std::size_t begin = ++at_;
    skip_characters();
    escaped_ = !take('"');
    plain_ = text_.substr(begin, at_ - begin - (escaped_ ? 0 : 1));
    if (!escaped_) return;
    // What escapes stand for is shorter than they are, so the buffer grows once.
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    buffer_.clear();
    buffer_.reserve(end - begin);
    buffer_ = plain_;
    while (!take('"')) {
      if (!take('\\')) refuse_syntax();
      read_escape();
      const std::size_t from = at_;
      skip_characters();
      buffer_.append(text_, from, at_ - from);
    }
  }

  // Up to a quote, an escape, or what may not stand in a string.
  void skip_characters() {
    while (at_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte < 0x20U || byte == '"' || byte == '\\') return;
      utf8proc_int32_t value = 0;
      const auto bytes = byte < 0x80U
                             ? 1
                             : utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + at_,
                                                static_cast<utf8proc_ssize_t>(text_.size() - at_), &value);
      if (bytes < 1) refuse_syntax();
      at_ += static_cast<std::size_t>(bytes);
    }
  }

  void read_escape() {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (const auto found = letters.find(peek()); found != letters.npos) {
      ++at_;
      buffer_ += meanings[found];
      return;
    }
    utf8proc_int32_t value = read_unit();
    if (value >= 0xD800 && value < 0xE000) {  // half of a pair; the other half must follow
      if (value >= 0xDC00 || !take('\\')) refuse_syntax();
      const utf8proc_int32_t low = read_unit();
      if (low < 0xDC00 || low >= 0xE000) refuse_syntax();
      value = 0x10000 + (value - 0xD800) * 0x400 + (low - 0xDC00);
    }
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto count = utf8proc_encode_char(value, bytes.data());
    buffer_.append(bytes.data(), bytes.data() + count);
  }

  // The four digits after \u.
  utf8proc_int32_t read_unit() {
    if (!take('u')) refuse_syntax();
    utf8proc_int32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek(), small = static_cast<char>(c | 0x20);
      if (!is_digit(c) && (small < 'a' || small > 'f')) refuse_syntax();
      value = value * 16 + (is_digit(c) ? c - '0' : small - 'a' + 10);
    }
    return value;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void read_digits() {
    if (!is_digit(peek())) refuse_syntax();
    while (is_digit(peek())) ++at_;
  }

  JsonEvent read_number() {
    const std::size_t begin = at_;
    const bool negative = take('-');
    if (!take('0')) read_digits();
    const std::size_t whole = at_;
    if (take('.')) read_digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      read_digits();
    }
    plain_ = text_.substr(begin, at_ - begin);
    escaped_ = false;
    const char *first = plain_.data(), *last = first + plain_.size();
    if (std::from_chars(first, last, real_).ec != std::errc{}) {  // no double is near
      --at_;
      refuse_syntax();
    }
    if (at_ != whole) return JsonEvent::real;
    if (negative ? std::from_chars(first, last, negative_).ec != std::errc{}
                 : std::from_chars(first, last, natural_).ec != std::errc{})
      return JsonEvent::real;
    return negative ? JsonEvent::negative : JsonEvent::natural;
  }

  std::string where_;
  std::string_view what_, text_;
  std::size_t at_ = 0;
  unsigned depth_ = 0, max_depth_;
  std::uint64_t objects_ = 0;  // a bit for each level around, the innermost lowest: an object, or an array
  JsonEvent event_ = JsonEvent::key;  // at the start, as after a key, a value must follow
  std::string_view plain_;            // the string, number or word at hand, as it stands in the text
  bool escaped_ = false;              // the string at hand is in the buffer instead
  std::string buffer_;
  std::uint64_t natural_ = 0;
  std::int64_t negative_ = 0;
  double real_ = 0;
};

}  // namespace bahdanau::detail
