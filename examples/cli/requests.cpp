// Requests of a server's clients: each key by itself, so that a message can name it.
#include "requests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include <nlohmann/json.hpp>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/plot/page.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/version.hpp>

#include "input.hpp"
#include "json.hpp"

namespace cli {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& key, const std::string& expected, const std::string& got,
                         const std::string& hint = {}) {
  throw BadRequest(key + ": expected " + expected + ", got " + got + (hint.empty() ? "" : "; " + hint));
}

/// A value as a message shows it: short, and never more than some of a long one.
std::string shown(const Json& value) {
  constexpr std::size_t most = 60;
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

std::size_t whole(const std::string& key, const Json& value, std::size_t least, std::size_t most) {
  const std::string expected =
      "a whole number from " + bd::detail::text(least) + " to " + bd::detail::text(most);
  if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned()))
    refuse(key, expected, shown(value));
  const auto number = value.get<std::uint64_t>();
  if (number < least || number > most) refuse(key, expected, shown(value));
  return static_cast<std::size_t>(number);
}

double real(const std::string& key, const Json& value, double least, double most) {
  const std::string expected =
      "a number from " + bd::detail::number_text(least) + " to " + bd::detail::number_text(most);
  if (!value.is_number()) refuse(key, expected, shown(value));
  const auto number = value.get<double>();
  if (!(number >= least && number <= most)) refuse(key, expected, shown(value));
  return number;
}

bool truth(const std::string& key, const Json& value) {
  if (!value.is_boolean()) refuse(key, "true or false", shown(value));
  return value.get<bool>();
}

std::string text_of(const std::string& key, const Json& value) {
  if (!value.is_string()) refuse(key, "a string", shown(value));
  return value.get<std::string>();
}

std::vector<std::string> texts(const std::string& key, const Json& value, std::size_t most) {
  if (!value.is_array()) refuse(key, "an array of strings", shown(value));
  if (value.size() > most)
    refuse(key, "at most " + bd::detail::text(most) + " of them", bd::detail::text(value.size()));
  std::vector<std::string> result;
  for (std::size_t i = 0; i < value.size(); ++i)
    result.push_back(text_of(key + "[" + bd::detail::text(i) + "]", value[i]));
  return result;
}

/// The whole body as an object.
Json parsed(std::string_view body) {
  try {
    // Depth is bounded by what a request can be: an object of arrays of strings.
    Json value = Json::parse(body.begin(), body.end(), [](int depth, Json::parse_event_t, Json&) {
      if (depth > 4) refuse("body", "an object of values and lists", "a deeper one");
      return true;
    });
    if (!value.is_object()) refuse("body", R"(an object, as {"source": "..."})", shown(value));
    return value;
  } catch (const Json::parse_error& e) {
    refuse("body", R"(JSON in UTF-8, as {"source": "..."})",
           "something else at byte " + bd::detail::text(e.byte));
  } catch (const Json::out_of_range&) {
    refuse("body", "numbers that a double can hold", "a larger one");
  }
}

void check_sentence(const AnyModel& model, const std::string& sentence, const std::string& place,
                    std::size_t longest) {
  if (bd::detail::is_blank(sentence)) refuse(place, "a sentence", "an empty one");
  try {
    check_length(model, sentence, place, longest);
  } catch (const bd::Error& e) {
    std::string message = e.what();
    if (const std::size_t hint = message.find("; --max-source"); hint != message.npos) message.erase(hint);
    throw BadRequest(message);
  }
}

/// Throws for words to begin with, to leave out or to have that are more than a translation may have, and for
/// an answer that may get too long: attention grows with both lengths.
void check_size(const AnyModel& model, const TranslateRequest& request, const RequestBounds& bounds) {
  const SearchOptions& search = request.search;
  const auto text = [](std::size_t n) { return bd::detail::text(n); };
  const auto& side = model.vocabularies().text.target_side();
  const std::size_t begins = search.prefix.empty() ? 0 : bd::count_tokens(search.prefix, side);
  if (begins >= bounds.target)
    refuse("prefix", "fewer than " + text(bounds.target) + " tokens", text(begins));
  std::size_t words = 0;
  for (const auto* list : {&search.forbidden, &search.required})
    for (const std::string& phrase : *list) words += bd::count_tokens(phrase, side);
  if (words > 8 * bounds.constraints)
    refuse("forbidden and required", "at most " + text(8 * bounds.constraints) + " tokens together",
           text(words));
  constexpr std::size_t per_weight = 14, per_token = 200;  // bytes of JSON
  std::size_t bytes = 0;
  for (const std::string& source : request.sources) {
    const std::size_t from = bd::count_tokens(source, model.vocabularies().text.source_side()) + 1;
    const std::size_t usual = std::max(2 * from + 10, model.vocabularies().text.max_length);
    const std::size_t to = search.max_length != 0 ? search.max_length : std::max(usual, begins + 1);
    bytes += search.nbest * (to * (request.attention ? from * per_weight : 0) + (to + from) * per_token);
  }
  if (bytes > bounds.answer)
    refuse("body", "a request whose answer has at most " + text(bounds.answer) + " bytes",
           "one that may have " + text(bytes),
           R"(fewer sentences, a smaller nbest or max_length, or "attention": false need less)");
}

}  // namespace

