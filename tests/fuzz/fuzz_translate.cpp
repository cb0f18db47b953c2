// Any bytes as sentences and any options of a search, for two small models: words and characters.
// The first bytes choose the options, the rest are sentences, one per line.
#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/decode/forced.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/plot/heatmap.hpp>
#include <bahdanau/score/additive.hpp>

#include "check_translation.hpp"
#include "fuzz.hpp"
#include "seeds.hpp"

namespace bd = bahdanau;
using bd::fuzz::accepted;
using bd::fuzz::check_translation;
using bd::fuzz::require;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Bidirectional>;

bd::Vocabularies vocabularies(bd::Tokens tokens) {
  return {bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "a", "b", "c", "d", "é", ".", "!"}),
          bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "x", "y", "z", "."}),
          {tokens, true, 6}};
}

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (lines.size() < 10) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The limit that a search keeps to: what was asked for, or the documented default, in which there is room
/// for what must be there.
std::size_t limit(std::size_t asked, std::size_t source, std::size_t shortest = 0) {
  return asked != 0 ? asked
                    : std::max({std::size_t{6}, std::min<std::size_t>(2 * source + 10, 1000), shortest});
}

/// What a search is told of its translations, known words and others.
struct Told {
  std::size_t min_length = 0;
  std::string prefix;
  std::vector<std::string> forbidden, required;
  double coverage_penalty = 0;
  static constexpr std::size_t most_tokens = 12;  // of prefix and required words, and `<eos>`

  explicit Told(bd::fuzz::Input& input) {
    if (input.take<std::uint8_t>() % 2 == 0) return;
    min_length = input.one_of<std::size_t>({0, 0, 1, 2, 5, 15, 65537, huge});
    prefix = word(input);
    coverage_penalty = input.one_of({0.0, 0.2, 1e308, -1.0});
    for (auto* list : {&forbidden, &required})
      for (int count = input.take<std::uint8_t>() % 3; count > 0; --count) list->push_back(word(input));
  }
  std::size_t shortest() const { return std::max<std::size_t>(min_length, most_tokens); }

 private:
  static std::string word(bd::fuzz::Input& input) {
    return input.one_of<const char*>({"", "x", "y", "x y", "z z.", "<unk>", "<eos>", "q", "\xff", "\t"});
  }
};

/// What the request may cost; what is wide must be bounded, as a server would.
bd::Limits limits_from(bd::fuzz::Input& input, bool wide) {
  using Clock = std::chrono::steady_clock;
  bd::Limits limits;
  limits.source_tokens = input.one_of<std::size_t>({0, 0, 0, 1, 2, 5, huge});
  limits.target_tokens = input.one_of<std::size_t>({0, 0, 0, 1, 2, 5, huge});
  limits.beam = input.one_of<std::size_t>({0, 0, 0, 1, 2, 5, huge});
  limits.memory = input.one_of<std::size_t>({0, 0, 0, 1, std::size_t{1} << 20U, std::size_t{1} << 21U, huge});
  const auto late = input.one_of({0, 0, 0, 0, -1, 1});
  if (late != 0) limits.deadline = Clock::now() + std::chrono::seconds(late);
  if (wide) {
    limits.memory = std::min(limits.memory - 1, std::size_t{1} << 26U) + 1;  // 0: no limit
    limits.deadline = std::min(limits.deadline, Clock::now() + std::chrono::seconds(1));
  }
  return limits;
}

template <class Options>
void search(const Model& model, const std::vector<std::string>& lines, Options options, const Told& told) {
  options.min_length = told.min_length;
  options.prefix = told.prefix;
  options.forbidden = told.forbidden;
  std::vector<bd::Translation> all;
  if (!accepted([&] { all = model.translate(lines, options); })) return;
  require(all.size() == lines.size(), "every sentence has a translation");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bd::Limits& limits = options.limits;
    check_translation(all[i], limit(options.max_length, all[i].source.size(), told.shortest()));
    if (!all[i].target.empty() && all[i].target.back() == "<eos>")
      require(all[i].target.size() >= told.min_length, "a translation has its shortest length");
    require(limits.source_tokens == 0 || all[i].source.size() <= limits.source_tokens,
            "a source is within its limit");
    require(limits.target_tokens == 0 || all[i].target.size() <= limits.target_tokens,
            "a target is within its limit");
    for (const double log_prob : all[i].log_probs) require(log_prob <= 0, "a probability is at most 1");
  }
  // A sentence's company changes no bit.
  auto without_deadline = options;
  without_deadline.limits.deadline = std::chrono::steady_clock::time_point::max();
  const bd::Translation alone = model.translate(lines.back(), without_deadline);
  require(alone.target == all.back().target && alone.log_probs == all.back().log_probs,
          "a translation does not depend on the other sentences", all.back().text + " | " + alone.text);
}

