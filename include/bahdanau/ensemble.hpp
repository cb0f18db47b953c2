// Ensemble: several frozen models that translate together, and whose vocabularies are the same.
// Their policies, sizes and backends may differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/decode/ensemble_session.hpp>
#include <bahdanau/decode/forced.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/frozen.hpp>

namespace bahdanau {

/// A frozen model as one of several. Copies share it; `name` is for messages, a file's path say.
class EnsembleMember {
 public:
  template <class Model>
  EnsembleMember(Frozen<Model> model, std::string name = {})  // NOLINT: a member is what it is made of
      : member_(std::make_shared<const MemberOf<Model>>(std::move(model))), name_(std::move(name)) {}

  const Vocabularies& vocabularies() const { return member_->vocabularies(); }
  const std::string& name() const { return name_; }
  const std::shared_ptr<const detail::Member>& member() const { return member_; }

 private:
  template <class Model>
  class MemberOf final : public detail::Member {
   public:
    explicit MemberOf(Frozen<Model> model) : model_(std::move(model)) {}
    std::unique_ptr<detail::MemberSession> borrow() const override {
      return std::make_unique<detail::MemberSessionOf<typename Model::Parts>>(*model_.sessions());
    }
    const Vocabularies& vocabularies() const override { return model_.vocabularies(); }
    std::size_t max_length() const override { return model_.max_length(); }
    detail::DecodingSizes sizes() const override { return model_.sessions()->sizes(); }
    detail::GroupRule grouping() const override { return model_.sessions()->grouping(); }
    std::vector<Translation> score(std::span<const SentencePair> pairs, std::size_t batch) const override {
      return score_pairs(model_, pairs, batch);
    }

   private:
    Frozen<Model> model_;
  };

  std::shared_ptr<const detail::Member> member_;
  std::string name_;
};

namespace detail {

/// Throws for the first token in which two vocabularies differ.
inline void require_same_vocabulary(const std::string& where, const std::string& side,
                                    const Vocabulary& first, const Vocabulary& other) {
  const std::size_t common = std::min(first.size(), other.size());
  for (std::size_t i = 0; i < common; ++i)
    if (first.tokens()[i] != other.tokens()[i])
      fail(where,
           "token " + text(i) + " of the " + side + " vocabulary to be " + quote(first.tokens()[i]) +
               ", as in the first model",
           quote(other.tokens()[i]), "the models of an ensemble are trained with the same vocabularies");
  if (first.size() != other.size())
    fail(where, "a " + side + " vocabulary of " + text(first.size()) + " tokens, as in the first model",
         text(other.size()), "the models of an ensemble are trained with the same vocabularies");
}

/// Throws where text would become other tokens. How long rows of a training were, and from which end a model
/// reads, is its own matter.
inline void require_same_text(const std::string& where, const Vocabularies& first,
                              const Vocabularies& other) {
  require_same_vocabulary(where, "source", first.source, other.source);
  require_same_vocabulary(where, "target", first.target, other.target);
  TextOptions options = other.text;
  options.max_length = first.text.max_length;
  options.reverse_source = first.text.reverse_source;
  if (options == first.text) return;
  const auto require_same = [&](std::string_view which, const TextSide& ours, const TextSide& its) {
    if (ours == its) return;
    const std::string said = ours.text(), got = its.text();
    fail(where, std::string(which) + " text as " + said + ", as in the first model",
         got == said ? "other subwords" : got);
  };
  require_same("source", first.text.source_side(), options.source_side());
  require_same("target", first.text.target_side(), options.target_side());
}

inline std::shared_ptr<const EnsemblePool> ensemble_of(const std::vector<EnsembleMember>& members,
                                                       Average average) {
  if (members.empty()) fail("Ensemble", "at least one model", "none");
  std::vector<std::shared_ptr<const Member>> out;
  for (const EnsembleMember& each : members) {
    if (!out.empty())
      require_same_text(each.name().empty() ? "Ensemble, model " + text(out.size() + 1) : each.name(),
                        out.front()->vocabularies(), each.vocabularies());
    out.push_back(each.member());
  }
  return std::make_shared<const EnsemblePool>(std::move(out), average);
}

/// What an ensemble shows of itself.
class EnsembleParts {
 public:
  explicit EnsembleParts(std::shared_ptr<const EnsemblePool> sessions) : sessions_(std::move(sessions)) {}

  const Vocabularies& vocabularies() const { return sessions_->vocabularies(); }
  std::size_t size() const { return sessions_->members().size(); }
  const std::shared_ptr<const EnsemblePool>& sessions() const { return sessions_; }

 private:
  std::shared_ptr<const EnsemblePool> sessions_;
};

}  // namespace detail

/// Models that translate as one, at every step by the mean of their (log-)probabilities: see `Average`. The
/// attention is the mean of the members' that have as many keys as the first that attends.
///
///     const Ensemble ensemble{gru.freeze(), lstm.freeze()};
///     ensemble.translate("go .", Beam{});
///
/// `translate`, `translate_nbest` and `score_pairs` take it as they take a model. Copies share everything,
/// and threads may use one at once.
class Ensemble : public TextInference<Ensemble, detail::EnsembleParts> {
 public:
  /// Throws where a vocabulary is not that of the first, with the first token that differs.
  template <class... Models>
  explicit Ensemble(const Frozen<Models>&... models)
      : Ensemble(std::vector<EnsembleMember>{EnsembleMember(models)...}) {}
  explicit Ensemble(const std::vector<EnsembleMember>& members, Average average = Average::log_probabilities)
      : TextInference(detail::ensemble_of(members, average)) {}
};

/// Scores given translations by an ensemble's mean.
inline std::vector<Translation> score_pairs(const Ensemble& ensemble, std::span<const SentencePair> pairs,
                                            std::size_t batch = 32) {
  const auto members = ensemble.sessions()->members();
  const bool probabilities = ensemble.sessions()->average() == Average::probabilities;
  const auto mean_of = [&](double value) { return probabilities ? std::exp(value) : value; };
  std::vector<Translation> out = members.front()->score(pairs, batch);
  std::vector<double> attending(out.size(), 1);
  for (Translation& each : out) {
    each.heads = {};  // a single model's
    for (double& log_prob : each.log_probs) log_prob = mean_of(log_prob);
  }
  for (const auto& member : members.subspan(1)) {
    const std::vector<Translation> others = member->score(pairs, batch);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t t = 0; t < out[i].log_probs.size(); ++t)
        out[i].log_probs[t] += mean_of(others[i].log_probs[t]);
      if (out[i].attention.size() == 0) {  // nobody has attended so far
        out[i].attention = others[i].attention;
        continue;
      }
      if (out[i].attention.shape() != others[i].attention.shape()) continue;
      ++attending[i];
      for (std::size_t k = 0; k < out[i].attention.size(); ++k)
        out[i].attention.data()[k] += others[i].attention.data()[k];
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].score = 0;
    for (double& log_prob : out[i].log_probs) {
      log_prob /= static_cast<double>(members.size());
      if (probabilities) log_prob = std::log(log_prob);
      out[i].score += log_prob;
    }
    for (float& weight : out[i].attention) weight = static_cast<float>(weight / attending[i]);
  }
  return out;
}

}  // namespace bahdanau
