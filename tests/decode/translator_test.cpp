// The queue for servers: answers are those of one call per request, whoever waits with whom, and nobody's
// mistakes are another's.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <future>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace {

namespace bd = bahdanau;
using bd::test::message_of;
using bd::test::numbered;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

const Model& model() {
  static const Model made({.embed = 12, .hidden = 20, .layers = 2, .dropout = 0}, numbered(30, 37, 9), 3);
  return made;
}

bool equal(const bd::Translation& a, const bd::Translation& b) {
  return a.text == b.text && a.score == b.score && a.log_probs == b.log_probs && a.attention == b.attention;
}

std::string sentence_of(std::size_t number) {
  std::string out;
  for (std::size_t i = 0; i < 1 + number % 7; ++i) out += std::to_string(4 + (number * 5 + i * 3) % 26) + " ";
  return out;
}

}  // namespace

TEST_CASE("answers of a translator have the bits of single calls", "[translator]") {
  const auto frozen = model().freeze();
  const bd::Greedy greedy{.max_length = 9};
  const bd::Beam beam{.width = 3, .max_length = 9};
  const auto wait = std::chrono::microseconds(GENERATE(0, 2000));
  bd::Translator translator(frozen, {.batch = 8, .wait = wait, .threads = 2});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 6; ++c)
    clients.emplace_back([&, c] {
      for (std::size_t i = 0; i < 15; ++i) {
        const std::string sentence = sentence_of(c * 100 + i);
        if ((c + i) % 3 == 0)
          wrong += !equal(translator.submit(sentence, beam).get(), frozen.translate(sentence, beam));
        else
          wrong += !equal(translator.submit(sentence, greedy).get(), frozen.translate(sentence, greedy));
      }
    });
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  CHECK(translator.waiting() == 0);
}

TEST_CASE("a request that fails takes no other along", "[translator][error]") {
  bd::Translator translator(model().freeze(), {.threads = 1});
  std::vector<std::future<bd::Translation>> good;
  auto not_text = translator.submit("4 \xff", bd::Greedy{});
  auto too_long = translator.submit("4 5 6 7", bd::Greedy{.limits = {.source_tokens = 3}});
  auto too_wide = translator.submit("4", bd::Beam{.width = 0});
  auto late =
      translator.submit("4", bd::Greedy{.limits = {.deadline = std::chrono::steady_clock::time_point()}});
  for (int i = 0; i < 5; ++i) good.push_back(translator.submit("4 5 6", bd::Greedy{.max_length = 5}));
  CHECK(message_of([&] { not_text.get(); }).starts_with("translate: expected UTF-8"));
  CHECK(message_of([&] { too_long.get(); }) ==
        "translate, sentence 0: expected a source of at most 3 tokens with its <eos>, got 5; see "
        "Limits.source_tokens");
  CHECK(message_of([&] { too_wide.get(); }) == "Beam.width: expected at least 1, got 0");
  CHECK(message_of([&] {
          late.get();
        }).starts_with("translate, sentence 0: expected an end before the deadline"));
  for (auto& one : good) CHECK(one.get().target.size() > 0);
}

TEST_CASE("a translator's queue is bounded, and requests that wait can be cancelled", "[translator]") {
  const auto frozen = model().freeze();
  std::promise<void> entered, go;
  std::shared_future<void> gate = go.get_future().share();
  std::atomic<int> answered = 0;
  std::stop_source stop;
  std::future<bd::Translation> cancelled;
  std::string refused;
  {
    bd::Translator translator(frozen, {.queue = 3, .threads = 1});
    // The only thread is held in a callback; what comes now waits.
    translator.submit("4", [&](const bd::Outcome&) {
      entered.set_value();
      gate.wait();
    });
    entered.get_future().wait();
    cancelled = translator.submit("5", bd::Greedy{}, stop.get_token());
    for (int i = 0; i < 2; ++i)
      translator.submit("6",
                        [&](const bd::Outcome& outcome) { answered += outcome.translation.has_value(); });
    CHECK(translator.waiting() == 3);
    refused = message_of([&] { translator.submit("7"); });
    stop.request_stop();
    go.set_value();
  }  // which waits for what was accepted
  CHECK(refused ==
        "Translator::submit: expected at most 3 requests that wait, got one more; see "
        "TranslatorOptions.queue");
  CHECK(answered == 2);
  CHECK_THROWS_AS(cancelled.get(), bd::Cancelled);
}

