// Subwords by SentencePiece: an optional component, the target bahdanau::sentencepiece.
// Including this is enough for programs to read model files that carry such a model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/sentencepiece_check.hpp>
#include <bahdanau/text/subwords.hpp>
#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

/// How a subword model is made.
struct SentencePieceOptions {
  std::size_t pieces = 4000;      // of the vocabulary; fewer, where the text does not give as many
  bool lowercase = false;         // as the side's: pieces are learnt from text as the model sees it
  double character_coverage = 1;  // the share of the text's characters that have pieces of their own
  bool byte_fallback = true;      // other characters become bytes, so that nothing is `<unk>`
  std::size_t max_sentences = 0;  // 0: all; else so many, chosen at random by SentencePiece
};

/// A unigram or BPE model of SentencePiece.
class SentencePiece final : public Subwords {
 public:
  using Options = SentencePieceOptions;
  static constexpr std::string_view kind_name = "sentencepiece";

  /// Learns a unigram model from sentences. Throws where they are too few for so many pieces, with what
  /// SentencePiece says of it.
  static std::shared_ptr<const SentencePiece> train(std::span<const std::string> sentences,
                                                    const Options& options = {}) {
    const std::string where = "SentencePiece::train";
    if (sentences.empty()) fail(where, "at least one sentence", "none");
    if (options.pieces < 8) fail(where, "at least 8 pieces", detail::text(options.pieces));
    if (!(options.character_coverage >= 0.98 && options.character_coverage <= 1))
      fail(where, "a character_coverage from 0.98, SentencePiece's least, to 1",
           detail::number_text(options.character_coverage));
    require_pieces(where, sentences, options);
    Sentences text(sentences, options.lowercase);
    std::string bytes;
    const std::unordered_map<std::string, std::string> arguments{
        {"model_type", "unigram"},
        {"vocab_size", detail::text(options.pieces)},
        {"hard_vocab_limit", "false"},
        {"character_coverage", detail::number_text(options.character_coverage)},
        {"byte_fallback", options.byte_fallback ? "true" : "false"},
        // Text is folded by the library; SentencePiece would make other marks of some, of Chinese ones say.
        {"normalization_rule_name", "identity"},
        {"input_sentence_size", detail::text(options.max_sentences)},
        {"shuffle_input_sentence", options.max_sentences == 0 ? "false" : "true"},
        {"num_threads", "1"},  // so that the same text gives the same model
        {"minloglevel", "2"}};
    require_ok(where, sentencepiece::SentencePieceTrainer::Train(arguments, &text, &bytes));
    return from_bytes(where, std::move(bytes));
  }

