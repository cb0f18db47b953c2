#include <functional>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

namespace {

const std::string golden_model = "gru_additive_uni_l1_valid.model.safetensors";

struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// The golden model with something changed about its tensors or metadata, written to `path`.
struct Edited {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  Edited() {
    const auto file = bd::SafetensorsFile::open(golden_path(golden_model));
    for (const auto& [name, info] : file.tensors()) tensors[name] = {info.shape, file.read<double>(name)};
    for (const auto& [key, value] : file.metadata()) metadata[key] = value;
  }
  std::string load_error(const std::filesystem::path& path) const {
    bd::SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.add(name, tensor.shape, tensor.values);
    for (const auto& [key, value] : metadata) writer.metadata(key, value);
    writer.write(path);
    const std::string message = message_of([&] { Model::load(path); });
    if (!message.starts_with(path.string())) return message;
    return "FILE" + message.substr(path.string().size());
  }
};

void replace(std::string& text, const std::string& what, const std::string& with) {
  REQUIRE(text.find(what) != text.npos);
  text.replace(text.find(what), what.size(), with);
}

// What a file does not say is what a model has by default: a description is read without the policies.
static_assert(bd::ModelDescription::usual_decoder == bd::AttendThenStep::name);
static_assert(bd::ModelDescription::usual_readout == bd::LinearReadout::name);

}  // namespace

TEMPLATE_TEST_CASE("a saved model comes back the same", "[io][model]", TEST_BACKENDS) {
  using M = bd::EncoderDecoder<bd::Lstm, bd::Additive, TestType, bd::Bidirectional>;
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  bd::Vocabularies vocabularies = numbered(9, 11, 6);
  vocabularies.text.tokens = bd::Tokens::none;
  vocabularies.text.lowercase = false;
  const M model(
      {.embed = 5, .hidden = 6, .layers = 2, .dropout = 0.1F, .final_state = bd::FinalState::padded},
      vocabularies, 3);
  model.save(path);
  const M loaded = M::load(path);
  CHECK(loaded.config() == model.config());
  CHECK(loaded.vocabularies() == model.vocabularies());
  const bd::Batch batch{random_sequences(5, 6, 9, 1), random_sequences(5, 6, 11, 2)};
  CHECK((loaded.forward(batch).logits == model.forward(batch).logits));
  const auto file = bd::SafetensorsFile::open(path);
  CHECK(file.metadata().at("format") == "\"bahdanau/1\"");
  CHECK(file.metadata().at("config") ==
        R"({"cell":"lstm","score":"additive","embed":5,"hidden":6,"layers":2,"dropout":0.1,)"
        R"("encoder":"bidirectional","final_state":"padded"})");
  CHECK(file.metadata().at("text") == R"({"tokens":"none","lowercase":false,"max_length":6})");
}

TEST_CASE("a file says max_length only where one was given", "[io][model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  Model({.embed = 5, .hidden = 4, .layers = 1}, numbered(9, 11, 0)).save(path);
  CHECK(bd::SafetensorsFile::open(path).metadata().at("text") == R"({"tokens":"words","lowercase":true})");
  const Model loaded = Model::load(path);
  CHECK(loaded.max_length() == 0);
  CHECK(loaded.loss_divisor() == 10);
  Model({.embed = 5, .hidden = 4, .layers = 1}, numbered(9, 11, 10)).save(path);
  CHECK(bd::SafetensorsFile::open(path).metadata().at("text") ==
        R"({"tokens":"words","lowercase":true,"max_length":10})");
}

TEST_CASE("the tensors have PyTorch's names and layouts", "[io][model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  for (const std::string name : {"gru_additive_uni_l3_valid", "gru_additive_bi_l1_padded"}) {
    const auto check = [&](auto model) {
      model.save(path);
      const auto ours = bd::SafetensorsFile::open(path);
      const auto theirs = bd::SafetensorsFile::open(golden_path(name + ".model.safetensors"));
      REQUIRE(ours.tensors().size() == theirs.tensors().size());
      for (const auto& [tensor, info] : theirs.tensors()) {
        INFO(tensor);
        REQUIRE(ours.contains(tensor));
        CHECK(ours.tensors().at(tensor).shape == info.shape);
        CHECK(ours.template read<double>(tensor) == theirs.template read<double>(tensor));
      }
    };
    using Backend = bd::test::TestBackend<double>;
    if (name == "gru_additive_uni_l3_valid")
      check(
          bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>::load(golden_path(name + ".model.safetensors")));
    else
      check(bd::EncoderDecoder<bd::Gru, bd::Additive, Backend, bd::Bidirectional>::load(
          golden_path(name + ".model.safetensors")));
  }
}

