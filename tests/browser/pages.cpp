// Writes the pages that tests/browser/check.py looks at into the folder that is given: pages.html,
// report.html, many.html with two thousand sentences, and empty.html with none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/plot/page.hpp>
#include <bahdanau/plot/report.hpp>

namespace bd = bahdanau;
using Words = std::vector<std::string>;

namespace {

/// A translation with attention near the diagonal, sharper for a larger `focus`.
bd::Translation translation(const Words& source, const Words& target, double focus = 1.5,
                            double surprise = 0) {
  bd::Translation out;
  out.source = source;
  out.target = target;
  out.attention = bd::Array<float, 2>::from_shape({target.size(), source.size()});
  for (std::size_t t = 0; t < target.size(); ++t) {
    const double middle = static_cast<double>(t) * static_cast<double>(source.size()) /
                          static_cast<double>(std::max<std::size_t>(target.size(), 1));
    double total = 0;
    const auto score = [&](std::size_t s) {
      return std::exp(-focus * std::abs(static_cast<double>(s) - middle));
    };
    for (std::size_t s = 0; s < source.size(); ++s) total += score(s);
    for (std::size_t s = 0; s < source.size(); ++s)
      out.attention(t, s) = static_cast<float>(score(s) / total);
    const double p = 0.3 + 0.69 * std::abs(std::cos(1.3 * static_cast<double>(t) + surprise));
    out.log_probs.push_back(std::log(p));
    out.score += out.log_probs.back();
    out.runners_up.push_back({{"mot" + std::to_string(t), std::log(0.6 * (1 - p))},
                              {"autre", std::log(0.25 * (1 - p))},
                              {"<unk>", std::log(0.1 * (1 - p))}});
    if (target[t] != "<eos>") out.text += (t == 0 ? "" : " ") + target[t];
  }
  return out;
}

/// A beam of 2 for "elle a trouvé un manteau bleu .": at each step what went on, and what did not.
std::shared_ptr<const bd::SearchHistory> history(const Words& target, const bd::Translation& found) {
  auto out = std::make_shared<bd::SearchHistory>();
  out->width = 2;
  double score = 0;
  for (std::size_t t = 0; t < target.size(); ++t) {
    score += found.log_probs[t];
    const bool last = t + 1 == target.size();
    auto& step = out->steps.emplace_back();
    step.push_back({0, target[t], found.log_probs[t], score, last ? bd::Fate::ended : bd::Fate::kept,
                    last ? score / 4 : NAN, last ? std::size_t{1} : 0});
    step.push_back({0, "mot" + std::to_string(t), -1.4, score - 1.1,
                    last || t == 4 ? bd::Fate::pruned : bd::Fate::kept});
    step.push_back({t == 0 || t == 5 ? std::size_t{0} : 1, "<unk>", -2.5, score - 2.2, bd::Fate::dropped});
    if (t == 3) step.push_back({1, "<eos>", -2.7, score - 2.9, bd::Fate::ended, -1.9});
    step.push_back({0, "autre", -3.1, score - 3.3, bd::Fate::dropped});
  }
  return out;
}

/// A beam of 3 that has ended at once, with words of several signs that people take for one.
std::shared_ptr<const bd::SearchHistory> one_step(const std::string& family) {
  std::string families;
  for (int i = 0; i < 12; ++i) families += family;
  auto out = std::make_shared<bd::SearchHistory>();
  out->width = 3;
  out->steps = {{{0, "<eos>", -0.1, -0.1, bd::Fate::ended, -0.1, 1},
                 {0, family + family, -3, -3, bd::Fate::pruned},
                 {0, families, -4, -4, bd::Fate::pruned},
                 {0, "mot", -5, -5, bd::Fate::dropped}}};
  return out;
}

bd::plot::PageSentence coat() {
  const Words source{"she", "found", "a", "blue", "coat", ".", "<eos>"},
      target{"elle", "a", "trouvé", "un", "manteau", "bleu", ".", "<eos>"};
  bd::Translation best = translation(source, target);
  // The noun comes before its colour.
  for (std::size_t t : {4U, 5U})
    for (std::size_t s = 0; s < source.size(); ++s)
      best.attention(t, s) = s == (t == 4 ? 4U : 3U) ? 0.82F : 0.03F;
  best.history = history(target, best);
  Words worse = target;
  std::swap(worse[4], worse[5]);
  worse[3] = "le";
  return {.translations = {best, translation(source, worse, 1.2, 0.3)},
          .reference = {"elle", "a", "trouvé", "une", "veste", "bleue", "."},
          .scored = translation(source, {"elle", "a", "trouvé", "une", "<unk>", "bleue", ".", "<eos>"}),
          .gold = bd::parse_pharaoh("gold", "0-0 1-1 1-2 2-3 3-5 4-4 5-6 4?3")};
}

Words numbered(const std::string& word, std::size_t count) {
  Words out;
  for (std::size_t i = 0; i + 1 < count; ++i) out.push_back(word + std::to_string(i));
  out.push_back("<eos>");
  return out;
}

bd::Translation with_heads() {
  bd::Translation out = translation({"go", "now", ".", "<eos>"}, {"va", "maintenant", "!", "<eos>"});
  out.heads = bd::Array<float, 3>::from_shape({4, 4, 4});
  for (std::size_t h = 0; h < 4; ++h)
    for (std::size_t t = 0; t < 4; ++t)
      for (std::size_t s = 0; s < 4; ++s) out.heads(h, t, s) = (t + h) % 4 == s ? 0.7F : 0.1F;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const Words hostile{"<script>window.taken=1</script>",
                      "</script>",
                      "<img src=x onerror=window.taken=1>",
                      "&amp;",
                      "\"'`",
                      "${1}",
                      "\xE2\x80\xAE"
                      "gnp",
                      "<eos>"};
  bd::Translation attack = translation(hostile, hostile);
  attack.text = "</script><script>window.taken=1</script>";
  attack.runners_up[0][0].token = "<b onclick=window.taken=1>b</b>";
  attack.history = history(hostile, attack);
  bd::Translation blind = translation({"no", "attention", "<eos>"}, {"sans", "attention", "<eos>"});
  blind.attention = bd::Array<float, 2>::from_shape({3, 0});
  const Words arabic{"ذهبت", "الفتاة", "إلى", "المدرسة", "صباحا", ".", "<eos>"};
  const Words chinese{"女孩", "早上", "去", "学校", "。", "<eos>"};
  const Words emoji{"👩‍👩‍👧‍👧", "🇫🇷", "loves", "naïve", "שלום", "<eos>"};
  std::vector<bd::plot::PageSentence> sentences{coat(),
                                                {{attack}},
                                                {{with_heads()}},
                                                {{translation(arabic, chinese)}},
                                                {{translation(chinese, arabic)}},
                                                {{translation(emoji, emoji)}},
                                                {{blind}},
                                                {{translation(numbered("word", 200), numbered("mot", 200))}}};
  sentences[5].translations[0].history = one_step(emoji[0]);
  sentences[3].reference = {"女孩", "早上", "去", "学校", "。"};
  bd::plot::page(folder / "pages.html", sentences, {.title = "English to French <b>&</b> more"});

  bd::plot::page(folder / "empty.html", std::vector<bd::plot::PageSentence>{});
  std::vector<bd::plot::PageSentence> many;
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::size_t length = 5 + i * 7 % 30;
    Words source = numbered("word", length);
    source[0] = "sentence" + std::to_string(i);
    many.push_back({{translation(source, numbered("mot", length))}, numbered("mot", length)});
  }
  bd::plot::page(folder / "many.html", many, {.title = "Two thousand sentences"});