  /// Reads a `.model` file, as SentencePiece itself writes it.
  static std::shared_ptr<const SentencePiece> read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) fail(path.string(), "a file that can be read", "none");
    return from_bytes(path.string(), {std::istreambuf_iterator<char>(file), {}});
  }

  /// The model in these bytes; `where` stands in messages. Throws for what is no such model.
  static std::shared_ptr<const SentencePiece> from_bytes(const std::string& where, std::string bytes) {
    if (bytes.empty()) fail(where, "a SentencePiece model", "no bytes");
    std::shared_ptr<SentencePiece> out(new SentencePiece(std::move(bytes)));
    out->facts_ = detail::check_sentencepiece(where, out->bytes_);
    try {
      require_ok(where, out->processor_.LoadFromSerializedProto(out->bytes_));
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      fail(where, "a SentencePiece model", "one that SentencePiece refuses: " + detail::quote(e.what()));
    }
    return out;
  }

  std::string_view kind() const override { return kind_name; }
  const std::string& bytes() const override { return bytes_; }

  /// All but those that stand for no text, as `<s>`.
  std::vector<std::string> pieces() const override {
    std::vector<std::string> out;
    for (int i = 0; i < processor_.GetPieceSize(); ++i)
      if (!processor_.IsControl(i) && !processor_.IsUnknown(i) && !processor_.IsUnused(i))
        out.push_back(processor_.IdToPiece(i));
    return out;
  }

  std::vector<std::string> split(std::string_view text) const override {
    std::vector<std::string> out;
    require_ok("SentencePiece", processor_.Encode(view(text), &out));
    return out;
  }

  std::vector<std::string> sample(std::string_view text, const SubwordSampling& how,
                                  random::Key key) const override {
    if (!how.active()) return split(text);
    if (!facts_.unigram)
      fail("SentencePiece", "a unigram model, whose segmentations can be sampled",
           "one of another kind, BPE say", "leave the sampling out");
    const auto found = processor_.NBestEncodeAsImmutableProto(view(text), static_cast<int>(how.best));
    const std::size_t count = found.nbests_size();
    if (count == 0) return split(text);  // of an empty text, say
    std::vector<double> weights;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double above = static_cast<double>(found.nbests(static_cast<int>(i)).score()) -
                           static_cast<double>(found.nbests(0).score());
      total += weights.emplace_back(std::exp(how.alpha * above));
    }
    double left = key.uniform(0) * total;
    std::size_t chosen = 0;
    while (chosen + 1 < count && left >= weights[chosen]) left -= weights[chosen++];
    std::vector<std::string> out;
    const auto best = found.nbests(static_cast<int>(chosen));
    for (std::size_t i = 0; i < best.pieces_size(); ++i)
      out.push_back(best.pieces(static_cast<int>(i)).piece());
    return out;
  }

  std::string join(std::span<const std::string> pieces) const override {
    // It would write another sign for what it does not know: that goes through as a character that it does
    // not know either, and no text has.
    constexpr std::string_view private_use = "\uE000", unknown = "<unk>";
    std::vector<std::string> known(pieces.begin(), pieces.end());
    for (std::string& piece : known)
      if (piece == unknown) piece = private_use;
    std::string out;
    require_ok("SentencePiece", processor_.Decode(known, &out));
    const auto replace = [&](std::string_view what, std::string_view with) {
      for (std::size_t at = out.find(what); at != out.npos; at = out.find(what, at + with.size()))
        out.replace(at, what.size(), with);
    };
    replace(private_use, unknown);
    replace(detail::visible_space, " ");  // of what is no piece of this model
    return out.starts_with(' ') ? out.substr(1) : out;
  }

 private:
  /// Sentences for the trainer, folded as the model will meet them.
  class Sentences final : public sentencepiece::SentenceIterator {
   public:
    Sentences(std::span<const std::string> all, bool lowercase) : all_(all), lowercase_(lowercase) { fold(); }
    bool done() const override { return next_ == all_.size(); }
    void Next() override {
      ++next_;
      fold();
    }
    const std::string& value() const override { return folded_; }
    sentencepiece::util::Status status() const override { return {}; }

   private:
    void fold() {
      if (next_ < all_.size()) folded_ = detail::folded(all_[next_], lowercase_);
    }
    std::span<const std::string> all_;
    bool lowercase_;
    std::size_t next_ = 0;
    std::string folded_;
  };

  /// Throws where there are fewer pieces than characters that must be among them.
  static void require_pieces(const std::string& where, std::span<const std::string> sentences,
                             const Options& options) {
    std::map<utf8proc_int32_t, std::size_t> counts;
    double total = 0;
    for (Sentences each(sentences, options.lowercase); !each.done(); each.Next())
      for (std::size_t i = 0; i < each.value().size(); ++total) {
        const auto [value, bytes] = detail::code_point(where, each.value(), i);
        ++counts[value];
        i += bytes;
      }
    std::vector<std::size_t> sorted;
    for (const auto& [value, count] : counts) sorted.push_back(count);
    std::sort(sorted.rbegin(), sorted.rend());
    std::size_t characters = 0;
    for (double covered = 0; characters < sorted.size() && covered < options.character_coverage * total;)
      covered += static_cast<double>(sorted[characters++]);
    const std::size_t others = 3 + (options.byte_fallback ? 256 : 0);  // `<unk>` and the like, bytes
    if (options.pieces <= characters + others)
      fail(where,
           "more than " + detail::text(characters + others) + " pieces, as the text has " +
               detail::text(characters) + " characters that each need one",
           detail::text(options.pieces), "a lower character_coverage leaves the rarest to bytes");
  }

  explicit SentencePiece(std::string bytes) : bytes_(std::move(bytes)) {}

  static absl::string_view view(std::string_view text) { return {text.data(), text.size()}; }
  static void require_ok(const std::string& where, const sentencepiece::util::Status& status) {
    if (!status.ok())
      fail(where, "text and a model that SentencePiece takes", detail::quote(status.ToString()));
  }

  std::string bytes_;
  detail::SentencePieceFacts facts_;
  sentencepiece::SentencePieceProcessor processor_;
};

namespace detail {

inline std::shared_ptr<const Subwords> read_sentencepiece(const std::string& where, std::string bytes) {
  return SentencePiece::from_bytes(where, std::move(bytes));
}

/// Files of this kind can be read from now on.
inline const bool sentencepiece_reader =
    SubwordReaders::process().add(SentencePiece::kind_name, &read_sentencepiece);

}  // namespace detail
}  // namespace bahdanau
