// What a translation must and must not have, against a search through all translations that there are; how
// tokens are drawn; and options that cannot be.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "decode/every_translation.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<double>>;

const Model& toy() {
  static const Model model = toy_model<Model>(1);
  return model;
}

/// Beams that are wide enough to keep everything, each told something else.
std::vector<bd::Beam> told() {
  std::vector<bd::Beam> out;
  const auto add = [&]() -> bd::Beam& {
    out.push_back({.width = 2500, .nbest = 8, .max_length = 4});
    return out.back();
  };
  add();
  add().min_length = 3;
  add().min_length = 4;
  add().forbidden = {"5"};
  add().forbidden = {"4 5", "6 6", "<unk>"};
  add().prefix = "6 4";
  add().required = {"5"};
  add().required = {"4 6"};
  add().required = {"4", "4 5"};
  add().required = {"4 5", "5 6"};  // which share a word
  add().required = {"6 5 4"};
  add().required = {"5 5", "5"};
  add().coverage_penalty = 0.2;
  add().coverage_penalty = 3;
  add().length_offset = 5;
  bd::Beam& all = add();
  all.coverage_penalty = 0.5;
  all.length_power = 1;
  all.min_length = 4;
  all.forbidden = {"6", "5 5"};
  all.prefix = "4";
  all.required = {"5"};
  return out;
}

/// 40 sentences of one to six words.
std::vector<std::string> many_sentences() {
  std::vector<std::string> sentences;
  const bd::random::Key key{9};
  for (std::uint64_t i = 0; i < 40; ++i) {
    std::string s;
    for (std::uint64_t w = 0; w <= key.bits(i) % 6; ++w)
      s += std::to_string(4 + key.derive(i).bits(w) % 3) + " ";
    sentences.push_back(s);
  }
  return sentences;
}

bool equal(const bd::Translation& a, const bd::Translation& b) {
  constexpr double margin = bd::PackingBackend<TestBackend<double>> ? 0 : 1e-9;
  return a.target == b.target && std::abs(a.score - b.score) <= margin;
}

/// How far counts are from what is expected, in units in which 1 is what chance gives.
double chi_square_per_degree(const std::map<std::string, double>& expected,
                             const std::map<std::string, double>& counts, double draws) {
  double sum = 0;
  for (const auto& [word, probability] : expected) {
    const auto found = counts.find(word);
    const double count = found == counts.end() ? 0 : found->second;
    sum += std::pow(count - draws * probability, 2) / (draws * probability);
  }
  for (const auto& [word, count] : counts)
    if (!expected.contains(word)) sum += 1e9;
  return sum / static_cast<double>(std::max<std::size_t>(expected.size() - 1, 1));
}

}  // namespace

