// Settings as text, by name: what a checkpoint keeps, and what processes that train together must share.
#pragma once

#include <map>
#include <string>

namespace bahdanau::detail {

using Settings = std::map<std::string, std::string>;

/// A setting's text, "none" where it is absent.
[[gnu::noinline]] inline std::string setting(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "none" : found->second;
}

/// The first name, of those in `a` and then of those in `b`, of which they have different texts; null if
/// there is none.
[[gnu::noinline]] inline const std::string* first_difference(const Settings& a, const Settings& b) {
  for (const Settings* names : {&a, &b})
    for (const auto& [key, unused] : *names)
      if (setting(a, key) != setting(b, key)) return &key;
  return nullptr;
}

}  // namespace bahdanau::detail
