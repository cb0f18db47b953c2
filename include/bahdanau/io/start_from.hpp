// Fine-tuning: a model that begins with the weights of a trained one, whose vocabularies may be others.
// And embeddings from text files, as word2vec, GloVe and fastText write them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/text/lines.hpp>
#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau {

namespace detail {

/// The vocabulary whose tokens are the rows of a parameter, if there is one.
inline const Vocabulary* rows_of(std::string_view name, const Vocabularies& v) {
  if (name == "encoder.embedding.weight") return &v.source;
  if (name == "decoder.embedding.weight" || name == "decoder.dense.weight" || name == "decoder.dense.bias")
    return &v.target;
  return nullptr;
}

/// Tokens of one vocabulary that another has.
inline std::size_t known_tokens(const Vocabulary& ours, const Vocabulary& other) {
  std::size_t known = 0;
  for (const std::string& token : ours.tokens()) known += other.contains(token) ? 1 : 0;
  return known;
}

}  // namespace detail

/// Fills a model with the weights in a file of a model with the same policies and widths. Rows of embeddings
/// and of the output layer go by their tokens; tokens that the file does not have keep the model's own first
/// weights. Throws, with the path, for what does not fit, and leaves the model as it was.
template <class Model>
KnownTokens start_from(Model& model, const std::filesystem::path& path) {
  using Scalar = typename Model::Scalar;
  const auto file = SafetensorsFile::open(path);
  const ModelDescription other = detail::read_description<Model>(file);
  const Vocabularies &ours = model.vocabularies(), &theirs = other.vocabularies;
  Model filled = model;
  for (const auto& [name, parameter, initializer] : model.parameters().entries()) {
    const auto found = file.tensors().find(name);
    const Vocabulary* rows = detail::rows_of(name, ours);
    const std::string wanted = "tensor " + detail::quote(name) + " of shape " + parameter.shape.text();
    if (found == file.tensors().end()) fail(path.string(), wanted, "none of that name");
    std::vector<std::size_t> expected = detail::extents_of(parameter.shape);
    if (rows != nullptr) expected[0] = detail::rows_of(name, theirs)->size();
    if (found->second.shape != expected)
      fail(path.string(), wanted + (rows != nullptr ? ", but for its rows" : ""),
           detail::bracketed(found->second.shape), "a model goes on with the widths that it had");
    const std::vector<Scalar> read = file.read<Scalar>(name);
    if (rows == nullptr) {
      filled.weights().write(parameter, read);
      continue;
    }
    const Vocabulary& of_file = *detail::rows_of(name, theirs);
    const std::size_t width = read.size() / of_file.size();
    std::vector<Scalar> numbers = model.weights().read(parameter);
    for (std::size_t row = 0; row < rows->size(); ++row) {
      const std::string& token = rows->tokens()[row];
      if (!of_file.contains(token)) continue;
      const Scalar* from = read.data() + static_cast<std::size_t>(of_file.id(token)) * width;
      std::copy(from, from + width, numbers.data() + row * width);
    }
    filled.weights().write(parameter, numbers);
  }
  model = std::move(filled);
  return {detail::known_tokens(ours.source, theirs.source), detail::known_tokens(ours.target, theirs.target)};
}

namespace detail {

/// The number that a whole field is, if it is a finite one.
inline std::optional<float> number_in(std::string_view field) {
  float number = 0;
  const char* const last = field.data() + field.size();
  const auto [end, error] = std::from_chars(field.data(), last, number);
  if (error != std::errc{} || end != last || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// Calls `take(token, numbers)` for each line of a file of embeddings that are `width` wide. A first line
/// with two whole numbers, as word2vec and fastText have it, is none of them. Throws where there is no other.
template <class Take>
void read_embeddings(const std::filesystem::path& path, std::size_t width, const Take& take) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path)) fail(path.string(), "a file that can be read", "none");
  LineReader lines(stream, path.string());
  std::vector<float> numbers(width);
  bool any = false;
  while (lines.next()) {
    std::string_view line = lines.line_text();
    while (line.ends_with(' ')) line.remove_suffix(1);
    const auto fields = split_on_spaces(line);
    if (lines.line() == 1 && fields.size() == 2) {
      if (fields[1] != text(width))
        fail(lines.where(), "embeddings of width " + text(width) + ", as the model's", quote(fields[1]));
      continue;
    }
    // Some tokens have spaces in them: the numbers are what comes last. But a word and nothing but more
    // numbers is no such token.
    std::string token = fields.empty() ? "" : fields[0];
    bool wider = fields.size() > width + 1;
    for (std::size_t i = 1; i + width < fields.size(); ++i) {
      token += " " + fields[i];
      wider = wider && number_in(fields[i]);
    }
    if (fields.size() < width + 1 || wider)
      fail(lines.where(), "a token and " + text(width) + " numbers, as the model's embeddings have",
           text(fields.empty() ? 0 : fields.size() - 1) + " numbers");
    for (std::size_t i = 0; i < width; ++i) {
      const std::string& field = fields[fields.size() - width + i];
      const std::optional<float> number = number_in(field);
      if (!number) fail(lines.where(), "numbers behind a token", quote(field));
      numbers[i] = *number;
    }
    take(token, numbers);
    any = true;
  }
  if (!any) fail(path.string(), "lines of a token and " + text(width) + " numbers", "none");
}

template <class Model>
std::size_t load_embeddings(Model& model, std::string_view name, const Vocabulary& vocabulary,
                            const std::filesystem::path& path) {
  using Scalar = typename Model::Scalar;
  for (const auto& entry : model.parameters().entries()) {
    if (entry.name != name) continue;
    const std::size_t width = entry.parameter.shape.cols();
    std::vector<Scalar> rows = model.weights().read(entry.parameter);
    std::vector<bool> seen(vocabulary.size());
    std::size_t known = 0;
    read_embeddings(path, width, [&](const std::string& token, const std::vector<float>& numbers) {
      if (!vocabulary.contains(token)) return;
      const auto row = static_cast<std::size_t>(vocabulary.id(token));
      if (seen[row]) return;  // the first one counts
      seen[row] = true;
      ++known;
      std::copy(numbers.begin(), numbers.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * width));
    });
    if (known == 0)
      fail(path.string(), "embeddings of tokens that the model has", "none of its " + text(vocabulary.size()),
           "case counts, and so does how its text is split into tokens");
    model.weights().write(entry.parameter, rows);
    return known;
  }
  fail("embeddings", "a model with a parameter " + quote(name), "one without");
}

}  // namespace detail

/// Fills the embeddings of the source's or the target's tokens from a text file: a token and its numbers on
/// each line. Returns how many tokens of the vocabulary it had. Throws, with path and line, for another
/// width, and where it had none; the model is then as it was.
template <class Model>
std::size_t load_source_embeddings(Model& model, const std::filesystem::path& path) {
  return detail::load_embeddings(model, "encoder.embedding.weight", model.vocabularies().source, path);
}
template <class Model>
std::size_t load_target_embeddings(Model& model, const std::filesystem::path& path) {
  return detail::load_embeddings(model, "decoder.embedding.weight", model.vocabularies().target, path);
}

}  // namespace bahdanau
