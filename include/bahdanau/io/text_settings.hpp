// The `text` of a model file: how each side's text becomes tokens, and the subword models that this takes.
// Where both sides are as version 0.1 could have them, it is what 0.1 wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <bahdanau/core/base64.hpp>
#include <bahdanau/io/json_value.hpp>
#include <bahdanau/io/json_writer.hpp>
#include <bahdanau/text/text_options.hpp>

namespace bahdanau::detail {

/// Whether 0.1 had such settings, but for `max_length` and the like: the same for both sides, and nothing of
/// what has come since.
inline bool is_plain(const TextOptions& text) {
  const TextSide source = text.source_side();
  const bool known = source.tokens == Tokens::words || source.tokens == Tokens::none ||
                     (source.tokens == Tokens::characters && !source.spaces);
  return known && !source.truecase && source.language == Language::none && source == text.target_side();
}

inline JsonObject to_json(const TextSide& side) {
  JsonObject out;
  out.add("tokens", name(side.tokens)).add("lowercase", side.lowercase && !side.truecase);
  if (side.truecase) out.add("truecase", true);
  if (side.language != Language::none) out.add("language", name(side.language));
  if (side.tokens == Tokens::characters) out.add("spaces", side.spaces);
  if (side.subwords) out.add("subwords", side.subwords->kind());
  return out;
}

inline JsonObject to_json(const TextOptions& text) {
  JsonObject out;
  if (is_plain(text)) {
    const TextSide both = text.source_side();
    out.add("tokens", name(both.tokens)).add("lowercase", both.lowercase);
  } else {
    out.add("source", to_json(text.source_side())).add("target", to_json(text.target_side()));
  }
  if (text.max_length != 0) out.add("max_length", text.max_length);
  if (text.reverse_source) out.add("reverse_source", true);
  return out;
}

/// Reads one side. `subwords(kind)` finds the model of that kind which the file has for it.
template <class FindSubwords>
TextSide read_text_side(JsonValues& in, const FindSubwords& subwords) {
  TextSide side;
  side.spaces = false;  // unless it says so
  std::string kind;
  in.object({{"tokens", "a string", [&] { side.tokens = tokens_from_name(in.string()); }},
             {"lowercase", "true or false", [&] { side.lowercase = in.boolean(); }},
             {"truecase", "true or false", [&] { side.truecase = in.boolean(); }, false},
             {"language", "a string", [&] { side.language = language_from_name(in.string()); }, false},
             {"spaces", "true or false", [&] { side.spaces = in.boolean(); }, false},
             {"subwords", "a string", [&] { kind = in.string(); }, false}});
  if (!kind.empty()) side.subwords = subwords(kind);
  return side;
}

/// Reads the object that `to_json` writes. `subwords(side, kind)` finds a side's model.
template <class FindSubwords>
TextOptions read_text_options(JsonValues& in, std::uint64_t largest, const FindSubwords& subwords) {
  TextOptions text;
  bool tokens = false, lowercase = false;
  const auto side = [&](std::string_view which) {
    return read_text_side(in, [&](const std::string& kind) { return subwords(which, kind); });
  };
  in.object({{"tokens", "a string",
              [&] {
                text.tokens = tokens_from_name(in.string());
                tokens = true;
              },
              false},
             {"lowercase", "true or false",
              [&] {
                text.lowercase = in.boolean();
                lowercase = true;
              },
              false},
             {"max_length", "a number", [&] { text.max_length = in.whole(1, largest); }, false},
             {"reverse_source", "true or false", [&] { text.reverse_source = in.boolean(); }, false},
             {"source", "an object", [&] { text.source = side("source"); }, false},
             {"target", "an object", [&] { text.target = side("target"); }, false}});
  const bool sides = text.source && text.target;
  if (sides && (tokens || lowercase))
    in.refuse("\"tokens\" and \"lowercase\", or \"source\" and \"target\"", "both");
  if (!sides && text.source) in.refuse("\"target\": an object", "none");
  if (!sides && text.target) in.refuse("\"source\": an object", "none");
  if (!sides && !tokens) in.refuse("\"tokens\": a string", "none");
  if (!sides && !lowercase) in.refuse("\"lowercase\": true or false", "none");
  // So it was in 0.1, which dropped spaces.
  if (!sides && text.tokens == Tokens::characters)
    text.source = text.target = TextSide{.tokens = text.tokens, .lowercase = text.lowercase, .spaces = false};
  return text;
}

}  // namespace bahdanau::detail
