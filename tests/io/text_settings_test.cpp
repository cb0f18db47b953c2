// What a model file says of its text: each side's settings, and what version 0.1 wrote.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/io/text_settings.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/batches.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau::test;
namespace bd = bahdanau;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

std::string written(const bd::TextOptions& text) { return bd::detail::to_json(text).text(); }

bd::TextOptions read(const std::string& json) {
  bd::detail::JsonValues in("FILE", json, 4);
  bd::TextOptions text = bd::detail::read_text_options(
      in, 1000, [](std::string_view, const std::string&) { return std::shared_ptr<const bd::Subwords>(); });
  in.finish();
  return text;
}

/// Pieces of two letters, as a stranger may split words.
class Pairs final : public bd::Subwords {
 public:
  /// What is noted beside the letters is in the bytes alone.
  explicit Pairs(std::string letters, const std::string& note = "")
      : letters_(std::move(letters)), bytes_(letters_ + note) {}
  std::string_view kind() const override { return "pairs_of_letters"; }
  const std::string& bytes() const override { return bytes_; }
  std::vector<std::string> pieces() const override {
    std::vector<std::string> out;
    for (const char a : letters_) {
      out.emplace_back(1, a);
      for (const char b : letters_) out.push_back(std::string{a, b});
    }
    return out;
  }
  std::vector<std::string> split(std::string_view text) const override {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < text.size(); i += 2) out.emplace_back(text.substr(i, 2));
    return out;
  }
  std::vector<std::string> sample(std::string_view text, const bd::SubwordSampling&,
                                  bd::random::Key) const override {
    return split(text);
  }
  std::string join(std::span<const std::string> pieces) const override {
    std::string out;
    for (const std::string& piece : pieces) out += piece;
    return out;
  }

 private:
  std::string letters_, bytes_;
};

/// Writes a model's file with other metadata.
void save_with(const Model& model, const std::filesystem::path& path, const std::string& key,
               const std::string& json) {
  model.save(path);
  const auto file = bd::SafetensorsFile::open(path);
  bd::SafetensorsWriter writer;
  for (const auto& [name, info] : file.tensors()) writer.add(name, info.shape, file.read<float>(name));
  for (const auto& [name, value] : file.metadata())
    if (name != key) writer.metadata(name, value);
  writer.metadata(key, json);
  writer.write(path);
}

}  // namespace

TEST_CASE("text settings that 0.1 had are written as it wrote them", "[io][text]") {
  CHECK(written({}) == R"({"tokens":"words","lowercase":true})");
  CHECK(written({bd::Tokens::none, false, 9, true}) ==
        R"({"tokens":"none","lowercase":false,"max_length":9,"reverse_source":true})");
  const bd::TextSide words{};
  CHECK(written({.source = words, .target = words}) == written({}));
  // Its characters had no spaces: a file says so by what it does not say.
  const bd::TextOptions old = read(R"({"tokens":"characters","lowercase":true})");
  CHECK_FALSE(old.source_side().spaces);
  CHECK_FALSE(old.target_side().spaces);
  CHECK(written(old) == R"({"tokens":"characters","lowercase":true})");
}

TEST_CASE("settings of each side come back from a file", "[io][text]") {
  const bd::TextOptions text{.max_length = 7,
                             .source = bd::TextSide{.tokens = bd::Tokens::words_and_marks,
                                                    .truecase = true,
                                                    .language = bd::Language::french},
                             .target = bd::TextSide{.tokens = bd::Tokens::characters, .lowercase = false}};
  CHECK(written(text) ==
        R"({"source":{"tokens":"words_and_marks","lowercase":false,"truecase":true,"language":"french"},)"
        R"("target":{"tokens":"characters","lowercase":false,"spaces":true},"max_length":7})");
  CHECK(read(written(text)) == text);
  const bd::TextOptions characters{.tokens = bd::Tokens::characters};
  CHECK(read(written(characters)) == characters);
  CHECK(characters.source_side().spaces);

  const TemporaryDirectory directory;
  bd::Vocabularies v = numbered(9, 11, 7);
  v.text = text;
  const Model model({.embed = 3, .hidden = 4, .layers = 1}, v, 1);
  model.save(directory / "m");
  CHECK(Model::load(directory / "m").vocabularies() == v);
}

TEST_CASE("text settings that are none are refused by name", "[io][text][error]") {
  const auto said = [](const std::string& json) { return message_of([&] { read(json); }); };
  const std::string side = R"({"tokens":"words","lowercase":true})";
  CHECK(said(R"({"lowercase":true})") == "FILE: expected \"tokens\": a string, got none");
  CHECK(said(R"({"tokens":"words"})") == "FILE: expected \"lowercase\": true or false, got none");
  CHECK(said(R"({"source":)" + side + "}") == "FILE: expected \"target\": an object, got none");
  CHECK(said(R"({"tokens":"words","lowercase":true,"source":)" + side + R"(,"target":)" + side + "}") ==
        "FILE: expected \"tokens\" and \"lowercase\", or \"source\" and \"target\", got both");
  CHECK(said(R"({"tokens":"words","lowercase":true,"casing":1})") ==
        "FILE: expected only the keys tokens, lowercase, max_length, reverse_source, source, target, got "
        "\"casing\"");
  CHECK(said(R"({"source":{"tokens":"words","lowercase":true,"spce":1},"target":)" + side + "}") ==
        "FILE.source: expected only the keys tokens, lowercase, truecase, language, spaces, subwords, got "
        "\"spce\"");
  CHECK(said(R"({"source":{"tokens":"syllables","lowercase":true},"target":)" + side + "}") ==
        "tokens: expected \"words\", \"words_and_marks\", \"characters\", \"none\" or \"subwords\", got "
        "\"syllables\"");
}