TEST_CASE("a wide beam finds the best of all translations that keep to what it was told",
          "[decode][beam][constraints]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    const Model model = toy_model<Model>(seed);
    const auto all = every_translation("4 6 5", 4, log_of_first, model);
    std::size_t number = 0;
    for (const bd::Beam& beam : told()) {
      const auto expected = ranked(all, beam);
      const auto found = bd::translate_nbest(model, {"4 6 5"}, beam)[0];
      CAPTURE(seed, number++);
      REQUIRE(found.size() == std::min<std::size_t>(8, expected.size()));
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(found[i].target == expected[i].target);
        CHECK(found[i].score == Approx(expected[i].score).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("greedy search takes the best token that is allowed", "[decode][greedy][constraints]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Model model = toy_model<Model>(seed);
    for (const bd::Beam& beam : told()) {
      if (!beam.required.empty()) continue;
      bd::Greedy greedy{.max_length = 4};
      greedy.min_length = beam.min_length;
      greedy.forbidden = beam.forbidden;
      greedy.prefix = beam.prefix;
      // The best of those that leave what there is within what was told, step by step.
      const bd::Vocabularies& v = model.vocabularies();
      const auto row =
          bd::Sequences::from_rows(std::vector<std::vector<bd::Token>>{{4, 6, 5, bd::reserved::eos}});
      Model::State state = model.init_state(model.encode(row));
      Tried hand;
      for (bd::Token last = bd::reserved::bos; hand.target.size() < 4 && last != bd::reserved::eos;) {
        const auto logits = model.step(std::vector<bd::Token>{last}, state);
        bd::Token best = -1;
        for (bd::Token t = 0; t < 7; ++t) {
          Tried with = hand;
          with.target.push_back(v.target.token(t));
          bd::Beam so_far = beam;  // of the prefix, as much as there is room for
          so_far.prefix = so_far.prefix.substr(0, 2 * with.target.size() - 1);
          if (keeps(with, so_far) && (best < 0 || logits(0, static_cast<std::size_t>(t)) >
                                                      logits(0, static_cast<std::size_t>(best))))
            best = t;
        }
        last = best;
        hand.target.push_back(v.target.token(best));
      }
      CHECK(model.translate("4 6 5", greedy).target == hand.target);
    }
  }
}

TEST_CASE("a beam narrower than its words has all of them, in any sentence", "[decode][beam][constraints]") {
  bd::Beam beam{.width = 2};
  beam.required = {"4 5", "6", "6 6 5", "5 4 4"};
  beam.forbidden = {"<unk>", "<pad>", "<bos>"};
  for (const bd::Translation& t : toy().translate(many_sentences(), beam)) {
    Tried tried;
    tried.target = t.target;
    CHECK(keeps(tried, beam));
  }
  // Words of just the length that there may be.
  beam.required = {"4", "5 6"};
  beam.max_length = 3;
  CHECK(toy().translate("4", beam).target.size() == 3);
}

TEST_CASE("more forbidden words than are worth sorting for are forbidden alike", "[decode][constraints]") {
  bd::Vocabularies v = numbered(7, 200, 4);
  v.text.tokens = bd::Tokens::none;
  const Model model({.embed = 4, .hidden = 5, .layers = 1}, v, 3);
  bd::Beam beam{.width = 3, .max_length = 6};
  bd::Greedy greedy{.max_length = 6};
  bd::Sample sample{.max_length = 6};
  for (int word = 4; word < 190; ++word) beam.forbidden.push_back(std::to_string(word));
  greedy.forbidden = sample.forbidden = beam.forbidden;
  beam.min_length = greedy.min_length = sample.min_length = 6;
  const auto check = [&](const bd::Translation& t) {
    CHECK(t.target.size() == 6);
    for (const std::string& word : t.target) CHECK((word[0] == '<' || std::stoi(word) >= 190));
  };
  for (const auto& options : {1, 2, 3}) {
    const std::vector<std::string> sentences(5, "4 5");
    for (const auto& t : options == 1   ? model.translate(sentences, beam)
                         : options == 2 ? model.translate(sentences, greedy)
                                        : model.translate(sentences, sample))
      check(t);
  }
  // Of equal rank with and without the list's being long: the best of those that are left.
  bd::Greedy few = greedy, many = greedy;
  few.forbidden.clear();
  few.min_length = many.min_length = 0;
  const std::string best = model.translate("4 5", few).target.front();
  std::erase(many.forbidden, best);
  CHECK(model.translate("4 5", many).target.front() == best);
}

TEST_CASE("what is told changes no bit with batches and threads", "[decode][batch][constraints]") {
  const auto sentences = many_sentences();
  bd::Beam beam{.width = 3};
  beam.coverage_penalty = 0.3;
  beam.required = {"5 6"};
  bd::Greedy greedy;
  greedy.prefix = "6";
  greedy.min_length = 4;
  bd::Sample sample{.temperature = 0.8, .top = 5, .seed = 11};
  sample.top_p = 0.9;
  sample.forbidden = {"4 4"};
  const auto check = [&](auto options) {
    const auto together = toy().translate(sentences, options);
    options.threads = 1;
    const auto alone = toy().translate(sentences, options);
    options.threads = 3;
    const auto three = toy().translate(sentences, options);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      CHECK(equal(together[i], alone[i]));
      CHECK(equal(together[i], three[i]));
    }
  };
  check(beam);
  check(greedy);
  check(sample);
  const auto beams = toy().translate(sentences, beam);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    CHECK(equal(beams[i], toy().translate(sentences[i], beam)));
  // Draws follow from the number in the call: the first ones of a shorter call are the same.
  const auto drawn = toy().translate(sentences, sample);
  const auto fewer = toy().translate(std::vector(sentences.begin(), sentences.begin() + 7), sample);
  for (std::size_t i = 0; i < fewer.size(); ++i) CHECK(equal(drawn[i], fewer[i]));
}

TEST_CASE("tokens are drawn by their probability among those that are left", "[decode][sample]") {
  constexpr std::size_t draws = 4000;
  const std::vector<std::string> sentences(draws, "4 6 5");
  std::map<std::string, double> first;  // p of each first token
  for (const Tried& tried : every_translation("4 6 5", 1, log_of_first, toy()))
    first[tried.target[0]] = std::exp(tried.score);
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [word, p] : first) order.emplace_back(p, word);
  std::sort(order.rbegin(), order.rend());
  const auto check = [&](const bd::Sample& sample, std::vector<std::string> left) {
    std::map<std::string, double> expected, counts;
    double total = 0;
    for (const std::string& word : left)
      total += expected[word] = std::pow(first[word], 1 / sample.temperature);
    for (auto& [word, p] : expected) p /= total;
    for (const bd::Translation& t : toy().translate(sentences, sample)) counts[t.target[0]] += 1;
    CAPTURE(left.size(), sample.top, sample.top_p);
    CHECK(chi_square_per_degree(expected, counts, draws) < 3.5);
  };
  const auto best = [&](std::size_t count) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < count; ++i) words.push_back(order[i].second);
    return words;
  };
  const auto nucleus = [&](double top_p) {
    double sum = 0;
    std::size_t count = 0;
    while (sum < top_p) sum += order[count++].first;
    return count;
  };
  bd::Sample sample{.seed = 5, .max_length = 1};
  check(sample, best(7));
  for (const double top_p : {0.3, 0.7, 0.9, 0.999}) {
    sample.top_p = top_p;
    check(sample, best(nucleus(top_p)));
  }
  CHECK(nucleus(0.7) < nucleus(0.999));
  sample.top_p = 1e-9;
  check(sample, best(1));
  sample.top_p = 1;
  sample.top = 3;
  check(sample, best(3));
  // Of three, those that have the most of what the three have.
  sample.top_p = 0.6;
  const double three = order[0].first + order[1].first + order[2].first;
  std::size_t count = 0;
  for (double sum = 0; sum < 0.6 * three;) sum += order[count++].first;
  check(sample, best(count));
  // What is forbidden leaves its place to the next.
  sample.top_p = 1;
  sample.temperature = 0.7;
  sample.forbidden = {order[0].second == "<eos>" ? order[1].second : order[0].second};
  std::vector<std::string> left = best(4);
  std::erase(left, sample.forbidden[0]);
  check(sample, left);
}

