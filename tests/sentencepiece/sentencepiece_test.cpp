// Subwords by SentencePiece: learnt, split, joined, sampled, kept in a model file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/text/sentencepiece.hpp>

#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau::test;
namespace bd = bahdanau;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> some_sentences() {
  std::vector<std::string> out;
  for (const char* who : {"he", "she", "Tom", "the walker", "my teacher"})
    for (const char* does : {"walked", "is walking", "walks", "teaches", "was teaching", "talked"})
      for (const char* where : {"home", "to the town", "in the garden", "slowly", "today"})
        out.push_back(std::string(who) + " " + does + " " + where + ".");
  return out;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += (out.empty() ? "" : "|") + piece;
  return out;
}

}  // namespace

TEST_CASE("pieces are learnt, and text comes back from them", "[subwords]") {
  const auto pieces = bd::SentencePiece::train(some_sentences(), {.pieces = 320});
  CHECK(pieces->kind() == "sentencepiece");
  CHECK(pieces->pieces().size() <= 320);
  for (const char* text : {"Tom walks home.", "the talker teaches slowly", "Ünïcode 你好 😀 zzz",
                           "« guillemets » “quotes” ，。"}) {
    INFO(text);
    CHECK(pieces->join(pieces->split(text)) == text);
  }
  CHECK(pieces->split("  Tom   walks ") == pieces->split("Tom walks"));
  CHECK(pieces->split("").empty());
  // Whatever is split is known: other characters become bytes.
  const auto v = bd::Vocabulary::of_pieces(pieces->pieces());
  for (const std::string& piece : pieces->split("Ünïcode 你好 😀")) CHECK(v.contains(piece));
  CHECK(pieces->join(std::vector<std::string>{"▁Tom", "<unk>", "▁home"}) == "Tom<unk> home");
  // The same text gives the same model.
  CHECK(bd::SentencePiece::train(some_sentences(), {.pieces = 320})->bytes() == pieces->bytes());
}

TEST_CASE("segmentations are drawn by their probabilities, from a key alone", "[subwords][sampling]") {
  const auto pieces = bd::SentencePiece::train(some_sentences(), {.pieces = 320});
  const bd::SubwordSampling how{.best = 8, .alpha = 0.2};
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto drawn = pieces->sample("the talker teaches", how, bd::random::Key{i});
    CHECK(pieces->join(drawn) == "the talker teaches");
    CHECK(drawn == pieces->sample("the talker teaches", how, bd::random::Key{i}));
    ++seen[joined(drawn)];
  }
  CHECK(seen.size() > 3);
  CHECK(seen.size() <= 8);
  const std::string best = joined(pieces->split("the talker teaches"));
  for (const auto& [way, times] : seen) CHECK(times <= seen[best] + 40);
  // A high alpha leaves the best one alone.
  for (std::uint64_t i = 0; i < 20; ++i)
    CHECK(joined(pieces->sample("the talker teaches", {.best = 8, .alpha = 1000}, bd::random::Key{i})) ==
          best);
}

TEST_CASE("a model file carries its pieces", "[subwords][io]") {
  const TemporaryDirectory directory;
  const auto path = directory / "m.safetensors";
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  std::vector<bd::SentencePair> pairs;
  for (const std::string& sentence : some_sentences()) pairs.push_back({sentence, sentence});
  const bd::TextSide side{.tokens = bd::Tokens::subwords,
                          .lowercase = false,
                          .subwords = bd::SentencePiece::train(some_sentences(), {.pieces = 320})};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.source = side, .target = side});
  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), 1);
  bd::Trainer(model, bd::Adam{.rate = 0.02}, {.epochs = 80, .progress = bd::Progress::silent}).fit(corpus);
  model.save(path);
  const Model loaded = Model::load(path);
  CHECK(loaded.vocabularies() == model.vocabularies());
  const std::string text = model.translate("Tom walks home.").text;
  CHECK(text == "Tom walks home.");
  CHECK(loaded.translate("Tom walks home.").text == text);
  const auto frozen = bd::Frozen<Model>::load(path);
  CHECK(frozen.translate("Tom walks home.").text == text);
  // Attention is that of pieces.
  const bd::Translation t = loaded.translate("my teacher talked");
  CHECK(t.source.size() == t.attention.shape(1));
  CHECK(t.source.front().starts_with("▁"));
}

