// JSON from strangers: parsed with a limit on depth and without duplicate keys.
// The values inside a model file's metadata come through here.
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
inline nlohmann::json parse_json(const std::string& where, std::string_view text, int max_depth = 4) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::unordered_set<std::string>> keys;  // of the objects around the current place
  const auto watch = [&](int depth, Event event, nlohmann::json& value) {
    if (depth > max_depth) fail(where, "JSON at most " + detail::text(max_depth) + " deep", "deeper");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      fail(where, "distinct keys", quote(value.get<std::string>()) + " twice");
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::exception& e) {
    fail(where, "JSON", quote(text.substr(0, 40)), e.what());
  }
}

}  // namespace bahdanau::detail
