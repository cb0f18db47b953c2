#include <cmath>
#include <map>
#include <thread>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

template <class Backend>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

/// A toy model over the words "4" to "6", split on spaces and left alone, with weights large enough to have
/// opinions.
template <class Backend>
Model<Backend> toy(std::uint64_t seed) {
  bd::Vocabularies v = numbered(7, 7, 4);
  v.text.tokens = bd::Tokens::none;
  Model<Backend> model({.embed = 4, .hidden = 5, .layers = 1}, v, seed);
  for (const auto& entry : model.parameters().entries()) {
    auto numbers = model.weights().read(entry.parameter);
    for (auto& number : numbers) number *= 2;
    model.weights().write(entry.parameter, numbers);
  }
  return model;
}

/// ln p of every sentence of at most `longest` tokens that ends in <eos>, or is cut there.
template <class M>
std::vector<std::pair<double, std::vector<bd::Token>>> every_sentence(const M& model,
                                                                      const std::string& source,
                                                                      std::size_t longest, double power) {
  std::vector<std::pair<double, std::vector<bd::Token>>> found;
  std::vector<bd::Token> ids =
      model.vocabularies().source.encode(bd::tokenize(source, model.vocabularies().text));
  ids.push_back(bd::reserved::eos);
  const std::vector<std::vector<bd::Token>> rows{ids};
  const auto encoded = model.encode(bd::Sequences::from_rows(rows));
  const auto grow = [&](auto self, std::vector<bd::Token> sofar, double score, bd::Token last,
                        typename M::State state) -> void {
    const std::vector<bd::Token> input{last};
    const auto logits = model.step(input, state);
    double total = 0;
    for (const auto x : logits) total += std::exp(static_cast<double>(x));
    for (bd::Token v = 0; v < 7; ++v) {
      const double now =
          score + static_cast<double>(logits(0, static_cast<std::size_t>(v))) - std::log(total);
      auto next = sofar;
      next.push_back(v);
      if (v == bd::reserved::eos || next.size() == longest)
        found.push_back({now / std::pow(static_cast<double>(next.size()), power), next});
      else
        self(self, next, now, v, state);
    }
  };
  grow(grow, {}, 0, bd::reserved::bos, model.init_state(encoded));
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::vector<std::string> spelled(const std::vector<bd::Token>& ids) {
  const auto v = bd::Vocabulary::numbered(7);
  std::vector<std::string> out;
  for (const bd::Token id : ids) out.push_back(v.token(id));
  return out;
}

}  // namespace

TEST_CASE("a wide beam finds what exhaustive search finds", "[decode][beam]") {
  for (const std::uint64_t seed : {1U, 2U, 3U})
    for (const double power : {0.0, 0.75, 1.0}) {
      const auto model = toy<bd::test::TestBackend<double>>(seed);
      const auto all = every_sentence(model, "4 6 5", 4, power);
      const std::vector<std::string> sentence{"4 6 5"};
      const auto best = bd::translate_nbest(
          model, sentence, {.width = 2500, .nbest = 20, .length_power = power, .max_length = 4})[0];
      REQUIRE(best.size() == 20);
      for (std::size_t i = 0; i < best.size(); ++i) {
        INFO("seed " << seed << ", power " << power << ", rank " << i);
        CHECK(best[i].target == spelled(all[i].second));
        const double length = static_cast<double>(best[i].target.size());
        CHECK(best[i].score / std::pow(length, power) == Approx(all[i].first).epsilon(1e-9));
      }
    }
}

TEMPLATE_TEST_CASE("greedy search is a beam of width one without normalisation", "[decode]", TEST_BACKENDS) {
  const auto model = toy<TestType>(4);
  const std::vector<std::string> sentences{"4", "5 6", "6 6 4 5 5"};
  const auto greedy = model.translate(sentences);
  const auto beam = model.translate(sentences, bd::Beam{.width = 1, .length_power = 0});
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    CHECK(greedy[i].target == beam[i].target);
    CHECK(greedy[i].score == Approx(beam[i].score));
  }
}

TEMPLATE_TEST_CASE("score, probabilities and attention are those of the hypothesis that won", "[decode]",
                   TEST_BACKENDS) {
  const auto model = toy<TestType>(5);
  const std::vector<std::string> sentences{"4 5", "6 5 4", "5"};
  const auto check = [&](const bd::Translation& t, const std::string& sentence) {
    INFO(sentence << " -> " << t.text);
    if (t.target.back() != "<eos>") return;  // forced decoding needs one
    std::vector<std::string> words(t.target.begin(), t.target.end() - 1);
    const std::vector<bd::SentencePair> pair{{sentence, bd::detokenize(words, bd::Tokens::none)}};
    const auto forced = bd::score_pairs(model, pair).front();
    CHECK(t.source == forced.source);
    CHECK(t.target == forced.target);
    CHECK(t.score == Approx(forced.score).margin(1e-5));
    REQUIRE(t.attention.shape() == forced.attention.shape());
    for (std::size_t i = 0; i < t.attention.size(); ++i)
      CHECK(t.attention.data()[i] == Approx(forced.attention.data()[i]).margin(1e-5));
    for (std::size_t i = 0; i < t.log_probs.size(); ++i)
      CHECK(t.log_probs[i] == Approx(forced.log_probs[i]).margin(1e-5));
  };
  const auto greedy = model.translate(sentences);
  const auto beams = bd::translate_nbest(model, sentences, {.width = 4, .nbest = 4});
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    check(greedy[i], sentences[i]);
    for (const auto& t : beams[i]) check(t, sentences[i]);
  }
}

