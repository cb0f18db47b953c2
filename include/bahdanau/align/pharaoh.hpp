// Alignments as text, in Pharaoh's format: a line a sentence pair, `0-0 1-2 2?1` links words of source and
// target, counted from 0. `-` is a sure link; `?` or `p` one that is only possible.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <bahdanau/align/alignment.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/text/lines.hpp>

namespace bahdanau {

/// The links of a line; an empty one has none. `where` stands in messages.
/// Throws for what is no link, and for words beyond the millionth.
inline Alignment parse_pharaoh(std::string_view where, std::string_view line) {
  constexpr std::string_view spaces = " \t";
  constexpr std::size_t farthest = 1'000'000;
  std::vector<Link> out;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
    if (line.empty()) return Alignment(std::move(out));
    const std::string_view word = line.substr(0, line.find_first_of(spaces));
    line.remove_prefix(word.size());
    const char* const end = word.data() + word.size();
    Link link;
    const auto source = std::from_chars(word.data(), end, link.source);
    const bool marked = source.ec == std::errc{} && source.ptr != end;
    const char mark = marked ? *source.ptr : ' ';
    const auto target = std::from_chars(marked ? source.ptr + 1 : end, end, link.target);
    if ((mark != '-' && mark != '?' && mark != 'p') || target.ec != std::errc{} || target.ptr != end)
      fail(where, "links such as 0-1, or 0?1 and 0p1 for possible ones", detail::quote(word));
    if (link.source >= farthest || link.target >= farthest)
      fail(where, "words before the " + detail::text(farthest) + "th", detail::quote(word));
    link.sure = mark == '-';
    out.push_back(link);
  }
}

/// The line of an alignment, without its end.
inline std::string pharaoh_text(const Alignment& alignment) {
  std::string out;
  for (const Link& link : alignment.links()) {
    if (!out.empty()) out += ' ';
    out += detail::text(link.source) + (link.sure ? '-' : '?') + detail::text(link.target);
  }
  return out;
}

/// Reads a file of alignments, one per line. Throws `path:line: expected X, got Y` for a line that is none.
inline std::vector<Alignment> read_pharaoh(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream || std::filesystem::is_directory(path))
    fail(path.string(), "a file of alignments", "none that can be read");
  detail::LineReader lines(stream, path.string());
  std::vector<Alignment> out;
  while (lines.next()) out.push_back(parse_pharaoh(lines.where(), lines.line_text()));
  return out;
}

}  // namespace bahdanau