TranslateRequest read_translate_request(std::string_view body, const AnyModel& model,
                                        const RequestBounds& bounds) {
  const Json object = parsed(body);
  TranslateRequest request;
  SearchOptions& search = request.search;
  search.beam = 1;
  search.max_source = bounds.source;
  bool single = false;
  for (const auto& [key, value] : object.items()) {
    if (key == "source") {
      single = true;
      request.sources.insert(request.sources.begin(), text_of(key, value));
    } else if (key == "sources") {
      if (value.is_array() && value.empty()) refuse(key, "at least one sentence", "none");
      for (std::string& sentence : texts(key, value, bounds.sentences))
        request.sources.push_back(std::move(sentence));
    } else if (key == "beam") {
      search.beam = whole(key, value, 1, bounds.beam);
    } else if (key == "nbest") {
      search.nbest = whole(key, value, 1, bounds.beam);
    } else if (key == "max_length") {
      search.max_length = whole(key, value, 1, bounds.target);
    } else if (key == "min_length") {
      search.min_length = whole(key, value, 0, bounds.target);
    } else if (key == "length_power") {
      search.length_power = real(key, value, 0, 10);
    } else if (key == "coverage_penalty") {
      search.coverage_penalty = real(key, value, 0, 100);
    } else if (key == "prefix") {
      search.prefix = text_of(key, value);
    } else if (key == "forbidden") {
      search.forbidden = texts(key, value, bounds.constraints);
    } else if (key == "required") {
      search.required = texts(key, value, bounds.constraints);
    } else if (key == "replace_unknown") {
      search.replace_unknown = truth(key, value);
    } else if (key == "attention") {
      request.attention = truth(key, value);
    } else {
      refuse(
          "body", "known keys", bd::detail::quote(key),
          "there are source, sources, beam, nbest, max_length, min_length, length_power, coverage_penalty, "
          "prefix, forbidden, required, replace_unknown and attention");
    }
  }
  if (single == object.contains("sources"))
    refuse("body", R"(one of "source" and "sources")", single ? "both" : "neither");
  if (!object.contains("beam")) {  // as wide as the tool's own
    const bool wide = search.nbest > 1 || !search.required.empty() || search.coverage_penalty > 0;
    search.beam = wide ? std::min(bounds.beam, std::max(search.nbest, bd::Beam{}.width)) : 1;
  } else if (search.nbest > search.beam) {
    refuse("nbest", "at most beam, " + bd::detail::text(search.beam), bd::detail::text(search.nbest));
  }
  if (search.replace_unknown && !model.policies().attends())
    refuse("replace_unknown", "a model that attends", "one without attention");
  for (std::size_t i = 0; i < request.sources.size(); ++i)
    check_sentence(model, request.sources[i], single ? "source" : "sources[" + bd::detail::text(i) + "]",
                   bounds.source);
  try {
    check_words(model, search.search());
  } catch (const bd::Error& e) {
    std::string message = e.what();  // names options of the tool, where a client wrote keys
    for (const auto& [option, key] :
         {std::pair{"--min-length", "min_length"}, std::pair{"--prefix", "prefix"},
          std::pair{"--forbid", "forbidden"}, std::pair{"--require", "required"}})
      if (message.starts_with(option)) message.replace(0, std::string_view(option).size(), key);
    throw BadRequest(message);
  }
  check_size(model, request, bounds);
  return request;
}

std::string answer_text(const std::vector<std::vector<bd::Translation>>& results, bool attention) {
  std::string out = R"({"results":[)";
  for (std::size_t i = 0; i < results.size(); ++i) {
    out += i == 0 ? R"({"translations":[)" : R"(,{"translations":[)";
    for (std::size_t t = 0; t < results[i].size(); ++t) {
      const bd::Translation& translation = results[i][t];
      json::append(out += t == 0 ? R"({"source":)" : R"(,{"source":)", translation.source);
      json::append(out += R"(,"target":)", translation.target);
      json::append(out += R"(,"score":)", translation.score);
      json::append(out += R"(,"log_probs":)", translation.log_probs);
      json::append(out += R"(,"text":)", translation.text);
      if (attention) json::append(out += R"(,"attention":)", translation.attention);
      out += '}';
    }
    out += "]}";
  }
  return out + "]}\n";
}

std::string explained_text(std::vector<std::vector<bd::Translation>> results) {
  std::string out = R"({"sentences":[)";
  for (std::size_t i = 0; i < results.size(); ++i)
    bd::detail::append_page_sentence(out += i == 0 ? "" : ",", "explain", {std::move(results[i])},
                                     /*bleu=*/2);
  return out + "]}\n";
}

std::string problem_text(const std::string& problem) {
  std::string out = R"({"error":)";
  json::append(out, problem);
  return out + "}\n";
}

std::string health_text(const AnyModel& model, const std::string& name, const ServerCounts& counts) {
  const PolicyNames policies = model.policies();
  const auto member = [](std::string& out, const char* key, const std::string& value) {
    json::append(out += std::string(",\"") + key + "\":", value);
  };
  std::string out = R"({"status":"ok")";
  member(out, "version",
         bd::detail::text(BAHDANAU_VERSION_MAJOR) + "." + bd::detail::text(BAHDANAU_VERSION_MINOR) + "." +
             bd::detail::text(BAHDANAU_VERSION_PATCH));
  // A file's name may be any bytes.
  out += R"(,"model":{"file":)" + Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const auto& [key, value] :
       {std::pair{"cell", policies.cell}, std::pair{"score", policies.score},
        std::pair{"encoder", policies.encoder}, std::pair{"decoder", policies.decoder},
        std::pair{"readout", policies.readout}})
    member(out, key, value);
  json::append(out += R"(,"weights":)", model.weights());
  json::append(out += R"(},"waiting":)", counts.waiting);
  json::append(out += R"(,"served":)", counts.served);
  json::append(out += R"(,"batches":)", counts.batches);
  return out + "}\n";
}

}  // namespace cli