TEMPLATE_TEST_CASE("a sentence is translated alike alone and in any batch", "[decode][batch]",
                   TEST_BACKENDS) {
  const auto model = toy<TestType>(6);
  std::vector<std::string> sentences;
  const bd::random::Key key{9};
  for (std::uint64_t i = 0; i < 70; ++i) {  // more than one thread takes
    std::string s;
    for (std::uint64_t w = 0; w <= key.bits(i) % 6; ++w)
      s += std::to_string(4 + key.derive(i).bits(w) % 3) + " ";
    sentences.push_back(s);
  }
  const auto greedy = model.translate(sentences);
  const auto beam = model.translate(sentences, bd::Beam{.width = 3});
  // The same bits, where products with weights have a fixed order of summation.
  constexpr double margin = bd::PackingBackend<TestType> ? 0 : 1e-5;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto one = model.translate(sentences[i]);
    CHECK(one.target == greedy[i].target);
    CHECK(std::abs(one.score - greedy[i].score) <= margin);
    const auto alone = model.translate(sentences[i], bd::Beam{.width = 3});
    CHECK(alone.target == beam[i].target);
    CHECK(std::abs(alone.score - beam[i].score) <= margin);
  }
}

TEST_CASE("a beam of wide states has the same bits alone and in any batch", "[decode][batch][beam]") {
  // So wide that the kernel cuts its sums in two; some sentences' hypotheses share a parent, others' do not.
  using Backend = bd::test::TestBackend<float>;
  const bd::EncoderDecoder<bd::Lstm, bd::Additive, Backend> model({.embed = 4, .hidden = 530, .layers = 2},
                                                                  bd::test::numbered(7, 7, 8), 3);
  std::vector<std::string> sentences;
  for (std::uint64_t i = 0; i < 12; ++i)
    sentences.push_back(std::to_string(4 + i % 3) + " " + std::to_string(4 + i / 3 % 3));
  constexpr double margin = bd::PackingBackend<Backend> ? 0 : 1e-5;
  for (const std::size_t width : {2U, 4U}) {
    const bd::Beam beam{.width = width, .max_length = 5};
    const auto together = model.translate(sentences, beam);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const auto alone = model.translate(sentences[i], beam);
      CHECK(alone.target == together[i].target);
      CHECK(std::abs(alone.score - together[i].score) <= margin);
    }
  }
}

TEST_CASE("a translation ends at the length limit", "[decode]") {
  auto model = toy<bd::test::TestBackend<float>>(1);
  for (const auto& entry : model.parameters().entries())  // never <eos>
    if (entry.name == "decoder.dense.bias")
      bd::test::set_number(model.weights(), entry.parameter.offset + bd::reserved::eos, -1e4F);
  CHECK(model.translate("4 5", bd::Greedy{.max_length = 7}).target.size() == 7);
  CHECK(model.translate("4 5", bd::Beam{.width = 2, .max_length = 7}).target.size() == 7);
  CHECK(model.translate("4 5").target.size() == 16);  // twice three tokens plus ten
}

TEST_CASE("an unknown word is replaced by the source word that it attends to", "[decode][unknown]") {
  auto model = toy<bd::test::TestBackend<float>>(1);
  for (const auto& entry : model.parameters().entries())  // <unk>, always
    if (entry.name == "decoder.dense.bias")
      bd::test::set_number(model.weights(), entry.parameter.offset + bd::reserved::unk, 1e4F);
  const auto plain = model.translate("Zoë 4 Łódź", bd::Greedy{.max_length = 3});
  CHECK(plain.text == "<unk> <unk> <unk>");
  CHECK(plain.source == std::vector<std::string>{"<unk>", "4", "<unk>", "<eos>"});
  const auto replaced = model.translate("Zoë 4 Łódź", bd::Greedy{.max_length = 3, .replace_unknown = true});
  const std::vector<std::string> words{"Zoë", "4", "Łódź"};
  for (std::size_t t = 0; t < 3; ++t) {
    const float* row = replaced.attention.data() + 4 * t;
    CHECK(replaced.target[t] == words[static_cast<std::size_t>(std::max_element(row, row + 3) - row)]);
  }
}

