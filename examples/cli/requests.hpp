// What a client asks a server for, and the answer, as JSON; apart from how they travel.
// Everything that a client can name is bounded here, before any work is done.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/model/translation.hpp>

#include "any_model.hpp"
#include "commands.hpp"

namespace cli {

/// A request that is no good, in a sentence for its client.
class BadRequest : public bd::Error {
 public:
  using bd::Error::Error;
};

/// What a client may ask for at most.
struct RequestBounds {
  std::size_t sentences = 64;                   // in one request
  std::size_t source = 250;                     // tokens of a sentence with its `<eos>`
  std::size_t target = 500;                     // tokens of a translation with its `<eos>`
  std::size_t beam = 16;                        // hypotheses, and translations of a sentence
  std::size_t constraints = 32;                 // words that are forbidden or required
  std::size_t answer = std::size_t{64} << 20U;  // bytes, estimated from above
};

/// `POST /translate`.
struct TranslateRequest {
  std::vector<std::string> sources;
  SearchOptions search;
  bool attention = true;   // whether the answer has it
  bool explained = false;  // with all that the search has seen: runners-up, the beam's history, heads
};

/// Reads a request. Throws `BadRequest` for what is no JSON, has a key that is not known or a value of
/// another kind, is out of bounds, or names words that the model does not know.
TranslateRequest read_translate_request(std::string_view body, const AnyModel& model,
                                        const RequestBounds& bounds);

/// {"results":[{"translations":[{"source":[…],"target":[…],"score":…,"log_probs":[…],"text":"…",
/// "attention":[[…],…]},…]},…]}, in the order of the request's sentences.
std::string answer_text(const std::vector<std::vector<bd::Translation>>& results, bool attention);

/// {"sentences":[…]}, each as `plot::page` has them.
std::string explained_text(std::vector<std::vector<bd::Translation>> results);

/// {"error":"…"}
std::string problem_text(const std::string& problem);

/// What a server has done since it was started, in sentences, and in batches of them.
struct ServerCounts {
  std::size_t waiting = 0, served = 0, batches = 0;
};

/// {"status":"ok","version":"…","model":{…},"waiting":…,"served":…,"batches":…}
std::string health_text(const AnyModel& model, const std::string& name, const ServerCounts& counts);

}  // namespace cli