  bd::plot::TrainingRecord record;
  for (std::uint64_t epoch = 1; epoch <= 30; ++epoch) {
    const double x = static_cast<double>(epoch);
    for (std::size_t batch = 1; batch <= 20; ++batch) {
      const double now = x - 1 + static_cast<double>(batch) / 20,
                   loss = 5 * std::exp(-now / 9) + 0.2 + 0.1 * std::sin(17 * now);
      record.add(bd::BatchReport{epoch,
                                 batch,
                                 20,
                                 {100 * loss, 100, loss},
                                 2 / (1 + now / 5) + 0.2 * std::cos(23 * now),
                                 epoch < 20 ? 0.005 : 0.0025,
                                 0.1});
    }
    record.add(bd::EpochReport{.epoch = epoch,
                               .training = {1000 * (5 * std::exp(-x / 9) + 0.2), 1000, 1},
                               .validation = bd::Loss{1000 * (4.6 * std::exp(-x / 10) + 0.5), 1000, 1},
                               .seconds = 0.01 + 0.001 * std::sin(x)});
    record.add_samples(epoch, {translation({"i", "lost", ".", "<eos>"},
                                           {"j'ai", epoch < 9 ? "vu" : "perdu", ".", "<eos>"}, 0.05 * x),
                               translation(arabic, chinese, 0.05 * x)});
  }
  bd::plot::report(folder / "report.html", record,
                   {.title = "Training m.safetensors", .epochs = 40, .refresh = 1});
}