TEST_CASE("characters can be required and forbidden", "[decode][constraints][chinese]") {
  const bd::Vocabularies v{bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "h", "i"}),
                           bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "你", "好", "们", "。"}),
                           {.tokens = bd::Tokens::characters}};
  const Model model({.embed = 4, .hidden = 5, .layers = 1}, v, 2);
  bd::Beam beam{.width = 4, .max_length = 8};
  beam.required = {"你好", "。"};
  beam.forbidden = {"们", "好好", "<unk>"};
  const std::string text = model.translate("hi", beam).text;
  CHECK(text.find("你好") != text.npos);
  CHECK(text.find("。") != text.npos);
  CHECK(text.find("们") == text.npos);
  CHECK(text.find("好好") == text.npos);
  CHECK(text.find("<unk>") == text.npos);
  bd::Greedy greedy{.max_length = 4};
  greedy.prefix = "们好";
  CHECK(model.translate("hi", greedy).text.starts_with("们好"));
  greedy.prefix = "你很好";
  CHECK(message_of([&] { (void)model.translate("hi", greedy); }) ==
        "Greedy.prefix: expected words of the target vocabulary, got \"很\"; the model cannot write it");
}

TEST_CASE("words are told as a model writes them, in true case", "[decode][constraints][truecase]") {
  const bd::TextSide side{
      .tokens = bd::Tokens::words_and_marks, .truecase = true, .language = bd::Language::french};
  const auto corpus = bd::Corpus::from_pairs(
      std::vector<bd::SentencePair>{{"i see .", "Je vois."}, {"do i see", "Oui, je vois Tom."}},
      {.min_frequency = 1, .target = side});
  const Model model({.embed = 6, .hidden = 6, .layers = 1}, corpus.vocabularies(), 3);
  bd::Greedy greedy{.max_length = 6};
  greedy.prefix = "Je vois";
  CHECK_THAT(model.translate("i see .", greedy).text, Catch::Matchers::StartsWith("Je vois"));
  greedy.prefix = "Oui, je vois Tom";
  CHECK_THAT(model.translate("i see .", greedy).text, Catch::Matchers::StartsWith("Oui, je vois Tom"));
  greedy.prefix = "";
  greedy.forbidden = {"Je", "Oui"};
  const bd::Translation found = model.translate("i see .", greedy);
  for (const std::string& token : found.target) CHECK((token != "je" && token != "oui"));
}