TEST_CASE("impossible beams are refused", "[decode][error]") {
  const auto model = toy<bd::test::TestBackend<float>>(1);
  CHECK(message_of([&] { model.translate("4", bd::Beam{.width = 0}); }) ==
        "Beam.width: expected at least 1, got 0");
  CHECK(message_of([&] { model.translate("4", bd::Beam{.width = 2, .nbest = 3}); }) ==
        "Beam.nbest: expected from 1 to the width, 2, got 3");
  CHECK_THROWS_AS(model.translate("\xff"), bd::Error);
}

TEST_CASE("a const model translates from many threads at once, each time the same", "[decode][threads]") {
  const auto model = toy<bd::test::TestBackend<float>>(7);
  const std::vector<std::string> sentences{"4", "5 6", "6 6 4 5 5", "5 4 6"};
  const auto greedy = model.translate(sentences);
  const auto beam = model.translate(sentences, bd::Beam{.width = 3});
  std::vector<int> same(8, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < same.size(); ++i)
    threads.emplace_back([&, i] {
      bool equal = true;
      for (int round = 0; round < 5; ++round) {
        const auto a = model.translate(sentences);
        const auto b = model.translate(sentences, bd::Beam{.width = 3});
        for (std::size_t s = 0; s < sentences.size(); ++s)
          equal = equal && a[s].target == greedy[s].target && a[s].score == greedy[s].score &&
                  a[s].attention == greedy[s].attention && b[s].target == beam[s].target &&
                  b[s].score == beam[s].score;
      }
      same[i] = equal ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(same == std::vector<int>(8, 1));
}

TEST_CASE("nothing translates to nothing", "[decode]") {
  const auto model = toy<bd::test::TestBackend<float>>(7);
  const bd::Translation nothing = model.translate(" \t");
  CHECK(nothing.text.empty());
  CHECK(nothing.source.empty());
  CHECK(nothing.target.empty());
  CHECK(nothing.score == 0);
  CHECK(nothing.attention.size() == 0);
  const std::vector<std::string> sentences{"", "5 6", ""};
  const auto all = model.translate(sentences, bd::Beam{});
  REQUIRE(all.size() == 3);
  CHECK(all[0].target.empty());
  CHECK(all[1].target == model.translate("5 6", bd::Beam{}).target);
  CHECK(all[2].target.empty());
}

TEST_CASE("a beam is ranked by a finite power", "[decode][beam][error]") {
  const auto model = toy<bd::test::TestBackend<float>>(7);
  CHECK(message_of([&] { model.translate("4", bd::Beam{.length_power = std::nan("")}); }) ==
        "Beam.length_power: expected a finite number, got nan");
}

TEST_CASE("weights that are no numbers give scores that are none, with a beam too", "[decode][beam]") {
  auto model = toy<bd::test::TestBackend<float>>(7);
  model.weights().change([](std::span<float> all) {
    bd::test::TestBackend<float>::fill(all.data(), all.size(), std::nanf(""));
  });
  CHECK_FALSE(std::isfinite(model.translate("4 5").score));
  const std::vector<std::string> sentence{"4 5"};
  const auto all = bd::translate_nbest(model, sentence, {.width = 5, .nbest = 5});
  REQUIRE(all[0].size() == 5);
  for (const auto& found : all[0]) CHECK_FALSE(std::isfinite(found.score));
}

TEST_CASE("a long source does not make a translation endless", "[decode][length]") {
  CHECK(bd::detail::length_limit(0, 5, 10) == 20);
  CHECK(bd::detail::length_limit(0, 5, 50) == 50);
  CHECK(bd::detail::length_limit(0, 8000, 50) == 1000);
  CHECK(bd::detail::length_limit(0, 8000, 2000) == 1000);
  CHECK(bd::detail::length_limit(7000, 8000, 50) == 7000);
}

TEST_CASE("the tree of hypotheses gives up attention that nobody can ask for", "[decode][memory]") {
  bd::detail::HypothesisTree<float> tree;
  const std::vector<float> weights(3000, 0.5F);
  // Three rows per step; all continue row 1, so that rows 0 and 2 of every step but the last are dead.
  for (int step = 0; step < 100; ++step) {
    tree.begin_step();
    for (std::size_t row = 0; row < 3; ++row)  // of different lengths, to tell them apart
      tree.add({1, static_cast<bd::Token>(4 + row), -1}, std::span(weights).first(1000 + row));
    if (tree.crowded())
      tree.forget(std::vector<bd::Index>{0, 1, 2}, std::vector<bd::detail::Leaf>{{.step = 3, .row = 2}});
  }
  tree.forget(std::vector<bd::Index>{0}, std::vector<bd::detail::Leaf>{{.step = 3, .row = 2}});
  CHECK(tree.weights_kept() == 99 * 1001 + 1000 + 1002);
  std::size_t tokens = 0;
  tree.for_tokens({.step = 3, .row = 2, .token = 3}, [&](bd::Token token, double, auto row) {
    CHECK(row.size() == (tokens == 3 ? 1002U : 1001U));
    CHECK(token == (tokens == 3 ? 3 : tokens == 2 ? 6 : 5));
    ++tokens;
  });
  CHECK(tokens == 4);
}
