// JSON values that must be of one kind, and objects whose keys are known beforehand.
// What is wrong with them is said with the key's name: `where.key: expected a number, got a string`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/json.hpp>

namespace bahdanau::detail {

/// A key of an object, and what reads its value. It only refers to `read`: fields are made where they are
/// used.
struct JsonField {
  template <std::invocable Read>
  JsonField(std::string_view key, std::string_view type, const Read& read, bool is_required = true)
      : name(key),
        kind(type),
        required(is_required),
        read_(std::addressof(read)),
        call_([](const void* object) { (*static_cast<const Read*>(object))(); }) {}

  void read() const { call_(read_); }

  std::string_view name, kind;  // the kind stands in `expected "layers": a number, got none`
  bool required;

 private:
  const void* read_;
  void (*call_)(const void*);
};

/// Reads values: each function begins at the event at hand, ends at the value's last one, and throws for a
/// value of another kind.
class JsonValues {
 public:
  JsonValues(std::string where, std::string_view text, unsigned max_depth)
      : reader_(std::move(where), text, max_depth) {
    reader_.next();
  }

  bool is_null() const { return reader_.event() == JsonEvent::null; }

  std::string string() {
    expect(JsonEvent::string, "a string");
    return reader_.take_string();
  }
  bool boolean() {
    expect(JsonEvent::boolean, "true or false");
    return reader_.view() == "true";
  }
  double number() {
    if (reader_.event() != JsonEvent::natural && reader_.event() != JsonEvent::negative)
      expect(JsonEvent::real, "a number");
    return reader_.real();
  }
  std::uint64_t whole(std::uint64_t least = 0,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    if (reader_.event() != JsonEvent::natural || reader_.natural() < least || reader_.natural() > most)
      refuse("a whole number from " + text(least) + " to " + text(most), reader_.describe());
    return reader_.natural();
  }

  /// Calls `read(i)` at each element of an array, and returns how many there were.
  template <class Read>
  std::size_t array(std::string_view what, const Read& read) {
    expect(JsonEvent::array, what);
    std::size_t count = 0;
    while (reader_.next() != JsonEvent::array_end) read(count++);
    return count;
  }

  /// Calls `read(key)` at each value of an object, whatever the keys are; `refuse_twice` is for the caller.
  template <class Read>
  void members(const Read& read) {
    expect(JsonEvent::object, "a JSON object");
    while (reader_.next() == JsonEvent::key) {
      const std::string key = reader_.take_string();
      reader_.next();
      read(key);
    }
  }

  /// Reads an object with these fields in any order. Throws for a key that is missing or there twice, and for
  /// one that is not known: ignored, it would be a setting without effect.
  void object(std::initializer_list<JsonField> fields) {
    std::uint64_t seen = 0;  // a bit for each field, the first lowest
    members([&](const std::string& key) { seen |= read_field(fields, key, seen); });
    for (const JsonField& field : fields) {
      if (field.required && (seen & 1U) == 0)
        refuse(quote(field.name) + ": " + std::string(field.kind), "none");
      seen >>= 1U;
    }
  }

  /// Throws unless the text ends here.
  void finish() { reader_.next(); }

  /// Throws `where.key: expected X, got Y`, unless the rest is no JSON: then that is said instead.
  [[noreturn]] void refuse(const std::string& expected, const std::string& got) {
    while (reader_.next() != JsonEvent::end) continue;
    fail(reader_.where() + path_, expected, got);
  }
  [[noreturn]] void refuse_twice(std::string_view key) { refuse("distinct keys", quote(key) + " twice"); }

 private:
  void expect(JsonEvent event, std::string_view kind) {
    if (reader_.event() != event) refuse(std::string(kind), reader_.describe());
  }

  // Reads the value of a key, and returns the field's bit.
  std::uint64_t read_field(std::initializer_list<JsonField> fields, const std::string& key,
                           std::uint64_t seen) {
    std::uint64_t bit = 1;
    std::string names;
    for (const JsonField& field : fields) {
      if (field.name == key) {
        if ((seen & bit) != 0) refuse_twice(key);
        const std::size_t length = path_.size();
        path_.append(".").append(key);
        field.read();
        path_.resize(length);
        return bit;
      }
      bit <<= 1U;
      names.append(names.empty() ? "" : ", ").append(field.name);
    }
    refuse("only the keys " + names, quote(key));
  }

  JsonReader reader_;
  std::string path_;  // the keys around the value at hand, each with a dot before it
};

}  // namespace bahdanau::detail
