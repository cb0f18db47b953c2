// Going on from a trained model with other vocabularies, and embeddings from text files.
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau::test;
namespace bd = bahdanau;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

const std::vector<bd::SentencePair> first{{"go .", "va !"}, {"i lost .", "j'ai perdu ."}};
const std::vector<bd::SentencePair> second{
    {"go .", "va !"}, {"he lost .", "il a perdu ."}, {"i go .", "je vais ."}};

std::vector<float> row(const Model& model, const std::string& name, std::size_t number) {
  for (const auto& entry : model.parameters().entries())
    if (entry.name == name) {
      const std::vector<float> all = model.weights().read(entry.parameter);
      const std::size_t width = entry.parameter.shape.rank() == 1 ? 1 : entry.parameter.shape.cols();
      return {all.begin() + static_cast<std::ptrdiff_t>(number * width),
              all.begin() + static_cast<std::ptrdiff_t>((number + 1) * width)};
    }
  FAIL(name);
  return {};
}

/// Some pairs by the vocabularies of a model file, and what they lack.
bd::Corpus extending(const TemporaryDirectory& files, const bd::Vocabularies& v) {
  std::string text;
  for (const auto& [source, target] : second) text.append(source).append("\t").append(target).append("\n");
  put(files / "second.tsv", text);
  return bd::Corpus::read(files / "second.tsv", v, {.min_frequency = 1, .extend = true});
}

}  // namespace

TEST_CASE("a model goes on from another, with more words", "[io][start_from]") {
  const TemporaryDirectory files;
  const auto corpus = bd::Corpus::from_pairs(first, {.min_frequency = 1});
  Model trained({.embed = 8, .hidden = 8, .layers = 1}, corpus.vocabularies(), 1);
  bd::Trainer(trained, bd::Adam{.rate = 0.02}, {.epochs = 100, .progress = bd::Progress::silent}).fit(corpus);
  trained.save(files / "first");

  const bd::Corpus more = extending(files, trained.vocabularies());
  const bd::Vocabularies& v = more.vocabularies();
  // Known tokens keep their numbers, new ones come behind them.
  for (std::size_t i = 0; i < corpus.vocabularies().target.size(); ++i)
    CHECK(v.target.tokens()[i] == corpus.vocabularies().target.tokens()[i]);
  CHECK(v.target.contains("vais"));
  CHECK(v.source.size() == corpus.vocabularies().source.size() + 1);  // "he"

  Model model(trained.config(), v, 7);
  const Model fresh = model;
  const bd::KnownTokens known = bd::start_from(model, files / "first");
  CHECK(known.source == corpus.vocabularies().source.size());
  CHECK(known.target == corpus.vocabularies().target.size());
  const auto perdu = static_cast<std::size_t>(v.target.id("perdu")),
             vais = static_cast<std::size_t>(v.target.id("vais"));
  for (const std::string name : {"decoder.embedding.weight", "decoder.dense.weight", "decoder.dense.bias"}) {
    CHECK(row(model, name, perdu) == row(trained, name, perdu));
    CHECK(row(model, name, vais) == row(fresh, name, vais));
  }
  CHECK(row(model, "encoder.rnn.weight_hh_l0", 3) == row(trained, "encoder.rnn.weight_hh_l0", 3));
  // What was learnt is still there, and what is new is learnt.
  bd::Trainer(model, bd::Adam{.rate = 0.02}, {.epochs = 100, .progress = bd::Progress::silent}).fit(more);
  CHECK(model.translate("i go .").text == "je vais .");
}

TEST_CASE("a file of another width or other policies is nothing to go on from", "[io][start_from][error]") {
  const TemporaryDirectory files;
  const auto corpus = bd::Corpus::from_pairs(first, {.min_frequency = 1});
  const Model trained({.embed = 8, .hidden = 8, .layers = 1}, corpus.vocabularies(), 1);
  trained.save(files / "first");
  Model wide({.embed = 8, .hidden = 9, .layers = 1}, corpus.vocabularies(), 1);
  CHECK_THAT(
      message_of([&] { bd::start_from(wide, files / "first"); }),
      Catch::Matchers::ContainsSubstring("expected tensor \"encoder.rnn.weight_ih_l0\" of shape [27, 8], got "
                                         "[24, 8]; a model goes on with the widths that it had"));
  bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>> lstm({.embed = 8, .hidden = 8, .layers = 1},
                                                                      corpus.vocabularies(), 1);
  CHECK_THAT(message_of([&] { bd::start_from(lstm, files / "first"); }),
             Catch::Matchers::ContainsSubstring("expected a model with cell \"lstm\", got \"gru\""));
}

TEST_CASE("embeddings are read as word2vec, GloVe and fastText write them", "[io][embeddings]") {
  const TemporaryDirectory files;
  const auto corpus = bd::Corpus::from_pairs(first, {.min_frequency = 1});
  const bd::Vocabulary& source = corpus.vocabularies().source;
  Model model({.embed = 3, .hidden = 4, .layers = 1}, corpus.vocabularies(), 1);
  const Model before = model;
  const auto embedding = [&](const Model& m, const char* token) {
    return row(m, "encoder.embedding.weight", static_cast<std::size_t>(source.id(token)));
  };
  put(files / "glove", "lost 0.5 -1 2e-1\nunheard 1 2 3\ngo 1 2 3\nlost 9 9 9\n. . . 4 5 6\nat 3 x 7 8 9\n");
  CHECK(bd::load_source_embeddings(model, files / "glove") == 2);  // ". . ." is a token with spaces
  CHECK(embedding(model, "lost") == std::vector<float>{0.5F, -1.0F, 0.2F});
  CHECK(embedding(model, "go") == std::vector<float>{1, 2, 3});
  CHECK(embedding(model, "i") == embedding(before, "i"));
  put(files / "word2vec", "2 3\n! 1 1 1 \nva 2 2 2\n");
  CHECK(bd::load_target_embeddings(model, files / "word2vec") == 2);

  const auto said = [&](const std::string& text) {
    put(files / "bad", text);
    const std::string message = message_of([&] { bd::load_source_embeddings(model, files / "bad"); });
    return message.substr(message.find("bad"));
  };
  CHECK(said("2 50\ngo 1 2 3\n") == "bad:1: expected embeddings of width 3, as the model's, got \"50\"");
  CHECK(said("go 1 2 3\nlost 1 2\n") ==
        "bad:2: expected a token and 3 numbers, as the model's embeddings have, got 2 numbers");
  // A word and more numbers is no token with spaces.
  CHECK(said("go 1 2 3 4 5\n") ==
        "bad:1: expected a token and 3 numbers, as the model's embeddings have, got 5 numbers");
  CHECK(said("") == "bad: expected lines of a token and 3 numbers, got none");
  CHECK(said("2 3\n") == "bad: expected lines of a token and 3 numbers, got none");
  CHECK(said("Go 1 2 3\nLost 1 2 3\n") ==
        "bad: expected embeddings of tokens that the model has, got none of its " +
            bd::detail::text(source.size()) + "; case counts, and so does how its text is split into tokens");
  CHECK(said("go 1 x 3\n") == "bad:1: expected numbers behind a token, got \"x\"");
  CHECK(said("go 1 nan 3\n") == "bad:1: expected numbers behind a token, got \"nan\"");
  CHECK(embedding(model, "lost") == std::vector<float>{0.5F, -1.0F, 0.2F});  // as it was
}
