// What must hold of every translation, whatever the sentence, the options and the model.
#pragma once

#include <cstddef>

#include <bahdanau/model/translation.hpp>

#include "fuzz.hpp"

namespace bahdanau::fuzz {

/// `most` is the limit on its target tokens.
inline void check_translation(const Translation& t, std::size_t most) {
  require(is_plain(t.text), "a translation is one line of UTF-8", t.text);
  require(t.target.size() <= most, "a translation stays within its limit", std::to_string(t.target.size()));
  require(t.log_probs.size() == t.target.size(), "every token has its log-probability");
  require(t.attention.shape(0) == t.target.size() && t.attention.shape(1) == t.source.size(),
          "every token has its attention over the source");
  require(t.target.empty() == t.source.empty(), "only an empty sentence has an empty translation");
}

}  // namespace bahdanau::fuzz
