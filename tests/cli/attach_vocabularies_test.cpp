// docs/attach_vocabularies.py: weights from PyTorch and two lists of tokens become a model file.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/golden.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Cell, class Encoder>
using Model = bd::EncoderDecoder<Cell, bd::Additive, bd::Xtensor<float>, Encoder>;

/// Whether there is one to run the script with.
bool python() {
  const bool found = run_shell("python3 --version").code == 0;
  if (!found) WARN("skipped: there is no python3");
  return found;
}

/// The script with these arguments, in a shell's words.
Run attach(const std::string& arguments) {
  return run_shell("python3 " + shell_word(golden_path("../../../docs/attach_vocabularies.py")) + " " +
                   arguments);
}

/// Where a sorted list of the tokens has each of them, as d2l's package numbers them.
std::vector<std::size_t> sorted_order(const std::vector<std::string>& tokens) {
  std::vector<std::size_t> order(tokens.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tokens[a] < tokens[b]; });
  return order;
}

std::string json_of(const std::vector<std::string>& tokens, const std::vector<std::size_t>& order) {
  bd::detail::JsonArray out;
  for (const std::size_t i : order) out.add(tokens[i]);
  return out.text();
}

/// The weights as d2l's package would save them: its names, and its order of tokens.
template <class M>
void save_as_d2l(const M& model, const std::filesystem::path& path, const std::string& prefix) {
  bd::SafetensorsWriter file;
  for (const auto& entry : model.parameters().entries()) {
    std::string name = entry.name;
    if (name.starts_with("encoder.rnn.")) name.insert(12, "rnn.");
    std::vector<float> values = model.weights().read(entry.parameter);
    const bool source = name == "encoder.embedding.weight";
    if (source || name == "decoder.embedding.weight" || name.starts_with("decoder.dense.")) {
      const auto& vocabulary = source ? model.vocabularies().source : model.vocabularies().target;
      const std::size_t row = values.size() / vocabulary.size();
      std::vector<float> moved;
      for (const std::size_t i : sorted_order(vocabulary.tokens()))
        moved.insert(moved.end(), values.begin() + static_cast<std::ptrdiff_t>(i * row),
                     values.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
      values = moved;
    }
    file.add(prefix + name, bd::detail::extents_of(entry.parameter.shape), values);
  }
  file.write(path);
}

template <class M>
void check_way_back(const std::string& prefix, std::size_t layers, const std::string& options) {
  const TemporaryDirectory files;
  const std::vector<std::string> reserved{"<unk>", "<pad>", "<bos>", "<eos>"};
  std::vector<std::string> english = reserved, french = reserved;
  for (const char* word : {".", "go", "!", "i", "home", "he's"}) english.emplace_back(word);
  for (const char* word : {".", "va", "!", "\u00e9cris", "je", "suis", "l'\"h\u00f4tel\""})
    french.emplace_back(word);
  const std::size_t max_length = options.find("--max-length") == options.npos ? 0 : 9;
  const M model({.embed = 5, .hidden = 6, .layers = layers},
                {bd::Vocabulary(english), bd::Vocabulary(french), {.max_length = max_length}}, 3);
  save_as_d2l(model, files / "weights.safetensors", prefix);
  put(files / "source.json", json_of(english, sorted_order(english)));
  std::string lines;
  for (const std::size_t i : sorted_order(french)) lines += french[i] + "\n";
  put(files / "target.txt", lines);
  const Run run = attach(shell_word(files / "weights.safetensors") + " " + shell_word(files / "source.json") +
                         " " + shell_word(files / "target.txt") + " " +
                         shell_word(files / "model.safetensors") + " " + options);
  CHECK(run.err.empty());
  REQUIRE(run.code == 0);

  const M loaded = M::load(files / "model.safetensors");
  CHECK(loaded.vocabularies().source.tokens().size() == english.size());
  CHECK(loaded.max_length() == max_length);
  const std::vector<std::string> sentences{"go home .", "he's home !", "i go"};
  for (const std::string& sentence : sentences)
    CHECK(loaded.translate(sentence).text == model.translate(sentence).text);
  CHECK(loaded.translate("go home .").score == Approx(model.translate("go home .").score).epsilon(1e-6));
  const Run tool = run_tool("translate --model " + shell_word(files / "model.safetensors"), "go home .\n");
  CHECK(tool.err.empty());
  CHECK(tool.out == model.translate("go home .").text + "\n");
}

}  // namespace

TEST_CASE("a script makes a model file of weights from PyTorch and two vocabularies", "[cli][python]") {
  if (!python()) return;
  check_way_back<Model<bd::Gru, bd::Unidirectional>>("", 2, "");
  check_way_back<Model<bd::Gru, bd::Unidirectional>>("net.", 1, "--max-length 9");

  const TemporaryDirectory files;
  put(files / "weights", "not safetensors, but long enough to look at");
  put(files / "tokens", "<unk>\n<pad>\n<bos>\na\n");
  CHECK(attach(shell_word(files / "weights") + " x y z --final-state padded").err ==
        "--final-state padded: expected a --max-length, got none\n");
  const Model<bd::Gru, bd::Unidirectional> model(
      {.embed = 5, .hidden = 6, .layers = 1}, {bd::Vocabulary::numbered(5), bd::Vocabulary::numbered(5), {}});
  save_as_d2l(model, files / "weights", "");
  const std::string tokens = shell_word(files / "tokens");
  CHECK_THAT(
      attach(shell_word(files / "weights") + " " + tokens + " " + tokens + " " + shell_word(files / "m")).err,
      ContainsSubstring("tokens: expected the tokens <unk> <pad> <bos> <eos>, got none of <eos>"));
  put(files / "tokens", "<unk>\n<pad>\n<bos>\n<eos>\n");
  CHECK_THAT(
      attach(shell_word(files / "weights") + " " + tokens + " " + tokens + " " + shell_word(files / "m")).err,
      ContainsSubstring("expected 5 tokens, the rows of encoder.embedding.weight, got 4"));
  CHECK_FALSE(std::filesystem::exists(files / "m"));
}

TEST_CASE("the script knows an LSTM and both directions by their tensors", "[cli][python][lstm]") {
  if (python()) check_way_back<Model<bd::Lstm, bd::Bidirectional>>("module.", 2, "");
}
