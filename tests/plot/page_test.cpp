// The page of translations, as far as it can be seen without a browser: one file, nothing fetched, data that
// are JSON again and cannot be markup. tests/browser looks at it with Chromium.
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/plot/page.hpp>
#include <bahdanau/plot/report.hpp>

#include "plot/attention_example.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau;
using bahdanau::plot::PageSentence;
using bahdanau::test::attention_example;
using bahdanau::test::hostile_tokens;
using bahdanau::test::numbered_words;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;

namespace {

/// An example with all that a translation must have for a page.
Translation example(const std::vector<std::string>& source, const std::vector<std::string>& target) {
  Translation translation = attention_example(source, target);
  translation.log_probs.assign(target.size(), -0.5);
  translation.score = -0.5 * static_cast<double>(target.size());
  return translation;
}

/// The data in a page.
nlohmann::json data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size(), end = html.find("</script>", begin);
  return nlohmann::json::parse(html.substr(begin, end - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A weight as the page's script reads it.
double weight_at(const std::string& packed, std::size_t i) {
  const auto value = [&](char c) { return static_cast<double>(detail::base64_digits.find(c)); };
  return (value(packed[2 * i]) * 64 + value(packed[2 * i + 1])) / 4095;
}

}  // namespace

TEST_CASE("a page is one file of less than 300 KB before its data, and fetches nothing", "[plot][page]") {
  const std::string html = plot::page_html(std::vector<PageSentence>{});
  CHECK(html.size() < 300'000);
  CHECK(html.size() > 10'000);
  for (const char* fetched : {"src=", "@import", "url(", "fetch(", "XMLHttpRequest", "<iframe", "import("})
    CHECK(html.find(fetched) == html.npos);
  // The one address is the name of SVG's elements.
  CHECK(count(html, "http") == count(html, "http-equiv") + count(html, "http://www.w3.org/2000/svg"));
  CHECK_THAT(html, ContainsSubstring("default-src 'none'"));
  CHECK(count(html, "</script>") == 2);
}

TEST_CASE("what a page shows is in its data", "[plot][page]") {
  Translation best = example({"i", "lost", "<eos>"}, {"j'ai", "perdu", "<eos>"});
  best.text = "j'ai perdu";
  best.attention = {{0.75F, 0.25F, 0.0F}, {0.1F, 0.8F, 0.1F}, {0.0F, 0.0F, 1.0F}};
  best.runners_up = {{{"il", -1.5}}, {{"gagné", -2.0}, {"vu", -3.0}}, {}};
  best.heads = Array<float, 3>::from_shape({2, 3, 3});
  best.heads.fill(0.5F);
  auto history = std::make_shared<SearchHistory>();
  history->steps = {{{0, "j'ai", -0.5, -0.5}, {0, "il", -1.5, -1.5, Fate::dropped}},
                    {{0, "perdu", -0.5, -1.0, Fate::ended, -0.7, 1}}};
  best.history = history;
  Translation second = example({"i", "lost", "<eos>"}, {"perdu", "<eos>"});
  const PageSentence sentence{.translations = {best, second},
                              .reference = {"j'ai", "perdu"},
                              .scored = example({"i", "lost", "<eos>"}, {"j'ai", "perdu", "<eos>"}),
                              .gold = parse_pharaoh("gold", "0-0 1?1")};
  const auto page = data_of(plot::page_html(std::vector{sentence}, {.title = "A & B"}));
  CHECK(page["title"] == "A & B");
  const auto& data = page["sentences"][0];
  CHECK(data["source"] == std::vector<std::string>{"i", "lost", "<eos>"});
  CHECK(data["reference"] == std::vector<std::string>{"j'ai", "perdu"});
  CHECK(data["gold"] == nlohmann::json::parse("[[0,0,1],[1,1,0]]"));
  CHECK(data["history"] ==
        nlohmann::json::parse(R"([[[0,"j'ai",-0.5,-0.5,0,null,0],[0,"il",-1.5,-1.5,2,null,0]],
                                                     [[0,"perdu",-0.5,-1.0,1,-0.7,1]]])"));
  CHECK_FALSE(data.contains("width"));  // it is not known
  history->width = 2;
  CHECK(data_of(plot::page_html(std::vector{sentence}))["sentences"][0]["width"] == 2);
  REQUIRE(data["nbest"].size() == 3);
  const auto& first = data["nbest"][0];
  CHECK(first["text"] == "j'ai perdu");
  CHECK(first["score"] == -1.5);
  CHECK(first["log_probs"] == std::vector<double>{-0.5, -0.5, -0.5});
  CHECK(first["bleu"] == 1);
  CHECK(first["runners_up"] == nlohmann::json::parse(R"([[["il",-1.5]],[["gagné",-2.0],["vu",-3.0]],[]])"));
  CHECK(first["heads"].size() == 2);
  CHECK(weight_at(first["heads"][1], 8) == Approx(0.5).margin(2e-4));
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(weight_at(first["attention"], i) == Approx(best.attention.data()[i]).margin(1.3e-4));
  CHECK(data["nbest"][1]["bleu"].get<double>() < 1);
  CHECK(data["nbest"][2]["forced"] == true);
  CHECK_FALSE(data["nbest"][2].contains("bleu"));
}

TEST_CASE("words that are markup, or no text at all, stay data", "[plot][page]") {
  std::vector<std::string> words = hostile_tokens();
  for (const char* word :
       {"<script>", "</script>", "<!--", "]]>", "<img src=x onerror=alert(1)>", "&lt;", "\\u003c",
        "\xE2\x80\xA8", "\xE2\x80\xAE", "\xFF", "\"", "مرحبا", "你好", "👩‍👩‍👧‍👧"})
    words.push_back(word);
  Translation hostile = example(words, words);
  hostile.text = "</script><script>alert(1)</script>";
  hostile.runners_up.assign(words.size(), {{"</script>", -1}});
  auto history = std::make_shared<SearchHistory>();
  history->steps = {{{0, "</script>", -1, -1, Fate::ended, -1, 1}}};
  hostile.history = history;
  const std::string html =
      plot::page_html(std::vector{PageSentence{.translations = {hostile}, .reference = words}},
                      {.title = "</title><script>"});
  CHECK(count(html, "</script>") == 2);
  CHECK(count(html, "<script") == 2);
  CHECK(html.find("alert(1)<") == html.npos);
  CHECK(html.find("<img") == html.npos);
  CHECK_THAT(html, ContainsSubstring("<title>&lt;/title&gt;&lt;script&gt;</title>"));
  const auto data = data_of(html)["sentences"][0];
  for (std::size_t i = 0; i < words.size(); ++i) CHECK(data["source"][i] == detail::visible(words[i]));
}

TEST_CASE("models without attention, empty sentences and long ones have pages, too", "[plot][page]") {
  Translation none = example({"a", "<eos>"}, {"b", "<eos>"});
  none.attention = Array<float, 2>::from_shape({2, 0});
  CHECK(data_of(plot::page_html(std::vector{PageSentence{{none}}}))["sentences"][0]["nbest"][0]["keys"] == 0);
  Translation empty;
  empty.attention = Array<float, 2>::from_shape({0, 0});
  CHECK(data_of(plot::page_html(std::vector{PageSentence{{empty}}}))["sentences"].size() == 1);
  const Translation large = example(numbered_words("mot", 200), numbered_words("word", 200));
  const std::string html = plot::page_html(std::vector{PageSentence{{large}}});
  CHECK(data_of(html)["sentences"][0]["nbest"][0]["attention"].get<std::string>().size() == 80'000);
  CHECK(html.size() < 400'000);
}

TEST_CASE("a page is refused what does not fit together, and the old file stays", "[plot][page][error]") {
  const test::TemporaryDirectory files;
  test::put(files / "page.html", "old");
  const auto refused = [&](const PageSentence& sentence, const std::string& message) {
    CHECK_THROWS_MATCHES(plot::page(files / "page.html", std::vector{sentence}), Error, Message(message));
    CHECK(test::contents(files / "page.html") == "old");
  };
  refused({}, "page, sentence 0: expected at least one translation, got none");
  const Translation good = example({"a", "<eos>"}, {"b", "<eos>"});
  Translation bad = good;
  bad.attention = Array<float, 2>::from_shape({3, 2});
  refused({{bad}}, "page, sentence 0: expected attention of 2 target tokens, got 3");
  bad = good;
  bad.attention(0, 0) = NAN;
  CHECK_THROWS_AS(plot::page(files / "page.html", std::vector{bad}), Error);
  bad = good;
  bad.log_probs.pop_back();
  refused({{bad}}, "page, sentence 0: expected ln p of 2 target tokens, got 1");
  refused({.translations = {good}, .gold = parse_pharaoh("gold", "0-7")},
          "page, sentence 0: expected gold links of 2 source and 2 target tokens, got 0-7");
  bad = good;
  auto history = std::make_shared<SearchHistory>();
  history->steps = {{{0, "a"}}, {{4, "b"}}};
  bad.history = history;
  refused({{bad}}, "page, sentence 0: expected a parent among the 1 hypotheses of step 0, got 4");
  plot::page(files / "page.html", std::vector{good});
  CHECK_THAT(test::contents(files / "page.html"), ContainsSubstring("</html>"));
}

TEST_CASE("a training's report has its epochs, batches and samples, and stays small", "[plot][report]") {
  plot::TrainingRecord record;
  for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) {
    for (std::size_t batch = 1; batch <= 50; ++batch)
      record.add(BatchReport{epoch, batch, 50, {20, 10, 1}, 0.25, 0.005, 1});
    record.add(EpochReport{
        .epoch = epoch, .training = {200, 100, 1}, .validation = Loss{300, 100, 1}, .seconds = 2});
    record.add_samples(epoch, {example({"a", "<eos>"}, {"b", "<eos>"})});
  }
  CHECK(record.points().size() < plot::TrainingRecord::most_points);
  CHECK(record.points().size() > plot::TrainingRecord::most_points / 4);
  REQUIRE(record.samples().size() <= plot::TrainingRecord::most_samples);
  CHECK(record.samples().size() > plot::TrainingRecord::most_samples / 3);
  CHECK(record.samples().front().epoch == 1);
  for (std::size_t i = 1; i < record.points().size(); ++i)
    CHECK(record.points()[i].epoch > record.points()[i - 1].epoch);
  const auto data = data_of(plot::report_html(record, {.title = "<t>", .epochs = 120, .refresh = 3}));
  CHECK(data["epochs"].size() == 100);
  CHECK(data["epochs"][99] ==
        nlohmann::json::parse(R"({"epoch":100,"loss":2.0,"validation":3.0,"speed":50})"));
  CHECK(data["batches"][0]["norm"] == 0.25);
  CHECK(data["batches"][0]["loss"] == 2.0);
  CHECK(data["refresh"] == 3);
  CHECK(data["total"] == 120);
  CHECK(data["samples"][0]["translations"][0]["source"] == std::vector<std::string>{"a", "<eos>"});
  CHECK(data_of(plot::report_html({}))["epochs"].empty());
}