TEST_CASE("a translation can be watched as it grows, and stopped", "[stream]") {
  const auto frozen = model().freeze();
  const bd::Translation whole = frozen.translate("4 5 6", bd::Greedy{.max_length = 9});
  REQUIRE(whole.target.size() >= 4);
  std::vector<std::string> seen;
  double score = 0;
  bd::Greedy watched{.max_length = 9};
  watched.on_token = [&](const bd::StreamedToken& t) {
    CHECK(t.sentence == 0);
    seen.emplace_back(t.token);
    score += t.log_prob;
    return true;
  };
  CHECK(equal(frozen.translate("4 5 6", watched), whole));
  CHECK(seen == whole.target);
  CHECK(score == Approx(whole.score));
  seen.clear();
  watched.on_token = [&](const bd::StreamedToken& t) {
    seen.emplace_back(t.token);
    return seen.size() < 3;
  };
  const bd::Translation part = frozen.translate("4 5 6", watched);
  CHECK(part.target == std::vector<std::string>(whole.target.begin(), whole.target.begin() + 3));
  CHECK(part.target == seen);
  CHECK(message_of([&] {
          frozen.translate({"4", "5"}, watched);
        }) == "Greedy.on_token: expected one sentence, or threads = 1, got 2 sentences");
  std::set<std::size_t> sentences;
  watched.threads = 1;
  watched.on_token = [&](const bd::StreamedToken& t) { return sentences.insert(t.sentence), true; };
  frozen.translate({"4", "5"}, watched);
  CHECK(sentences == std::set<std::size_t>{0, 1});
}

TEST_CASE("samples follow the seed alone, and the probabilities", "[sample]") {
  const auto frozen = model().freeze();
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < 40; ++i) sentences.push_back(sentence_of(i));
  const bd::Sample sample{.seed = 5, .max_length = 6, .threads = 1};
  bd::Sample threaded = sample;
  threaded.threads = 3;
  const auto first = frozen.translate(sentences, sample), again = frozen.translate(sentences, threaded);
  for (std::size_t i = 0; i < sentences.size(); ++i) CHECK(equal(first[i], again[i]));
  bd::Sample other = sample;
  other.seed = 6;
  const auto others = frozen.translate(sentences, other);
  std::size_t differ = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) differ += first[i].text != others[i].text;
  CHECK(differ > 30);
  // One of one is the greedy choice; so is what a low temperature draws.
  for (const bd::Sample& sure :
       {bd::Sample{.top = 1, .max_length = 6}, bd::Sample{.temperature = 1e-4, .max_length = 6}})
    CHECK(frozen.translate(sentences[3], sure).text ==
          frozen.translate(sentences[3], bd::Greedy{.max_length = 6}).text);
  // First tokens of many draws have the model's probabilities.
  const std::vector<std::string> same(4000, "4 5");
  std::vector<double> counts(37, 0);
  for (const auto& t : frozen.translate(same, bd::Sample{.seed = 1, .max_length = 1}))
    ++counts[static_cast<std::size_t>(frozen.vocabularies().target.id(t.target[0]))];
  bd::Session session(frozen);
  session.restart({"4 5"});
  session.step(std::vector<bd::Index>{0}, std::vector<bd::Token>{bd::reserved::bos}, 0);
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const double p = std::exp(static_cast<double>(session.log_probs(0)[v]));
    CHECK(std::abs(counts[v] / 4000 - p) <= 5 * std::sqrt(p * (1 - p) / 4000) + 1e-9);
  }
  CHECK(message_of([&] { frozen.translate("4", bd::Sample{.temperature = 0}); }) ==
        "Sample.temperature: expected a finite number above 0, got 0");
}

TEST_CASE("a call has at most so many sentences", "[limits]") {
  CHECK(message_of([&] {
          model().translate({"4", "5", "6"}, bd::Greedy{.limits = {.sentences = 2}});
        }) == "translate, sentence 2: expected at most 2 sentences in a call, got 3; see Limits.sentences");
  CHECK(model().translate({"4", "5"}, bd::Greedy{.max_length = 3, .limits = {.sentences = 2}}).size() == 2);
}

TEST_CASE("a request with a deadline does not wait for company, and no wait is too long", "[translator]") {
  bd::Translator translator(model().freeze(), {.wait = std::chrono::microseconds::max(), .threads = 1});
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  CHECK_NOTHROW(translator.submit("4", bd::Greedy{.max_length = 4, .limits = {.deadline = soon}}).get());
  CHECK(message_of([&] { translator.submit("4", bd::Translator<Model>::Callback{}); }) ==
        "Translator::submit: expected a function to call, got an empty one");
}

TEST_CASE("a translator of the parent is refused in the child of a fork", "[translator][fork]") {
  if (!bd::test::threads_after_fork) return;
  std::optional<bd::Translator<Model>> translator(std::in_place, model().freeze());
  translator->submit("4", bd::Greedy{.max_length = 4}).get();
  const int code = bd::test::exit_code_of_child([&] {
    if (message_of([&] { translator->submit("4"); }) !=
        "Translator::submit: expected the process that has made the translator, got a child of it; make one "
        "from "
        "model() there")
      return 1;
    bd::Translator own(translator->model());
    if (own.submit("4", bd::Greedy{.max_length = 4}).get().target.empty()) return 2;
    translator.reset();
    return 0;
  });
  CHECK(code == 0);
}

TEST_CASE("a list of literals is a list of sentences, whatever the search", "[sample]") {
  CHECK(model().translate({"4", "5"}, bd::Sample{.max_length = 2}).size() == 2);
  CHECK(model().translate({"4", "5"}, bd::Beam{.max_length = 2}).size() == 2);
}