TEST_CASE("load_weights fills a model from a bare state_dict", "[io][model]") {
  const Model expected = Model::load(golden_path(golden_model));
  Model model(expected.config(), expected.vocabularies(), 99);
  const auto bare = golden_path("gru_additive_uni_l1_valid.state_dict.safetensors");
  model.load_weights(bare);
  const bd::Batch batch{random_sequences(5, 6, 9, 1), random_sequences(5, 6, 11, 2)};
  CHECK((model.forward(batch).logits == expected.forward(batch).logits));
  CHECK(message_of([&] { Model::load(bare); }) ==
        bare + ": expected metadata \"format\", got none; a file of weights alone is read with load_weights");
}

TEST_CASE("the names of d2l's own package, and of wrapped models, are understood", "[io][model]") {
  const Model expected = Model::load(golden_path(golden_model));
  const bd::Batch batch{random_sequences(5, 6, 9, 1), random_sequences(5, 6, 11, 2)};
  const TemporaryDirectory directory;
  const auto path = directory.path() / "weights.safetensors";
  const auto with = [](std::string name, const std::string& what, const std::string& by) {
    if (name.starts_with(what)) name.replace(0, what.size(), by);
    return name;
  };
  const auto rename = [&](const std::string& prefix, bool encoder, bool decoder, bool both = false) {
    Edited e;
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, tensor] : e.tensors) {
      std::string other = name;
      if (encoder) other = with(other, "encoder.rnn.", "encoder.rnn.rnn.");
      if (decoder) other = with(other, "decoder.rnn.", "decoder.rnn.rnn.");
      tensors[prefix + other] = tensor;
      if (both) tensors[prefix + name] = tensor;
    }
    e.tensors = tensors;
    return e;
  };
  for (const std::string prefix : {"", "net.", "module.", "_orig_mod.module."})
    for (const bool encoder : {false, true})
      for (const bool decoder : {false, true}) {
        CAPTURE(prefix, encoder, decoder);
        const Edited e = rename(prefix, encoder, decoder);
        CHECK(e.load_error(path) == "nothing was thrown");
        CHECK((Model::load(path).forward(batch).logits == expected.forward(batch).logits));
        Model model(expected.config(), expected.vocabularies(), 99);
        model.load_weights(path);
        CHECK((model.forward(batch).logits == expected.forward(batch).logits));
      }

  CHECK(rename("", true, false, true).load_error(path) ==
        "FILE: expected one tensor for \"encoder.rnn.bias_hh_l0\", got both \"encoder.rnn.bias_hh_l0\" and "
        "\"encoder.rnn.rnn.bias_hh_l0\"");
  Edited mixed = rename("net.", false, false);  // a prefix counts where all names have it
  mixed.tensors["encoder.embedding.weight"] = mixed.tensors["net.encoder.embedding.weight"];
  mixed.tensors.erase("net.encoder.embedding.weight");
  CHECK(mixed.load_error(path) ==
        "FILE: expected tensor \"encoder.rnn.weight_ih_l0\" of shape [12, 5], got none of that name; the "
        "nearest is \"net.encoder.rnn.weight_ih_l0\"");
}

TEST_CASE("a file that does not fit leaves the weights as they were", "[io][model][error]") {
  Model model({.embed = 5, .hidden = 4, .layers = 2}, numbered(9, 11, 6), 1);
  const std::vector<float> before = bd::test::numbers_of(model.weights());
  CHECK(message_of([&] { model.load_weights(golden_path(golden_model)); })
            .ends_with(": expected tensor \"encoder.rnn.weight_ih_l1\" of shape [12, 4], got none of that "
                       "name; the nearest is \"encoder.rnn.weight_ih_l0\" of shape [12, 5]"));
  CHECK(before == bd::test::numbers_of(model.weights()));
}

