// Encoders of one's own may make more or fewer keys than there are tokens: everything is sized by the keys.
// Under the address sanitizer these tests see what is written beside an array, too.
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A recurrent encoder of which the outputs `Keys::rows(tokens)` are kept, in that order.
template <class Keys>
struct Selecting {
  static constexpr std::string_view name = Keys::name;
  static constexpr std::size_t directions = 1;
  template <class C>
  class Network {
   public:
    Network(bd::Scope root, std::size_t vocabulary, const bd::Config& config)
        : inner_(root, vocabulary, config) {}
    template <bd::Backend B>
    void run(bd::Tape<B>& tape, const bd::detail::EncoderInput& input,
             bd::detail::Encoding<C, B>& out) const {
      inner_.run(tape, input, out);
      std::vector<bd::Index> rows;
      for (std::size_t b = 0; b < input.sentences.count; ++b) {
        const bd::Index first = out.begin[b];
        const std::vector<bd::Index> kept = Keys::rows(out.length[b]);
        out.begin[b] = static_cast<bd::Index>(rows.size());
        out.length[b] = static_cast<bd::Index>(kept.size());
        for (const bd::Index row : kept) rows.push_back(first + row);
      }
      out.outputs = bd::gather_rows(out.outputs, tape.keep(rows), rows.size());
    }

   private:
    bd::detail::RecurrentEncoder<C, 1> inner_;
  };
};

/// As a pyramid: every second output.
struct Halved {
  static constexpr std::string_view name = "halved";
  static std::vector<bd::Index> rows(bd::Index tokens) {
    std::vector<bd::Index> out;
    for (bd::Index t = 0; t < tokens; t += 2) out.push_back(t);
    return out;
  }
  static std::size_t count(std::size_t tokens) { return (tokens + 1) / 2; }
};
/// The first output twice.
struct OneMore {
  static constexpr std::string_view name = "one_more";
  static std::vector<bd::Index> rows(bd::Index tokens) {
    std::vector<bd::Index> out{0};
    for (bd::Index t = 0; t < tokens; ++t) out.push_back(t);
    return out;
  }
  static std::size_t count(std::size_t tokens) { return tokens + 1; }
};
/// Nothing is left of a sentence of one word.
struct Emptied {
  static constexpr std::string_view name = "emptied";
  static std::vector<bd::Index> rows(bd::Index tokens) {
    return tokens > 2 ? std::vector<bd::Index>{0} : std::vector<bd::Index>{};
  }
};

template <class Keys>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<float>, Selecting<Keys>>;

template <class Keys>
Model<Keys> toy() {
  bd::Vocabularies v = numbered(9, 9, 6);
  v.text.tokens = bd::Tokens::none;
  return Model<Keys>({.embed = 4, .hidden = 5, .layers = 2}, v, 1);
}

void check_rows(const bd::Array<float, 2>& attention) {
  for (std::size_t t = 0; t < attention.shape(0); ++t) {
    float sum = 0;
    for (std::size_t k = 0; k < attention.shape(1); ++k) sum += attention(t, k);
    CHECK(sum == Approx(1));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("attention has as many columns as the encoder has made keys", "[decode][keys]", Halved,
                   OneMore) {
  const auto model = toy<TestType>();
  const std::vector<std::string> sentences{"4 5 6 7 8", "5", "6 7 8 4 5 6 7"};
  const auto check = [&](const std::vector<bd::Translation>& all) {
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      CHECK(all[i].attention.shape(0) == all[i].target.size());
      CHECK(all[i].attention.shape(1) == TestType::count(all[i].source.size()));
      check_rows(all[i].attention);
      CHECK_THAT(bd::plot::heatmap_svg(all[i]), ContainsSubstring("<svg"));
      CHECK_FALSE(bd::plot::heatmap_text(all[i], false).empty());
    }
  };
  check(model.translate(sentences));
  check(model.translate(sentences, bd::Greedy{.replace_unknown = true}));
  check(model.translate(sentences, bd::Beam{.width = 3}));
  std::vector<bd::SentencePair> pairs;
  for (const std::string& sentence : sentences) pairs.push_back({sentence, "4 5"});
  check(bd::score_pairs(model, pairs));
}

TEMPLATE_TEST_CASE("steps and whole rows give the attention over all keys", "[decode][keys]", Halved,
                   OneMore) {
  const auto model = toy<TestType>();
  const std::vector<std::vector<bd::Token>> rows{{4, 5, 6, 7, bd::reserved::eos}, {5, 6, bd::reserved::eos}};
  const auto encoded = model.encode(bd::Sequences::from_rows(rows));
  const std::size_t most = TestType::count(5);
  CHECK(encoded.outputs().shape(1) == most);
  auto stepped = model.init_state(encoded), decoded = stepped;
  const std::vector<bd::Token> first{bd::reserved::bos, bd::reserved::bos}, second{4, 5};
  model.step(first, stepped);
  model.step(second, stepped);
  const std::vector<std::vector<bd::Token>> inputs{{bd::reserved::bos, 4}, {bd::reserved::bos, 5}};
  const auto whole = model.decode(bd::Sequences::from_rows(inputs), decoded);
  CHECK(whole.attention.shape(2) == most);
  CHECK(whole.keys ==
        std::vector<bd::Index>{static_cast<bd::Index>(most), static_cast<bd::Index>(TestType::count(3))});
  for (std::size_t t = 0; t < 2; ++t) {
    const auto& weights = model.attention_weights(stepped)[t];
    CHECK(weights.shape(1) == most);
    check_rows(weights);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t k = 0; k < most; ++k) {
        CHECK(weights(b, k) == Approx(whole.attention(b, t, k)).margin(1e-6));
        if (b == 1 && k >= TestType::count(3)) CHECK(weights(b, k) == 0);
      }
  }
  auto trained = toy<TestType>();
  bd::Training training(trained, bd::Adam{});
  training.loss({bd::Sequences::from_rows(rows), bd::Sequences::from_rows(rows)});
  training.backward();
  training.step();
}

TEST_CASE("a sentence without a key is an error", "[decode][keys][error]") {
  auto model = toy<Emptied>();
  const std::string expected =
      ", sentence 1: expected at least one key from the encoder, got 0; keep one where a sentence is short";
  CHECK(message_of([&] { (void)model.translate({"4 5 6", "5"}); }) == "translate" + expected);
  CHECK(model.translate("4 5 6").attention.shape(1) == 1);
  const std::vector<std::vector<bd::Token>> rows{{4, 5, bd::reserved::eos}, {5, bd::reserved::eos}};
  const bd::Sequences source = bd::Sequences::from_rows(rows);
  CHECK(message_of([&] { (void)model.encode(source); }) == "encode" + expected);
  bd::Training training(model, bd::Adam{});
  CHECK(message_of([&] { training.loss({source, source}); }) == "loss" + expected);
}
