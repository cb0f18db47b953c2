// What a SentencePiece model from a stranger must be before SentencePiece sees it: some of its versions trust
// the tables inside, and read wherever those say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau::detail {

/// Goes through the fields of a message in protobuf's encoding.
class ProtobufFields {
 public:
  ProtobufFields(std::string_view where, std::string_view bytes) : where_(where), rest_(bytes) {}

  /// Goes to the next field; false at the end. Throws where the bytes are no such message.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    number = key >> 3U;
    content = {};
    value = 0;
    switch (key & 7U) {
      case 0:
        value = varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        content = take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        bad();
    }
    return true;
  }

  std::uint64_t number = 0, value = 0;  // the field, and what it is if it is a whole number
  std::string_view content;             // or if it is a string or a message

 private:
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return out;
    }
    bad();
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) bad();
    const std::string_view out = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(out.size());
    return out;
  }
  [[noreturn]] void bad() const {
    fail(where_, "a SentencePiece model", "other bytes, or a part of one alone");
  }

  std::string_view where_, rest_;
};

/// A table of a normaliser: the size of a trie, the trie, the texts that its leaves point to. The trie is
/// Darts's double array: from unit i the letter c leads to i ^ offset ^ c, and a leaf is the unit at i ^
/// offset.
inline void check_normalizer_table(std::string_view where, std::string_view table) {
  if (table.empty()) return;
  const auto refuse = [&](const char* what) {
    fail(where, "a SentencePiece model whose table of characters is whole", what);
  };
  const auto unit = [&](std::size_t at) {
    std::uint32_t out = 0;
    for (std::size_t b = 4; b-- > 0;) out = out << 8U | static_cast<unsigned char>(table[at + b]);
    return out;
  };
  if (table.size() < 4) refuse("one without a size");
  const std::size_t bytes = unit(0);
  if (bytes == 0 || bytes % 1024 != 0 || bytes > table.size() - 4) refuse("one of an impossible size");
  const std::string_view texts = table.substr(4 + bytes);
  if (texts.empty() || texts.back() != '\0') refuse("one whose texts have no end");
  const std::size_t units = bytes / 4;
  for (std::size_t i = 0; i < units; ++i) {
    const std::uint32_t here = unit(4 + 4 * i);
    if ((here >> 31U) != 0) continue;  // a leaf, which no letter leads to
    const std::size_t offset = static_cast<std::size_t>(here >> 10U) << ((here & (1U << 9U)) >> 6U);
    const std::size_t to = i ^ offset;
    if (to >= units) refuse("one that leads out of it");
    const bool has_leaf = (here >> 8U & 1U) != 0;
    if (has_leaf && (unit(4 + 4 * to) & 0x7FFFFFFFU) >= texts.size())
      refuse("one that leads out of its texts");
  }
}

/// What must be known of a model beside what SentencePiece says.
struct SentencePieceFacts {
  bool unigram = true;  // or another kind, which has one way to split a text
};

/// Throws for a model that SentencePiece would take and come to grief with.
inline SentencePieceFacts check_sentencepiece(std::string_view where, std::string_view bytes) {
  constexpr std::size_t longest = 1000;  // bytes of a piece: SentencePiece recurses over them
  SentencePieceFacts facts;
  for (ProtobufFields model(where, bytes); model.next();) {
    if (model.number == 1) {  // a piece
      for (ProtobufFields piece(where, model.content); piece.next();) {
        if (piece.number != 1) continue;
        if (piece.content.empty() || piece.content.find('\0') != piece.content.npos)
          fail(where, "a SentencePiece model whose pieces have text", "one that has none, or a zero byte");
        if (piece.content.size() > longest)
          fail(where, "a SentencePiece model with pieces of at most " + text(longest) + " bytes",
               "one of " + text(piece.content.size()));
      }
    } else if (model.number == 2) {  // how it was trained
      for (ProtobufFields trainer(where, model.content); trainer.next();)
        if (trainer.number == 3) facts.unigram = trainer.value == 1;
    } else if (model.number == 3 || model.number == 5) {  // normaliser, denormaliser
      for (ProtobufFields normalizer(where, model.content); normalizer.next();)
        if (normalizer.number == 2) check_normalizer_table(where, normalizer.content);
    }
  }
  return facts;
}

}  // namespace bahdanau::detail
