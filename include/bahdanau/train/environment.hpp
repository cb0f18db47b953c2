// What must be the same in all processes of a training, beside the data: the program, the processor's
// kernels, the step's settings, the weights. As text, so that an error can say what differs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <unistd.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/core/settings.hpp>
#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/kernel/instructions.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/step_options.hpp>
#include <bahdanau/version.hpp>

namespace bahdanau::detail {

/// How many threads a process has, where the cores of its machine are divided among several: unless asked
/// for, its share, or as many as it may use.
template <class Options>
std::size_t threads_of_process(const Options& options) {
  const std::size_t here = options.communicator.processes_on_host();
  if (options.threads != 0 || options.pool != nullptr || here < 2) return options.threads;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  const std::size_t share = online > 0 ? static_cast<std::size_t>(online) / here : 1;
  return std::max<std::size_t>(1, std::min(share, ThreadPool::cores()));
}

/// What decides the result of every step, by name.
template <class Model, class Optimizer>
Settings step_settings(const Model& model, const Optimizer& optimizer, const StepOptions& o) {
  Settings result{{"scalar", std::is_same_v<typename Model::Backend::Scalar, double> ? "double" : "float"},
                  {"clip", number_text(o.clip)},
                  {"seed", text(o.seed)},
                  {"label_smoothing", number_text(o.label_smoothing)},
                  {"optimizer", std::string(optimizer.name)}};
  if constexpr (requires { model.settings(); }) result.merge(model.settings());
  if constexpr (requires { model.dropout(); }) result.emplace("dropout", number_text(model.dropout()));
  if (o.scheduled_sampling.active()) result.emplace("scheduled_sampling", text(o.scheduled_sampling));
  std::string fixed;
  for (const std::string& pattern : o.fixed) fixed += (fixed.empty() ? "" : " ") + pattern;
  if (!fixed.empty()) result.emplace("fixed", fixed);
  for (const auto& [key, value] : settings_of(optimizer))
    result.emplace("optimizer." + key, number_text(value));
  return result;
}

/// The same with the program, the processor's kernels and the division of the work.
template <class Model, class Optimizer>
Settings environment_of(const Model& model, const Optimizer& optimizer, const StepOptions& o) {
  if (!o.communicator.several()) return {};
  using B = typename Model::Backend;
  Settings result{{"version", text(BAHDANAU_VERSION_MAJOR) + "." + text(BAHDANAU_VERSION_MINOR) + "." +
                                  text(BAHDANAU_VERSION_PATCH)},
                  {"compiler", __VERSION__},
                  {"processes", text(o.communicator.size())},
                  {"backend", std::string(B::name)},
                  {"instructions", std::string(name(instructions()))},
                  {"weights", text(model.weights().size())},
                  {"replicas", text(o.replicas)}};
  result.merge(step_settings(model, optimizer, o));
  if constexpr (requires { B::kernels(); }) result.emplace("BLAS kernels", B::kernels());
  if constexpr (requires { B::blas_version(); }) result.emplace("OpenBLAS", B::blas_version());
  return result;
}

/// A text that is another one for other weights.
template <Backend B>
std::string weights_text(const ParameterBlock<B>& block) {
  random::Key key{block.size()};
  for (const typename B::Scalar number : block.read())
    if constexpr (sizeof(number) == sizeof(std::uint32_t))
      key = key.derive(std::bit_cast<std::uint32_t>(number));
    else
      key = key.derive(std::bit_cast<std::uint64_t>(number));
  return "fingerprint " + text(key.state);
}

}  // namespace bahdanau::detail