TEST_CASE("what is wrong with a model file is said", "[io][model][error]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model.safetensors";
  Edited e;
  const auto said = [&](const std::string& expected) { CHECK(e.load_error(path) == expected); };

  SECTION("a missing tensor") {
    e.tensors.erase("decoder.dense.bias");
    said(
        "FILE: expected tensor \"decoder.dense.bias\" of shape [11], got none of that name; the nearest is "
        "\"decoder.dense.weight\" of shape [11, 4]");
  }
  SECTION("a misspelt tensor") {
    e.tensors["decoder.attention.Wq.weight"] = e.tensors["decoder.attention.W_q.weight"];
    e.tensors.erase("decoder.attention.W_q.weight");
    said(
        "FILE: expected tensor \"decoder.attention.W_q.weight\" of shape [4, 4], got none of that name; the "
        "nearest is \"decoder.attention.Wq.weight\"");
  }
  SECTION("a surplus tensor") {
    e.tensors["decoder.extra"] = {{2, 3}, std::vector<double>(6)};
    said("FILE: expected only the 15 tensors of this model, got also \"decoder.extra\" of shape [2, 3]");
  }
  SECTION("a misshapen tensor") {
    e.tensors["decoder.attention.W_q.weight"] = {{4, 5}, std::vector<double>(20)};
    said("FILE: expected tensor \"decoder.attention.W_q.weight\" of shape [4, 4], got [4, 5]");
  }
  SECTION("another cell") {
    replace(e.metadata["config"], "\"gru\"", "\"lstm\"");
    said(
        "FILE: expected a model with cell \"gru\", got \"lstm\"; load it into an EncoderDecoder with that "
        "policy");
  }
  SECTION("another score") {
    replace(e.metadata["config"], "\"additive\"", "\"scaled_dot\"");
    said(
        "FILE: expected a model with score \"additive\", got \"scaled_dot\"; load it into an EncoderDecoder "
        "with "
        "that policy");
  }
  SECTION("another format") {
    e.metadata["format"] = "\"bahdanau/2\"";
    said(
        "FILE: metadata \"format\": expected \"bahdanau/1\", got \"\\\"bahdanau/2\\\"\"; the file was made "
        "by "
        "another version");
  }
  SECTION("no vocabulary") {
    e.metadata.erase("source_vocabulary");
    said(
        "FILE: expected metadata \"source_vocabulary\", got none; a file of weights alone is read with "
        "load_weights");
  }
  SECTION("a vocabulary without the reserved tokens") {
    e.metadata["source_vocabulary"] = "[\"a\"]";
    CHECK(e.load_error(path).starts_with("FILE: metadata \"source_vocabulary\": Vocabulary: expected "));
  }
  SECTION("a vocabulary that is no list") {
    e.metadata["source_vocabulary"] = "{}";
    said("FILE: metadata \"source_vocabulary\": expected an array of tokens, got an object");
  }
  SECTION("sizes that no file could hold") {
    replace(e.metadata["config"], "\"hidden\": 4", "\"hidden\": 16777216");
    CHECK(e.load_error(path).starts_with(
        "FILE: expected tensor \"encoder.rnn.weight_ih_l0\" of shape [50331648, 5]"));
    replace(e.metadata["config"], "16777216", "99999999999999999999999");
    CHECK(e.load_error(path).starts_with(
        "FILE: metadata \"config\".hidden: expected a whole number from 1 to "));
  }
  SECTION("rows that no memory could hold") {
    e.metadata["text"] = R"({"tokens":"words","lowercase":true,"max_length":65537})";
    said(
        "FILE: metadata \"text\": expected a max_length from 1 to 65536, got 65537; without one, or with 0, "
        "nothing is cut");
  }
  SECTION("rows to pad without their width") {
    replace(e.metadata["config"], "\"valid\"", "\"padded\"");
    e.metadata["text"] = R"({"tokens":"words","lowercase":true})";
    said(
        "FILE: metadata \"text\": expected a max_length for final_state 'padded', which steps over <pad> up "
        "to it, got none; "
        "give the corpus a max_length, or use final_state 'valid'");
  }
  SECTION("tokens that would steer a terminal") {
    e.metadata["target_vocabulary"] = R"(["<unk>","<pad>","<bos>","<eos>","a\u001b[2J"])";
    said(
        "FILE: metadata \"target_vocabulary\": Vocabulary: token 4: expected no control characters, got "
        "\"a\\x1b[2J\"");
  }
  SECTION("more layers than tensors") {
    replace(e.metadata["config"], "\"layers\": 1", "\"layers\": 16777216");
    said("FILE: expected tensors for 16777216 layers, got 15 tensors");
  }
  SECTION("negative, fractional and missing sizes") {
    replace(e.metadata["config"], "\"embed\": 5", "\"embed\": -5");
    CHECK(e.load_error(path).starts_with(
        "FILE: metadata \"config\".embed: expected a whole number from 1 to "));
    replace(e.metadata["config"], "-5", "2.5");
    CHECK(e.load_error(path).starts_with(
        "FILE: metadata \"config\".embed: expected a whole number from 1 to "));
    replace(e.metadata["config"], "\"embed\": 2.5, ", "");
    said("FILE: metadata \"config\": expected \"embed\": a number, got none");
  }
  SECTION("an unknown setting") {
    replace(e.metadata["config"], "\"final_state\"", "\"final_stat\"");
    CHECK(
        e.load_error(path).ends_with("encoder, decoder, readout, bridge, tied, residual, dropout_masks, "
                                     "embedding_dropout, final_state, got "
                                     "\"final_stat\""));
  }
  SECTION("an unknown final state") {
    replace(e.metadata["config"], "\"valid\"", "\"last\"");
    said("FILE: final_state: expected \"valid\" or \"padded\", got \"last\"");
  }
  SECTION("deep JSON") {
    e.metadata["config"] = std::string(100000, '[') + std::string(100000, ']');
    said("FILE: metadata \"config\": expected JSON at most 4 deep, got deeper");
  }
  SECTION("duplicate keys") {
    e.metadata["text"] = R"({"tokens":"words","tokens":"none","lowercase":true,"max_length":6})";
    said("FILE: metadata \"text\": expected distinct keys, got \"tokens\" twice");
  }
  SECTION("no JSON") {
    e.metadata["text"] = "{tokens}";
    CHECK(e.load_error(path).starts_with("FILE: metadata \"text\": expected JSON, got \"{tokens}\"; "));
  }
}