TEST_CASE("a model that SentencePiece's own trainer wrote is read, and carried by a model file",
          "[subwords][io]") {
  const TemporaryDirectory directory;
  const std::vector<std::string> sentences = some_sentences();
  std::string lines;
  for (const std::string& sentence : sentences) lines += sentence + "\n";
  put(directory / "text", lines);
  // As spm_train does by default, but for the kind: its own marks, and no bytes for what has no piece.
  const std::unordered_map<std::string, std::string> arguments{{"input", (directory / "text").string()},
                                                               {"model_prefix", (directory / "p").string()},
                                                               {"vocab_size", "120"},
                                                               {"model_type", "bpe"},
                                                               {"normalization_rule_name", "nmt_nfkc"},
                                                               {"minloglevel", "2"}};
  REQUIRE(sentencepiece::SentencePieceTrainer::Train(arguments).ok());
  const auto pieces = bd::SentencePiece::read(directory / "p.model");
  CHECK(pieces->bytes() == contents(directory / "p.model"));
  CHECK(pieces->pieces().size() == 117);  // without <unk>, <s> and </s>
  CHECK(pieces->join(pieces->split("Tom walks home.")) == "Tom walks home.");
  // What nmt_nfkc holds to be the same text is given back as one.
  CHECK(pieces->join(pieces->split("\uFF34om walks\u3000home\u2026")) == "Tom walks home...");

  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  std::vector<bd::SentencePair> pairs;
  for (const std::string& sentence : sentences) pairs.push_back({sentence, sentence});
  const bd::TextSide side{.tokens = bd::Tokens::subwords, .lowercase = false, .subwords = pieces};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.source = side, .target = side});
  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), 1);
  bd::Trainer(model, bd::Adam{.rate = 0.02}, {.epochs = 20, .progress = bd::Progress::silent}).fit(corpus);
  model.save(directory / "m.safetensors");
  const Model loaded = Model::load(directory / "m.safetensors");
  CHECK(loaded.vocabularies() == model.vocabularies());
  // A character without a piece is `<unk>`, and no error.
  for (const char* text : {"Tom walks home.", "she \U0001F600 teaches"}) {
    const bd::Translation before = model.translate(text), after = loaded.translate(text);
    CHECK(after.text == before.text);
    CHECK_FALSE(after.text.empty());
    CHECK(after.text.find("\u2581") == std::string::npos);
  }
  const auto ids = loaded.vocabularies().source.encode(pieces->split("\U0001F600"));
  CHECK(std::find(ids.begin(), ids.end(), bd::reserved::unk) != ids.end());
}

TEST_CASE("a training splits text anew in each epoch, and resumes to the same bits",
          "[subwords][sampling][train]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  const TemporaryDirectory files;
  std::vector<bd::SentencePair> pairs;
  for (const std::string& sentence : some_sentences()) pairs.push_back({sentence, sentence});
  const bd::TextSide side{.tokens = bd::Tokens::subwords,
                          .lowercase = false,
                          .subwords = bd::SentencePiece::train(some_sentences(), {.pieces = 320})};
  const bd::CorpusOptions sampled{.max_length = 9, .source = side, .sampling = {.best = 8, .alpha = 0.2}};
  const auto corpus = bd::Corpus::from_pairs(pairs, sampled);
  const std::vector<std::size_t> some{3, 1, 2, 40, 41, 42, 43, 44};
  const auto tokens = [&](std::uint64_t epoch) {
    const bd::Batch batch = bd::make_batch(corpus, some, bd::random::Key{epoch});
    CHECK(batch.source.width() <= 9);
    return batch.source.tokens;
  };
  CHECK((tokens(1) == tokens(1)));
  CHECK((tokens(1).size() != tokens(2).size() || !(tokens(1) == tokens(2))));
  CHECK((bd::make_batch(corpus, some, bd::random::Key{1}).target.tokens ==
         bd::make_batch(corpus, some).target.tokens));
  const auto trained = [&](const bd::Corpus& data, std::size_t epochs, std::size_t threads, bool resume) {
    Model model({.embed = 8, .hidden = 8, .layers = 1}, data.vocabularies(), 1);
    bd::Trainer(model, bd::Adam{},
                {.epochs = epochs,
                 .threads = threads,
                 .progress = bd::Progress::silent,
                 .checkpoint = files / "c",
                 .resume = resume})
        .fit(data);
    return model.weights().read();
  };
  const auto whole = trained(corpus, 3, 1, false);
  trained(corpus, 1, 2, false);
  CHECK((trained(corpus, 3, 2, true) == whole));
  CHECK((trained(bd::Corpus::from_pairs(pairs, {.max_length = 9, .source = side}), 3, 1, false) != whole));
  CHECK(message_of([&] { bd::Corpus::from_pairs(pairs, {.sampling = {.best = 8}}); }) ==
        "Corpus: expected subwords on a side, where segmentations are sampled, got none");
}

TEST_CASE("what is no model of pieces is refused", "[subwords][error]") {
  CHECK(message_of([] { bd::SentencePiece::train(std::vector<std::string>{}); }) ==
        "SentencePiece::train: expected at least one sentence, got none");
  CHECK(message_of([] { bd::SentencePiece::from_bytes("bytes", "no model"); }) ==
        "bytes: expected a SentencePiece model, got other bytes, or a part of one alone");
  CHECK(message_of([] { bd::SentencePiece::read("/nowhere/x.model"); }) ==
        "/nowhere/x.model: expected a file that can be read, got none");
  CHECK_THAT(message_of([] { bd::SentencePiece::train(std::vector<std::string>{"a b"}, {.pieces = 7}); }),
             ContainsSubstring("expected at least 8 pieces, got 7"));
  CHECK(message_of([] {
          bd::SentencePiece::train(std::vector<std::string>{"abc ab", "你好"}, {.pieces = 260});
        }) ==
        "SentencePiece::train: expected more than 265 pieces, as the text has 6 characters that each need "
        "one, got "
        "260; a lower character_coverage leaves the rarest to bytes");
}

