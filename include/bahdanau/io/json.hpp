// JSON from strangers: parsed with a limit on depth and without duplicate keys.
// A template, as all that touches JSON here: who never reads a file does not pay for compiling the parser.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau::detail {

/// Parses a text; throws `where: expected ...` for anything but JSON at most `max_depth` deep with distinct
/// keys.
template <class Json = nlohmann::json>
Json parse_json(const std::string& where, std::string_view text, int max_depth = 4) {
  using Event = typename Json::parse_event_t;
  std::vector<std::unordered_set<std::string>> keys;  // of the objects around the current place
  const auto watch = [&](int depth, Event event, Json& value) {
    if (depth > max_depth) fail(where, "JSON at most " + detail::text(max_depth) + " deep", "deeper");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.template get<std::string>()).second)
      fail(where, "distinct keys", quote(value.template get<std::string>()) + " twice");
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const typename Json::exception& e) {
    fail(where, "JSON", quote(text.substr(0, 40)), e.what());
  }
}

}  // namespace bahdanau::detail
