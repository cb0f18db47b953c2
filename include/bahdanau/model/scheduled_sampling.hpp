// Scheduled sampling (Bengio, Vinyals, Jaitly and Shazeer, 2015): while it is trained, a decoder reads more
// and more of its own tokens in place of the true ones. Plain values: how the share of true tokens falls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau {

/// How the probability ε falls with which a token that the decoder reads is the true one; the default leaves
/// it at 1, which is teacher forcing. With i the number of the batch, from 0 on:
///
///     linear             ε = max(least, k - slope i),       0 ≤ k ≤ 1
///     exponential        ε = max(least, k^i),               0 < k ≤ 1
///     inverse sigmoid    ε = max(least, k / (k + e^(i/k))),     k ≥ 1
struct ScheduledSampling {
  enum class Decay { none, linear, exponential, inverse_sigmoid };
  /// What stands in place of a true token: one drawn from the model's distribution, or its most probable one.
  enum class Choice { drawn, best };

  Decay decay = Decay::none;
  double k = 1;
  double slope = 0;
  double least = 0;
  Choice choice = Choice::drawn;

  bool active() const { return decay != Decay::none; }

  /// ε of the batch with that number.
  double teacher(std::uint64_t batch) const {
    const auto i = static_cast<double>(batch);
    switch (decay) {
      case Decay::none:
        return 1;
      case Decay::linear:
        return std::max(least, k - slope * i);
      case Decay::exponential:
        return std::max(least, std::pow(k, i));
      case Decay::inverse_sigmoid:
        return std::max(least, k / (k + std::exp(i / k)));
    }
    return 1;
  }

  /// Throws for settings that are no numbers, or out of range.
  void check() const {
    const auto require = [](bool fits, std::string_view what, std::string_view expected, double got) {
      if (!fits) fail("ScheduledSampling." + std::string(what), expected, detail::number_text(got));
    };
    if (!active()) return;
    if (decay == Decay::linear) require(k >= 0 && k <= 1, "k", "from 0 to 1, for a linear decay", k);
    if (decay == Decay::exponential)
      require(k > 0 && k <= 1, "k", "above 0 and at most 1, for an exponential decay", k);
    if (decay == Decay::inverse_sigmoid)
      require(k >= 1 && std::isfinite(k), "k", "at least 1, for an inverse sigmoid decay", k);
    require(slope >= 0 && std::isfinite(slope), "slope", "at least 0", slope);
    require(least >= 0 && least <= 1, "least", "from 0 to 1", least);
  }
};

inline std::string_view name(ScheduledSampling::Decay decay) {
  constexpr std::string_view names[] = {"none", "linear", "exponential", "inverse_sigmoid"};
  return names[static_cast<std::size_t>(decay)];
}

inline ScheduledSampling::Decay sampling_decay_from_name(std::string_view text) {
  using Decay = ScheduledSampling::Decay;
  for (const Decay decay : {Decay::none, Decay::linear, Decay::exponential, Decay::inverse_sigmoid})
    if (text == name(decay)) return decay;
  fail("scheduled_sampling", "\"none\", \"linear\", \"exponential\" or \"inverse_sigmoid\"",
       detail::quote(text));
}

namespace detail {

/// As a checkpoint says it.
inline std::string text(const ScheduledSampling& s) {
  return std::string(name(s.decay)) + ", k " + number_text(s.k) + ", slope " + number_text(s.slope) +
         ", least " + number_text(s.least) +
         (s.choice == ScheduledSampling::Choice::drawn ? ", drawn" : ", best");
}

}  // namespace detail

}  // namespace bahdanau