namespace {

/// A field of protobuf's: a string or a message.
std::string field(unsigned number, const std::string& content) {
  std::string out(1, static_cast<char>(number << 3U | 2U));
  for (std::size_t size = content.size();; size >>= 7U) {
    out += static_cast<char>((size & 0x7FU) | (size > 0x7F ? 0x80U : 0U));
    if (size <= 0x7F) return out + content;
  }
}
std::string piece(const std::string& text) { return field(1, field(1, text)); }
std::string table(const std::string& bytes) { return field(3, field(2, bytes)); }
/// Numbers of 32 bits, the lowest byte first.
std::string words(std::initializer_list<std::uint32_t> values, std::size_t count) {
  std::string out;
  for (const std::uint32_t value : values)
    for (unsigned b = 0; b < 32; b += 8) out += static_cast<char>(value >> b & 0xFFU);
  out.resize(4 * count, '\0');
  return out;
}

}  // namespace

TEST_CASE("a hostile model of pieces is refused before SentencePiece sees it", "[subwords][error][hostile]") {
  const auto pieces = bd::SentencePiece::train(some_sentences(), {.pieces = 320});
  const auto refused = [&](const std::string& more) {
    return message_of([&] { bd::SentencePiece::from_bytes("bytes", pieces->bytes() + more); });
  };
  const std::string whole = "bytes: expected a SentencePiece model whose table of characters is whole, got ";
  CHECK(refused(table(words({0}, 1) + std::string(40, 'a'))) == whole + "one of an impossible size");
  CHECK(refused(table("ab")) == whole + "one without a size");
  CHECK(refused(table(words({1024}, 1) + std::string(1000, '\0'))) == whole + "one of an impossible size");
  CHECK(refused(table(words({1024}, 257))) == whole + "one whose texts have no end");
  const std::string size = words({1024}, 1), end(1, '\0');
  CHECK(refused(table(size + words({256U << 10U}, 256) + end)) == whole + "one that leads out of it");
  CHECK(refused(table(size + words({(1U << 10U) | (1U << 8U), 5}, 256) + end)) ==
        whole + "one that leads out of its texts");
  CHECK(refused(piece(std::string(300000, 'a'))) ==
        "bytes: expected a SentencePiece model with pieces of at most 1000 bytes, got one of 300000");
  CHECK(
      refused(piece(std::string(1, '\0'))) ==
      "bytes: expected a SentencePiece model whose pieces have text, got one that has none, or a zero byte");
  const std::string bytes = pieces->bytes();
  CHECK_FALSE(
      message_of([&] { bd::SentencePiece::from_bytes("bytes", bytes.substr(0, bytes.size() - 1)); }).empty());
  // Whatever byte is damaged, there is an error or a model that splits: never a crash.
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    try {
      bd::SentencePiece::from_bytes("bytes", damaged)->split("Tom walks home.");
    } catch (const bd::Error&) {
    }
  }
}

TEST_CASE("a line of pieces is one line, whatever bytes are pieces", "[subwords]") {
  const bd::TextSide side{.tokens = bd::Tokens::subwords,
                          .subwords = bd::SentencePiece::train(some_sentences(), {.pieces = 320})};
  CHECK(bd::detokenize(std::vector<std::string>{"▁Tom", "<0x0A>", "▁home", "<0x09>", "<0x00>", "<0x0D>", "s"},
                       side) == "Tom  home   s");
}

TEST_CASE("a vocabulary of other pieces is refused", "[subwords][io][error]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "m.safetensors";
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  const bd::TextSide side{.tokens = bd::Tokens::subwords,
                          .subwords = bd::SentencePiece::train(some_sentences(), {.pieces = 320})};
  bd::Vocabularies v{bd::Vocabulary::of_pieces(side.subwords->pieces()), bd::Vocabulary::numbered(6), {}};
  v.text.source = side;
  Model({.embed = 4, .hidden = 4, .layers = 1}, v, 1).save(path);
  CHECK(Model::load(path).vocabularies() == v);
  v.source = bd::Vocabulary::numbered(v.source.size());
  Model({.embed = 4, .hidden = 4, .layers = 1}, v, 1).save(path);
  CHECK_THAT(message_of([&] { Model::load(path); }),
             ContainsSubstring(
                 "metadata \"source_subwords\": expected the pieces of source_vocabulary, in their order, "
                 "got others"));
}

TEST_CASE("segmentations of a model that has but one are not sampled", "[subwords][sampling][error]") {
  // A later field counts: the model says that it is another kind.
  const auto other = bd::SentencePiece::from_bytes(
      "bytes", bd::SentencePiece::train(some_sentences(), {.pieces = 320})->bytes() + field(2, "\x18\x02"));
  CHECK_THAT(message_of([&] { other->sample("Tom walks", {.best = 8}, bd::random::Key{1}); }),
             ContainsSubstring(
                 "SentencePiece: expected a unigram model, whose segmentations can be sampled, got one of "
                 "another kind, BPE say"));
}