void run(const Model& model, bd::fuzz::Input& input) {
  const auto what = input.take<std::uint8_t>() % 8;
  const auto max_length = input.one_of<std::size_t>({0, 1, 2, 3, 7, 20});
  const bool replace_unknown = input.take<std::uint8_t>() % 2 != 0;
  const auto threads = input.one_of<std::size_t>({1, 1, 1, 1, 1, 1, 2, huge / 4 + 1, huge});
  const auto width = input.one_of<std::size_t>({1, 2, 3, 5, 8, 11, 0, 40, 65537, huge / 2, huge / 2 + 1,
                                                huge / 2 + 2, huge / 2 + 3, huge, 1000, 65536});
  const auto nbest = input.one_of<std::size_t>({1, 2, 3, 8, 0, 1000, huge});
  const auto power = input.take<std::uint8_t>() % 2 == 0
                         ? input.one_of({0.75, 0.0, 1.0, -1.0, 1e3, -1e3, 1e308, -1e308})
                         : input.take<double>();
  const bd::Limits limits = limits_from(input, width > 40);
  const Told told(input);
  const std::vector<std::string> lines = lines_of(input.rest());
  if (what < 3) {
    search(model, lines,
           bd::Greedy{.max_length = max_length,
                      .replace_unknown = replace_unknown,
                      .threads = threads,
                      .limits = limits},
           told);
  } else {
    bd::Beam beam{.width = width,
                  .nbest = nbest,
                  .length_power = power,
                  .max_length = max_length,
                  .replace_unknown = replace_unknown,
                  .threads = threads,
                  .limits = limits};
    beam.required = told.required;
    beam.coverage_penalty = told.coverage_penalty;
    search(model, lines, beam, told);
    accepted([&] {
      for (const auto& list : bd::translate_nbest(model, lines, beam)) {
        require(!list.empty() && list.size() <= std::max<std::size_t>(nbest, 1),
                "there are 1 to nbest translations");
        for (const bd::Translation& t : list)
          check_translation(t, limit(max_length, t.source.size(), told.shortest()));
      }
    });
  }
  if (what != 7) return;
  std::vector<bd::SentencePair> pairs;
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) pairs.push_back({lines[i], lines[i + 1]});
  accepted([&] {
    for (const bd::Translation& scored : bd::score_pairs(model, pairs, 3)) {
      check_translation(scored, scored.target.size());
      static const bd::fuzz::File picture("picture");
      bd::plot::heatmap(picture.path(), scored, {.title = lines.front()});
      require(picture.read().ends_with("</svg>\n"), "a picture is written to its end");
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Model words({.embed = 4, .hidden = 5, .layers = 2}, vocabularies(bd::Tokens::words), 3);
  static const Model characters({.embed = 3, .hidden = 4, .layers = 1}, vocabularies(bd::Tokens::characters),
                                4);
  bd::fuzz::Input input(data, size);
  if (input.take<std::uint8_t>() % 2 == 0) {
    run(words, input);
  } else {
    run(characters, input);
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bd::fuzz::seeds(*argc, *argv, [](const std::filesystem::path& folder) {
    const std::vector<std::string> texts = {"a b c .",
                                            "",
                                            "A é unknown!\n\nb\nd d d d d d d d d d d d",
                                            "bad \xFF bytes\na",
                                            "a b\nx y\nc d\nz .\n",
                                            "\xC4\xB0 \xC2\x85\t\xF0\x9F\x98\x80 <eos> <pad>"};
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (char what = 0; what < 8; ++what)
        for (char model = 0; model < 2; ++model)
          for (char width = 0; width < 5; ++width) {
            const auto nbest = static_cast<char>(width % 3);
            const std::string options = {model, what, '\0', '\1', '\0', width, nbest,
                                         '\0',  '\0', '\0', '\0', '\0', '\0',  '\0'};
            bd::fuzz::write_seed(folder / ("seed-" + std::to_string(i) + std::to_string(what) +
                                           std::to_string(model) + std::to_string(width)),
                                 options + texts[i]);
          }
    const std::string many = "a b c d é . ! a b c d e f g h i j k l m n o p q r s t u v w x y z ";
    bd::fuzz::write_seed(folder / "long", std::string(14, '\0') + many + many + many);
  });
  return 0;
}
