// Pieces of words: what a model of them must be able to do, and how a file's is found again.
// The library itself knows none; text/sentencepiece.hpp, an optional component, has one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/core/random.hpp>

namespace bahdanau {

/// How segmentations are drawn in training (subword regularisation, Kudo 2018): one of the `best`, with
/// probabilities in proportion to p^alpha. With `best` 1 there is nothing to draw.
struct SubwordSampling {
  std::size_t best = 1;
  double alpha = 0.1;

  bool operator==(const SubwordSampling&) const = default;
  bool active() const { return best > 1; }
};

/// A model that splits text into pieces. Contract:
/// 1. It never changes, and may be used by many threads at once.
/// 2. `join(split(text))` is `text`, but for spaces that are repeated or at its ends.
/// 3. Whatever `split` and `sample` give is among `pieces()`, or not known.
/// 4. `sample` depends on nothing but its arguments.
/// 5. The reader that is registered for `kind()` makes an equal model from `bytes()`.
class Subwords {
 public:
  virtual ~Subwords() = default;
  Subwords& operator=(const Subwords&) = delete;

  /// What reads it, by name: "sentencepiece".
  virtual std::string_view kind() const = 0;
  /// The model itself, for a file.
  virtual const std::string& bytes() const = 0;
  /// All pieces that text can become.
  virtual std::vector<std::string> pieces() const = 0;

  /// Pieces of a text in UTF-8.
  virtual std::vector<std::string> split(std::string_view text) const = 0;
  /// One of several ways to split it.
  virtual std::vector<std::string> sample(std::string_view text, const SubwordSampling& how,
                                          random::Key key) const = 0;
  /// Text from pieces; what is no piece, `<unk>` say, stands as it is.
  virtual std::string join(std::span<const std::string> pieces) const = 0;

 protected:
  Subwords() = default;
  Subwords(const Subwords&) = default;
};

namespace detail {

using SubwordReader = std::shared_ptr<const Subwords> (*)(const std::string& where, std::string bytes);

/// Who reads which kind: a component says so when the program starts.
class SubwordReaders {
 public:
  static SubwordReaders& process() {
    static SubwordReaders readers;
    return readers;
  }

  bool add(std::string_view kind, SubwordReader reader) {
    const std::lock_guard lock(mutex_);
    readers_.insert_or_assign(std::string(kind), reader);
    return true;
  }

  /// Throws where nobody reads that kind.
  std::shared_ptr<const Subwords> read(const std::string& where, const std::string& kind,
                                       std::string bytes) const {
    SubwordReader reader = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = readers_.find(kind); found != readers_.end()) reader = found->second;
    }
    if (reader == nullptr)
      fail(where, "a program that can read subwords of the kind " + quote(kind), "one that cannot",
           kind == "sentencepiece"
               ? "include <bahdanau/text/sentencepiece.hpp> and link bahdanau::sentencepiece"
               : "");
    return reader(where, std::move(bytes));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, SubwordReader, std::less<>> readers_;
};

}  // namespace detail
}  // namespace bahdanau
