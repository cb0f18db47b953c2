// Which tensor of a file is which parameter: files of d2l's own package, and of wrapped models, spell them
// longer. Names are ours where they can be; a message about one that is missing names the nearest that is
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau::detail {

/// How many letters have to be changed, added or removed to make one text of the other (Levenshtein).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // row[j]: from the first i letters of a to the first j of b
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// A file's tensors by the names of a model's parameters.
class TensorNames {
 public:
  /// Takes a name that the model has as it is. Otherwise a prefix that all tensors have in front of
  /// `encoder.` or `decoder.` (`net.`, `module.`) is left out, and `rnn.rnn.`, as d2l's package wraps the
  /// layer, is `rnn.`. Throws where two tensors are the same parameter.
  TensorNames(const SafetensorsFile& file, const ParameterList& list) : file_(&file) {
    for (const auto& entry : list.entries()) known_.insert(entry.name);
    const std::size_t prefix = prefix_of_all();
    for (const auto& [name, info] : file.tensors()) {
      const std::string ours =
          known_.contains(name) ? name : unwrapped(std::string_view(name).substr(prefix));
      const auto [place, inserted] = names_.emplace(ours, name);
      if (!inserted)
        fail(file.path().string(), "one tensor for " + quote(ours),
             "both " + quote(place->second) + " and " + quote(name));
    }
  }

  /// The name in the file of a parameter; null if there is none.
  const std::string* find(std::string_view parameter) const {
    const auto found = names_.find(parameter);
    return found == names_.end() ? nullptr : &found->second;
  }

  /// The parameters' names, as far as they are known, each with that in the file.
  const std::map<std::string, std::string, std::less<>>& all() const { return names_; }
  bool is_parameter(std::string_view ours) const { return known_.contains(ours); }

  /// A hint about the tensor whose name is nearest to that of a missing one; empty for a file without
  /// tensors.
  std::string nearest(std::string_view missing, const std::vector<std::size_t>& shape) const {
    // A stranger's file may have millions of names, each of them long.
    constexpr std::size_t most_names = 2000, longest_name = 200;
    const std::string* best = nullptr;
    std::pair<std::size_t, bool> best_distance;
    std::size_t seen = 0;
    for (const auto& [ours, name] : names_) {
      if (++seen > most_names) break;
      if (ours.size() > longest_name) continue;
      // Of two that are as near, the one that no parameter has taken.
      const std::pair distance(edit_distance(missing, ours), known_.contains(ours));
      if (best != nullptr && distance >= best_distance) continue;
      best = &name;
      best_distance = distance;
    }
    if (best == nullptr) return "";
    const std::vector<std::size_t>& extents = file_->tensors().find(*best)->second.shape;
    return "the nearest is " + quote(*best) + (extents == shape ? "" : " of shape " + bracketed(extents));
  }

 private:
  /// The length of what stands in front of `encoder.` in the first name that has it, if it does in all names.
  std::size_t prefix_of_all() const {
    const auto& tensors = file_->tensors();
    if (tensors.empty()) return 0;
    const std::string_view first = tensors.begin()->first;
    for (std::string_view half : {".decoder.", ".encoder."}) {
      const std::size_t at = first.find(half);
      if (at == first.npos) continue;
      const std::string_view prefix = first.substr(0, at + 1);
      const bool in_all = std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
        const std::string_view name = tensor.first;
        return name.starts_with(prefix) && (name.substr(prefix.size()).starts_with("encoder.") ||
                                            name.substr(prefix.size()).starts_with("decoder."));
      });
      if (in_all) return prefix.size();
    }
    return 0;
  }

  static std::string unwrapped(std::string_view name) {
    for (std::string_view half : {"encoder.", "decoder."})
      if (name.starts_with(half) && name.substr(half.size()).starts_with("rnn.rnn."))
        return std::string(half) + std::string(name.substr(half.size() + 4));
    return std::string(name);
  }

  const SafetensorsFile* file_;
  std::unordered_set<std::string_view> known_;  // into the list of parameters, which outlives this
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace bahdanau::detail