TEST_CASE("a file carries its subwords, and says who can read them", "[io][text][subwords]") {
  const TemporaryDirectory directory;
  const auto path = directory / "m";
  const bd::TextSide side{.tokens = bd::Tokens::subwords, .subwords = std::make_shared<Pairs>("abc")};
  const std::vector<bd::SentencePair> pairs{{"abca", "cab"}, {"bbb", "ab"}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.source = side, .target = side});
  CHECK(corpus.vocabularies().source.size() == 4 + 3 + 9);  // all pieces, whether the text has them or not
  CHECK(corpus.vocabularies().source_tokens("abca") == std::vector<std::string>{"ab", "ca"});
  const Model model({.embed = 3, .hidden = 4, .layers = 1}, corpus.vocabularies(), 1);
  model.save(path);
  CHECK(message_of([&] { Model::load(path); }) ==
        path.string() +
            ": metadata \"source_subwords\": expected a program that can read subwords of the kind "
            "\"pairs_of_letters\", got one that cannot");
  bd::detail::SubwordReaders::process().add(
      "pairs_of_letters", [](const std::string&, std::string bytes) -> std::shared_ptr<const bd::Subwords> {
        return std::make_shared<Pairs>(std::move(bytes));
      });
  const Model loaded = Model::load(path);
  CHECK(loaded.vocabularies() == model.vocabularies());
  CHECK(loaded.translate("abca", bd::Greedy{.max_length = 5}).text ==
        model.translate("abca", bd::Greedy{.max_length = 5}).text);
}

TEST_CASE("data whose subwords are another model's have another fingerprint", "[io][text][checkpoint]") {
  const auto fingerprint = [](const std::string& note, bool source) {
    const std::vector<bd::SentencePair> pairs{{"abba", "baab"}};
    const bd::TextSide side{.tokens = bd::Tokens::subwords, .subwords = std::make_shared<Pairs>("ab", note)};
    const bd::Corpus corpus = source ? bd::Corpus::from_pairs(pairs, {.source = side})
                                     : bd::Corpus::from_pairs(pairs, {.target = side});
    return bd::fingerprint(corpus);
  };
  for (const bool source : {true, false}) {
    CHECK(fingerprint("", source) == fingerprint("", source));
    CHECK(fingerprint("scores 1 2", source) != fingerprint("scores 2 1", source));
    CHECK(fingerprint("123456789", source) != fingerprint("123456780", source));
  }
}

TEST_CASE("subwords that no side has are refused", "[io][text][subwords][error]") {
  const TemporaryDirectory directory;
  const auto path = directory / "m";
  const Model model({.embed = 3, .hidden = 4, .layers = 1}, numbered(9, 11, 7), 1);
  for (const std::string key : {"source_subwords", "target_subwords", "shared_subwords"}) {
    save_with(model, path, key, "\"\"");
    CHECK(message_of([&] { Model::load(path); }) ==
          path.string() + ": metadata \"" + key +
              "\": expected a side of metadata \"text\" with tokens \"subwords\", got none");
  }
}

TEST_CASE("a model of characters of version 0.1, which had no spaces, translates without them",
          "[io][text]") {
  const TemporaryDirectory directory;
  const auto path = directory / "m";
  const bd::TextSide characters{.tokens = bd::Tokens::characters};
  const std::vector<bd::SentencePair> pairs{{"a b", "b a"}};
  const auto corpus =
      bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .source = characters, .target = characters});
  const Model model({.embed = 3, .hidden = 4, .layers = 1}, corpus.vocabularies(), 1);
  save_with(model, path, "text", R"({"tokens":"characters","lowercase":true})");
  const Model loaded = Model::load(path);
  CHECK(loaded.vocabularies().source_tokens("a B") == std::vector<std::string>{"a", "b"});
  CHECK(model.vocabularies().source_tokens("a B") == std::vector<std::string>{"a", "\u2581", "b"});
  CHECK(loaded.translate("a b").source == loaded.translate("ab").source);
  CHECK(loaded.vocabularies().target_text(std::vector<std::string>{"b", "a"}) == "ba");
}

TEST_CASE("a program without SentencePiece says what it lacks for a file that needs it",
          "[io][text][subwords][error]") {
  const bd::detail::SubwordReaders none;  // those of a program that includes no component
  CHECK(message_of([&] { none.read("m: metadata \"source_subwords\"", "sentencepiece", "bytes"); }) ==
        "m: metadata \"source_subwords\": expected a program that can read subwords of the kind "
        "\"sentencepiece\", got one that cannot; include <bahdanau/text/sentencepiece.hpp> and link "
        "bahdanau::sentencepiece");
}