TEST_CASE("requests that are told different things are not decoded as one", "[decode][translator]") {
  const Model model = toy_model<Model>(1);
  bd::Translator translator(model.freeze(), {.wait = std::chrono::milliseconds(20), .threads = 1});
  bd::Greedy plain, forced;
  forced.prefix = "6 6 6";
  auto a = translator.submit("4 6 5", plain), b = translator.submit("4 6 5", forced);
  CHECK(equal(a.get(), model.translate("4 6 5", plain)));
  CHECK(b.get().text.starts_with("6 6 6"));
  forced.prefix = "7";
  auto c = translator.submit("4", forced);
  CHECK(message_of([&] { c.get(); }) ==
        "Greedy.prefix: expected words of the target vocabulary, got \"7\"; the model cannot write it");
}

TEST_CASE("options that cannot be are refused with a sentence", "[decode][constraints][error]") {
  const auto of_beam = [](auto change) {
    bd::Beam beam{.width = 4, .max_length = 4};
    change(beam);
    return message_of([&] { (void)toy().translate("4 5", beam); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  CHECK(of_beam([&](bd::Beam& b) { b.coverage_penalty = nan; }) ==
        "Beam.coverage_penalty: expected a finite number of at least 0, got nan");
  CHECK(of_beam([&](bd::Beam& b) { b.coverage_penalty = infinity; }) ==
        "Beam.coverage_penalty: expected a finite number of at least 0, got inf");
  CHECK(of_beam([&](bd::Beam& b) { b.coverage_penalty = -1; }) ==
        "Beam.coverage_penalty: expected a finite number of at least 0, got -1");
  CHECK(of_beam([&](bd::Beam& b) { b.length_offset = nan; }) ==
        "Beam.length_offset: expected a finite number of at least 0, got nan");
  for (const double top_p : {0.0, -0.5, 1.5, nan, infinity}) {
    bd::Sample sample;
    sample.top_p = top_p;
    CHECK(message_of([&] { (void)toy().translate("4", sample); }) ==
          "Sample.top_p: expected a number above 0 and up to 1, got " + bd::detail::number_text(top_p));
  }
  CHECK(of_beam([](bd::Beam& b) { b.min_length = 5; }) ==
        "Beam.min_length: expected at most 4 tokens, as max_length says, got 5");
  CHECK(of_beam([](bd::Beam& b) {
          b.max_length = 0;
          b.min_length = ~std::size_t{0};
        }) == "Beam.min_length: expected at most 65536 tokens, got 18446744073709551615");
  CHECK(of_beam([](bd::Beam& b) { b.prefix = "4 4 4 4 4"; }) ==
        "Beam.prefix: expected at most 4 tokens, as max_length says, got 5");
  CHECK(of_beam([](bd::Beam& b) { b.prefix = "  "; }) == "Beam.prefix: expected a word, got an empty one");
  CHECK(of_beam([](bd::Beam& b) {
          b.forbidden = {"4", ""};
        }) == "Beam.forbidden, word 1: expected a word, got an empty one");
  CHECK(of_beam([](bd::Beam& b) { b.forbidden = {"chat"}; }) ==
        "Beam.forbidden, word 0: expected words of the target vocabulary, got \"chat\"; the model cannot "
        "write it");
  CHECK(of_beam([](bd::Beam& b) { b.forbidden = {"<eos>"}; }) ==
        "Beam.forbidden, word 0: expected a word, got <eos>; min_length keeps a translation from its end");
  CHECK(of_beam([](bd::Beam& b) { b.forbidden = {"v\xFF"}; }) ==
        "Beam.forbidden, word 0: expected UTF-8, got byte 0xff at offset 1");
  CHECK(of_beam([](bd::Beam& b) { b.required = {"4 <eos>"}; }) ==
        "Beam.required, word 0: expected words, got <eos>");
  CHECK(of_beam([](bd::Beam& b) {
          b.required = {"5", "4 4 5 6 4"};
        }) == "Beam.required, word 1: expected at most 4 tokens, as max_length says, got 5");
  CHECK(of_beam([](bd::Beam& b) { b.required.assign(10000, "4"); }) ==
        "Beam.required: expected at most 64 words, got 10000");
  CHECK(of_beam([](bd::Beam& b) {
          b.max_length = 0;
          std::string phrase;
          for (int i = 0; i < 1001; ++i) phrase += "4 ";
          b.required = {phrase};
        }) == "Beam.required: expected words of at most 1000 tokens together, got more");
  // Lists that contradict one another.
  CHECK(of_beam([](bd::Beam& b) {
          b.required = {"5 6"};
          b.forbidden = {"6"};
        }) == "Beam.required: expected words that are not forbidden too, got \"6\"");
  CHECK(of_beam([](bd::Beam& b) {
          b.prefix = "4 5 6";
          b.forbidden = {"4 5"};
        }) == "Beam.prefix: expected words that are not forbidden too, got \"5\"");
  CHECK(of_beam([](bd::Beam& b) {
          b.forbidden = {"4", "5", "6", "<unk>", "<pad>", "<bos>"};
          b.min_length = 2;
        }) ==
        "Beam.forbidden: expected a word that is left for a translation of min_length 2, got all of the "
        "vocabulary");
  // Words that fit one by one, but not together, and words that nothing may stand between.
  const std::string none =
      "translate, sentence 0: expected a translation of at most 4 tokens that has all it must and nothing it "
      "must not, got none; a wider beam or a greater max_length may find one";
  CHECK(of_beam([](bd::Beam& b) { b.required = {"4 4 5", "6 6"}; }) == none);
  CHECK(of_beam([](bd::Beam& b) {
          b.required = {"4", "5"};
          b.forbidden = {"6", "<unk>", "<pad>", "<bos>", "4 5", "5 4"};
        }) == none);
  bd::Beam limited{.width = 3};
  limited.required = {"4 5 6"};
  limited.limits.target_tokens = 2;
  CHECK_THROWS_AS(toy().translate("4 5", limited), bd::LimitError);
  // Nobody is hurt.
  CHECK(of_beam([](bd::Beam& b) { b.required.assign(64, "4"); }) == "nothing was thrown");
  CHECK(of_beam([](bd::Beam& b) { b.forbidden.assign(10000, "4"); }) == "nothing was thrown");
  CHECK(toy().translate("4 5", bd::Greedy{}).target == toy().translate("4 5").target);
}
