// Any bytes as JSON: our reader must see what nlohmann_json sees, event by event, or both must refuse.
// What our writer makes of a string is read back.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/io/json.hpp>
#include <bahdanau/io/json_value.hpp>
#include <bahdanau/io/json_writer.hpp>

#include "fuzz.hpp"
#include "seeds.hpp"

namespace bd = bahdanau;

namespace {

using Events = std::vector<std::string>;
constexpr unsigned deepest = 64;

/// A real number to the bit.
std::string real(double value) { return "real " + bd::detail::number_text(value); }

/// Our reader's events; false where it refuses.
bool ours(std::string_view text, Events& events) {
  return bd::fuzz::accepted([&] {
    bd::detail::JsonReader reader("input", text, deepest);
    using enum bd::detail::JsonEvent;
    for (auto event = reader.next(); event != end; event = reader.next()) {
      bd::fuzz::require(bd::fuzz::is_plain(reader.describe()), "a description is plain text");
      switch (event) {
        case object:
          events.emplace_back("{");
          break;
        case object_end:
          events.emplace_back("}");
          break;
        case array:
          events.emplace_back("[");
          break;
        case array_end:
          events.emplace_back("]");
          break;
        case key:
          events.push_back("key " + reader.take_string());
          break;
        case string:
          events.push_back("string " + std::string(reader.view()));
          break;
        case natural:
          events.push_back("whole " + std::to_string(reader.natural()));
          break;
        case negative:
          events.push_back("whole " + reader.describe());
          break;
        case real:
          events.push_back(::real(reader.real()));
          break;
        case boolean:
          events.emplace_back(reader.view());
          break;
        case null:
          events.emplace_back("null");
          break;
        case end:
          break;
      }
    }
  });
}

/// The same events from nlohmann_json.
struct Peer : nlohmann::json_sax<nlohmann::json> {
  Events events;
  std::size_t depth = 0, most = 0;
  bool tiny = false;  // a number so small that it is 0: ours has no double near it, and refuses

  bool open(const char* what) {
    events.emplace_back(what);
    most = std::max(most, ++depth);
    return true;
  }
  bool close(const char* what) {
    events.emplace_back(what);
    --depth;
    return true;
  }
  bool null() override { return events.emplace_back("null"), true; }
  bool boolean(bool value) override { return events.emplace_back(value ? "true" : "false"), true; }
  bool number_integer(number_integer_t value) override {
    return events.push_back("whole " + std::to_string(value)), true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    return events.push_back("whole " + std::to_string(value)), true;
  }
  bool number_float(number_float_t value, const string_t& text) override {
    tiny = tiny || (value == 0 && text.find_first_of("123456789") < text.find_first_of("eE"));
    return events.push_back(real(value)), true;
  }
  bool string(string_t& value) override { return events.push_back("string " + value), true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open("{"); }
  bool key(string_t& value) override { return events.push_back("key " + value), true; }
  bool end_object() override { return close("}"); }
  bool start_array(std::size_t) override { return open("["); }
  bool end_array() override { return close("]"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Events events;
  const bool read = ours(text, events);
  Peer peer;
  const bool peer_read = nlohmann::json::sax_parse(text.begin(), text.end(), &peer);
  // The peer takes a zero byte for the end, whatever follows, and allows a byte-order mark.
  const bool lenient = text.find('\0') != text.npos || text.starts_with("\xEF\xBB\xBF");
  const bool stricter = peer.most > deepest || peer.tiny || lenient;
  bd::fuzz::require(read ? peer_read : !peer_read || stricter, "both accept a text, or both refuse it");
  if (read) bd::fuzz::require(events == peer.events, "both see the same in a text");

  // Values of known kinds: the way that metadata is read.
  bd::fuzz::accepted([&] {
    bd::detail::JsonValues in("input", text, 4);
    in.object(
        {{"layers", "a number", [&] { in.whole(1, 100); }},
         {"dropout", "a number", [&] { in.number(); }, false},
         {"lowercase", "true or false", [&] { in.boolean(); }, false},
         {"cell", "a string", [&] { in.string(); }, false},
         {"epochs", "an array", [&] { in.array("an array", [&](std::size_t) { in.number(); }); }, false}});
    in.finish();
  });

  // Whatever is UTF-8 survives being written.
  if (bd::fuzz::accepted([&] { bd::detail::require_utf8("input", text); })) {
    std::string written;
    bd::detail::append_json(written, text);
    bd::detail::JsonValues in("input", written, 1);
    bd::fuzz::require(in.string() == text, "a string that was written is read back");
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bd::fuzz::seeds(*argc, *argv, [](const std::filesystem::path& folder) {
    const std::vector<std::string> texts = {
        R"({"layers":2,"dropout":0.1,"lowercase":true,"cell":"gru","epochs":[1,-2,3.5e-7]})",
        R"(["<unk>","<pad>","\u00e9\ud83d\ude00","\"\\\/\b\f\n\r\t",""])",
        R"([0,-0,-0.0,18446744073709551615,18446744073709551616,-9223372036854775808,-9223372036854775809,)"
        R"(1e308,1e999,1e-999,5e-324,0.1E+1])",
        " [ true , false , null , { } , [ ] ] ",
        std::string(64, '[') + std::string(64, ']'),
        std::string(65, '[') + std::string(65, ']'),
        R"({"a":{"a":{"a":{"a":{"a":1}}}}})",
        R"("\ud800")",
        R"("\udc00\ud800")",
        R"({"layers":1,"layers":2})"};
    for (std::size_t i = 0; i < texts.size(); ++i)
      bd::fuzz::write_seed(folder / ("seed-" + std::to_string(i)), texts[i]);
  });
  return 0;
}
