// A page in one file: style, script and data, nothing that is fetched, and nothing in the data that could be
// taken for markup.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/base64.hpp>
#include <bahdanau/core/digits.hpp>
#include <bahdanau/io/json_writer.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/page/style.hpp>
#include <bahdanau/plot/svg.hpp>
#include <bahdanau/plot/weights.hpp>

namespace bahdanau::detail {

/// JSON as it may stand in a script element: `<`, `>` and `&`, which only strings have, as escapes.
inline std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      out.append("\\u00").append(hex_byte(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out;
}

/// A number with a few digits, so that pages stay small; null where there is none.
inline void append_rounded(std::string& out, double value, int digits = 4) {
  out += std::isfinite(value) ? fixed_digits(value, digits) : "null";
}

/// Text and numbers of a page's data. What is invisible, or would reorder the text around it, is made
/// visible.
inline void append_text(std::string& out, std::string_view text) { append_json(out, visible(text)); }

inline void append_tokens(std::string& out, std::span<const std::string> tokens) {
  char before = '[';
  for (const std::string& token : tokens) {
    append_text(out += before, token);
    before = ',';
  }
  out += tokens.empty() ? "[]" : "]";
}

/// Weights from 0 to 1, each as twelve bits in two digits of base64.
inline std::string packed_weights(std::span<const float> weights) {
  constexpr float largest = 4095;
  std::string out;
  out.reserve(2 * weights.size());
  for (const float weight : weights) {
    const auto bits = static_cast<unsigned>(std::lround(std::clamp(weight, 0.0F, 1.0F) * largest));
    out += base64_digits[bits >> 6U];
    out += base64_digits[bits & 63U];
  }
  return out;
}

/// Throws unless attention is [target tokens, keys] with weights from 0 to 1; there may be no keys.
inline void require_page_attention(std::string_view where, const Translation& translation) {
  const auto& attention = translation.attention;
  const std::size_t targets = translation.target.size();
  if (attention.shape()[0] != targets)
    fail(where, "attention of " + text(targets) + " target tokens", text(attention.shape()[0]));
  if (translation.log_probs.size() != targets)
    fail(where, "ln p of " + text(targets) + " target tokens", text(translation.log_probs.size()));
  if (attention.size() > 0) require_attention(where, translation);
}

/// {"text":…,"target":[…],"score":…,"log_probs":[…],"keys":n,"attention":"…"}, and "heads" and "runners_up"
/// where there are some; without the last brace.
inline void append_page_translation(std::string& out, const Translation& translation) {
  const std::size_t keys = translation.attention.shape()[1];
  append_text(out += R"({"text":)", translation.text);
  append_tokens(out += R"(,"target":)", translation.target);
  append_rounded(out += R"(,"score":)", translation.score);
  out += R"(,"log_probs":[)";
  for (std::size_t t = 0; t < translation.log_probs.size(); ++t)
    append_rounded(out += t == 0 ? "" : ",", translation.log_probs[t]);
  out += R"(],"keys":)" + text(keys) + R"(,"attention":")" +
         packed_weights({translation.attention.data(), translation.attention.size()}) + '"';
  if (const std::size_t heads = translation.heads.shape()[0]; heads > 0 && translation.heads.size() > 0) {
    const std::size_t size = translation.heads.size() / heads;
    for (std::size_t h = 0; h < heads; ++h)
      out += (h == 0 ? R"(,"heads":[")" : R"(",")") +
             packed_weights({translation.heads.data() + h * size, size});
    out += "\"]";
  }
  if (translation.runners_up.empty()) return;
  char before = '[';
  out += R"(,"runners_up":)";
  for (const auto& others : translation.runners_up) {
    out += before;
    out += '[';
    for (std::size_t i = 0; i < others.size(); ++i) {
      append_text(out += i == 0 ? "[" : ",[", others[i].token);
      append_rounded(out += ',', others[i].log_prob);
      out += ']';
    }
    out += ']';
    before = ',';
  }
  out += ']';
}

/// The whole document. `head` is markup of ours for its head. A page of a server's may ask that server, with
/// `connects`.
inline std::string html_document(std::string_view title, std::string_view head, std::string_view json,
                                 std::initializer_list<std::string_view> scripts, bool connects = false) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // Nothing is fetched, whatever the data say.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
  out.append(connects ? "; connect-src 'self'\">\n" : "\">\n")
      .append("<link rel=\"icon\" href=\"data:,\">\n");
  out.append(head).append("<title>").append(escape_xml(title)).append("</title>\n<style>");
  out.append(page_style).append("</style>\n</head>\n<body>\n");
  out +=
      "<noscript><p style=\"padding: 20px\">This page draws with JavaScript, which is off.</p></noscript>\n";
  out.append("<script type=\"application/json\" id=\"data\">").append(script_safe(json));
  out.append("</script>\n<script>\n(() => {");
  for (const std::string_view script : scripts) out.append(script);
  return out += "})();\n</script>\n</body>\n</html>\n";
}

}  // namespace bahdanau::detail
