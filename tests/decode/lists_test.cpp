// Lists of sentences: whatever they are kept in, each of them is translated.
#include <array>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<float>>;

const Model& toy() {
  static const Model model = [] {
    bd::Vocabularies v = numbered(9, 9, 4);
    v.text.tokens = bd::Tokens::none;
    return Model({.embed = 4, .hidden = 5, .layers = 1}, v, 3);
  }();
  return model;
}

using Sources = std::vector<std::vector<std::string>>;

Sources sources(const std::vector<bd::Translation>& all) {
  Sources out;
  for (const bd::Translation& t : all) out.push_back(t.source);
  return out;
}

const Sources expected{{"4", "5", "<eos>"}, {"6", "<eos>"}};

/// The same list with each kind of search, and as n-best lists.
template <class List>
void check(const List& list) {
  CHECK(sources(toy().translate(list)) == expected);
  CHECK(sources(toy().translate(list, bd::Greedy{.max_length = 3})) == expected);
  CHECK(sources(toy().translate(list, bd::Beam{.width = 2})) == expected);
  const auto nbest = bd::translate_nbest(toy(), list, bd::Beam{.width = 2, .nbest = 2});
  REQUIRE(nbest.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(nbest[i].size() == 2);
    CHECK(nbest[i][0].source == expected[i]);
  }
}

}  // namespace

TEST_CASE("a list in braces translates all its sentences", "[decode][list]") {
  const std::string a = "4 5", b = "6";
  const std::string_view c = a, d = b;
  CHECK(sources(toy().translate({"4 5", "6"})) == expected);
  CHECK(sources(toy().translate({"4 5", "6"}, bd::Greedy{.max_length = 3})) == expected);
  CHECK(sources(toy().translate({"4 5", "6"}, bd::Beam{.width = 2})) == expected);
  CHECK(sources(toy().translate({a, b})) == expected);
  CHECK(sources(toy().translate({c, d})) == expected);
  CHECK(sources(toy().translate({a, "6"})) == expected);
  CHECK(sources(toy().translate({std::string("4 5"), std::string("6")})) == expected);
  CHECK(bd::translate_nbest(toy(), {"4 5", "6"}, bd::Beam{.width = 2, .nbest = 2}).size() == 2);
  CHECK(toy().translate({"4", "5", "6"}).size() == 3);
}

TEST_CASE("a list of one sentence gives a list of one, and an empty one nothing", "[decode][list]") {
  const std::string a = "4 5";
  CHECK(sources(toy().translate({"4 5"})) == Sources{expected[0]});
  CHECK(sources(toy().translate({a})) == Sources{expected[0]});
  CHECK(sources(toy().translate({"4 5"}, bd::Beam{.width = 2})) == Sources{expected[0]});
  CHECK(toy().translate({}).empty());
  CHECK(toy().translate({}, bd::Beam{}).empty());
  CHECK(toy().translate(std::vector<std::string>{}).empty());
  CHECK(bd::translate_nbest(toy(), {}, bd::Beam{}).empty());
}

TEST_CASE("vectors, arrays and spans of strings, views and literals translate all their sentences",
          "[decode][list]") {
  const std::vector<std::string> strings{"4 5", "6"};
  check(strings);
  check(std::span(strings));
  check(std::array<std::string, 2>{"4 5", "6"});
  check(std::list<std::string>{"4 5", "6"});
  check(std::vector<std::string_view>{"4 5", "6"});
  check(std::array<std::string_view, 2>{"4 5", "6"});
  check(std::vector<const char*>{"4 5", "6"});
  check(std::array<const char*, 2>{"4 5", "6"});
  const char* literals[] = {"4 5", "6"};
  check(literals);
  check(std::span(literals));
  const std::initializer_list<const char*> list{"4 5", "6"};
  check(list);
  std::vector<std::string> changeable = strings;
  CHECK(sources(toy().translate(changeable)) == expected);
}

TEST_CASE("one string, whatever it is, is one sentence", "[decode][list]") {
  const std::string string = "4 5";
  std::string changeable = string;
  const char* pointer = "4 5";
  char letters[] = "4 5";
  const auto check_one = [](const bd::Translation& t) { CHECK(t.source == expected[0]); };
  check_one(toy().translate("4 5"));
  check_one(toy().translate(string));
  check_one(toy().translate(changeable));
  check_one(toy().translate(std::string("4 5")));
  check_one(toy().translate(std::string_view(string)));
  check_one(toy().translate(pointer));
  check_one(toy().translate(letters));
  check_one(toy().translate(string, bd::Greedy{}));
  check_one(toy().translate("4 5", bd::Beam{.width = 2}));
  check_one(toy().translate(pointer, bd::Beam{.width = 2}));
}

TEST_CASE("the message for a bad sentence of a list says which it is", "[decode][list][error]") {
  CHECK(message_of([] {
          (void)toy().translate({"4", "5", "v\xFF"});
        }) == "translate, sentence 2: expected UTF-8, got byte 0xff at offset 1");
  CHECK(message_of([] {
          (void)toy().translate(std::vector<const char*>{"4", nullptr});
        }) == "translate, sentence 1: expected a sentence, got a null pointer");
}
