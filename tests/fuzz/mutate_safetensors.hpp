// Mutations of safetensors files that keep them whole: tensors, metadata and the JSON inside of it change,
// while lengths and offsets still fit (or one of them lies). Bytes changed at random would rarely pass the
// first check.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace bahdanau::fuzz {

using Json = nlohmann::ordered_json;

/// Changes a file that a fuzzer has found worth keeping; the seed decides how.
class SafetensorsMutator {
 public:
  explicit SafetensorsMutator(unsigned seed) : random_(seed) {}

  /// The changed file; nothing where it could not be read as one.
  std::optional<std::string> operator()(std::string_view bytes) {
    if (bytes.size() < 8) return std::nullopt;
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > bytes.size() - 8) return std::nullopt;
    const std::string_view header = bytes.substr(8, length), data = bytes.substr(8 + length);
    if (chance(8)) return assembled(changed_bytes(std::string(header)), data);
    if (!parse(header, data)) return assembled(changed_bytes(std::string(header)), data);
    for (std::size_t i = 1 + below(3); i > 0; --i) change();
    return serialized();
  }

 private:
  struct Tensor {
    std::string name, dtype;
    std::vector<std::uint64_t> shape;
    std::string bytes;
  };

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <class List>
  auto& any(List& list) {
    return list[below(std::size(list))];
  }

  static std::string assembled(const std::string& header, std::string_view data) {
    const std::uint64_t length = header.size();
    std::string out(sizeof length, '\0');
    std::memcpy(out.data(), &length, sizeof length);
    return out.append(header).append(data);
  }

  /// What libFuzzer makes of some bytes, with its dictionary.
  std::string changed_bytes(std::string bytes, std::size_t grow = 64) {
    const std::size_t size = bytes.size();
    bytes.resize(size + grow);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
    return bytes;
  }

  bool parse(std::string_view header, std::string_view data) {
    const Json json = Json::parse(header, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return false;
    try {
      for (const auto& [name, value] : json.items()) {
        if (name == "__metadata__") {
          for (const auto& [key, text] : value.items()) metadata_.emplace_back(key, text.get<std::string>());
          continue;
        }
        const Json &shape = value.at("shape"), &offsets = value.at("data_offsets");
        const auto natural = [](const Json& number) { return number.is_number_unsigned(); };
        if (!std::all_of(shape.begin(), shape.end(), natural) ||
            !std::all_of(offsets.begin(), offsets.end(), natural))
          return false;
        Tensor tensor{name, value.at("dtype"), shape, {}};
        const std::size_t begin = offsets.at(0), end = offsets.at(1);
        if (begin > end || end > data.size()) return false;
        tensor.bytes = data.substr(begin, end - begin);
        tensors_.push_back(std::move(tensor));
      }
    } catch (const Json::exception&) {
      return false;
    }
    return true;
  }

  void change() {
    const std::size_t what = below(16);
    if (what < 9 && !metadata_.empty()) {
      change_json(any(metadata_).second);
    } else if (what < 12 && !tensors_.empty()) {
      change_numbers(any(tensors_));
    } else if (what < 14 && !tensors_.empty()) {
      change_tensor();
    } else if (what == 14 && !metadata_.empty()) {
      change_metadata();
    } else {
      lie_ = true;
    }
  }

  void change_metadata() {
    auto& entry = any(metadata_);
    switch (below(4)) {
      case 0:
        std::swap(entry, metadata_.back());
        metadata_.pop_back();
        break;
      case 1:
        metadata_.emplace_back(entry);
        break;
      case 2:
        entry.first = changed_bytes(entry.first, 8);
        break;
      default:
        std::swap(entry.second, any(metadata_).second);
    }
  }

  void change_tensor() {
    Tensor& tensor = any(tensors_);
    switch (below(6)) {
      case 0:
        std::swap(tensor, tensors_.back());
        tensors_.pop_back();
        break;
      case 1:
        tensors_.push_back(Tensor(tensor));
        break;
      case 2:
        tensor.name = chance(2) ? any(tensors_).name : changed_bytes(tensor.name, 8);
        break;
      case 3:
        widen(tensor);
        break;
      case 4:  // another shape, and as much data as it wants where that is little
        if (tensor.shape.empty() || chance(4)) {
          tensor.shape.push_back(1);
        } else {
          any(tensor.shape) = chance(2) ? below(9) : any(whole_);
        }
        resize(tensor);
        break;
      default:
        std::reverse(tensor.shape.begin(), tensor.shape.end());
    }
  }

  static void resize(Tensor& tensor) {
    std::uint64_t size = tensor.dtype == "F64" ? 8 : 4;
    for (const std::uint64_t extent : tensor.shape) size = extent < 4096 ? size * extent : size;
    if (size < 4096) tensor.bytes.resize(size, '\1');
  }

  /// F32 becomes F64, with the same numbers.
  static void widen(Tensor& tensor) {
    if (tensor.dtype != "F32" || tensor.bytes.size() < sizeof(float)) return;
    std::vector<float> from(tensor.bytes.size() / sizeof(float));
    std::memcpy(from.data(), tensor.bytes.data(), from.size() * sizeof(float));
    const std::vector<double> to(from.begin(), from.end());
    tensor.bytes.assign(reinterpret_cast<const char*>(to.data()), to.size() * sizeof(double));
    tensor.dtype = "F64";
  }

  void change_numbers(Tensor& tensor) {
    if (tensor.bytes.empty()) return;
    if (chance(4)) {
      const std::size_t size = tensor.bytes.size();
      tensor.bytes = changed_bytes(tensor.bytes, 0);
      tensor.bytes.resize(size);
      return;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::array<double, 12> numbers = {0,
                                                -0.0,
                                                1,
                                                -1,
                                                1e30,
                                                -1e30,
                                                3.4028234663852886e38,
                                                1e308,
                                                1e-45,
                                                std::numeric_limits<double>::quiet_NaN(),
                                                infinity,
                                                -infinity};
    const double number = any(numbers);
    const std::size_t width = tensor.dtype == "F64" ? sizeof(double) : sizeof(float);
    const std::size_t count = tensor.bytes.size() / width;
    if (count == 0) return;
    const std::size_t first = below(count), last = chance(2) ? first + 1 : count;
    // Beyond float is inf there, as the hardware rounds.
    const float narrow = std::abs(number) > 3.5e38 ? static_cast<float>(std::copysign(infinity, number))
                                                   : static_cast<float>(number);
    for (std::size_t i = first; i < last; ++i) {
      if (width == sizeof(double)) {
        std::memcpy(tensor.bytes.data() + i * width, &number, width);
      } else {
        std::memcpy(tensor.bytes.data() + i * width, &narrow, width);
      }
    }
  }

  /// Changes a value somewhere in a JSON text.
  void change_json(std::string& text) {
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded() || chance(8)) {
      text = changed_bytes(text);
      return;
    }
    std::vector<Json*> nodes;
    collect(json, nodes);
    change_value(*any(nodes));
    text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    // What no JSON library would write stands in a string between two marks.
    for (std::size_t at = 0; (at = text.find("\"@@", at)) != text.npos;) {
      const std::size_t end = text.find("@@\"", at + 3);
      if (end == text.npos) break;
      text = text.substr(0, at) + text.substr(at + 3, end - at - 3) + text.substr(end + 3);
    }
  }

  static void collect(Json& json, std::vector<Json*>& nodes) {
    nodes.push_back(&json);
    if (json.is_structured())
      for (Json& child : json) collect(child, nodes);
  }

  void change_value(Json& value) {
    if (value.is_number_integer() && chance(2)) {
      const auto number = value.get<std::uint64_t>();
      value = std::array{number + 1, number - 1, number * 2, number / 2, number + 10}[below(5)];
      return;
    }
    if (value.is_structured() && !value.empty() && chance(2)) {
      change_members(value);
      return;
    }
    switch (below(7)) {
      case 0:
        value = any(whole_);
        break;
      case 1: {
        constexpr std::array<double, 9> numbers = {-0.0,   -1,     0.5,  0.99999999, 1e308,
                                                   -1e308, 5e-324, 1e39, 1.5};
        value = any(numbers);
        break;
      }
      case 2: {
        constexpr std::array<const char*, 8> raw = {
            "1e999",       "-0", "1e-999", "NaN", "18446744073709551616", "-9223372036854775809",
            "\"\\ud800\"", "01"};
        value = std::string("@@") + any(raw) + "@@";
        break;
      }
      case 3: {
        constexpr std::array<const char*, 20> words = {
            "",           "<unk>",      "<eos>",  "gru",           "lstm",           "additive",
            "scaled_dot", "valid",      "padded", "bidirectional", "unidirectional", "words",
            "none",       "characters", "a b",    "\xC2\x85",      "\xC4\xB0",       "\xF0\x9F\x98\x80",
            "\n",         "1"};
        value = std::string(any(words));
        break;
      }
      case 4: {
        const std::array<Json, 5> others = {Json(nullptr), Json(true), Json(false), Json::array(),
                                            Json::object()};
        value = any(others);
        break;
      }
      case 5:
        for (std::size_t depth = 1 + below(chance(4) ? 70 : 4); depth > 0; --depth)
          value = Json::array({value});
        break;
      default:
        if (value.is_string()) {
          value = changed_bytes(value.get<std::string>(), 16);
        } else {
          value = below(6);
        }
    }
  }

  void change_members(Json& value) {
    const auto at = [&] {
      return std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size())));
    };
    switch (below(4)) {
      case 0:
        value.erase(at());
        break;
      case 1:
        if (value.is_array()) {
          const Json copy = *at();
          for (std::size_t i = chance(4) ? 100 : 1; i > 0; --i) value.push_back(copy);
        } else {
          value["more"] = *at();
        }
        break;
      case 2:
        if (value.is_array())
          value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size()))),
                      value.end());
        break;
      default:
        std::swap(*at(), *at());
    }
  }

  std::string serialized() {
    Json text = "";
    const auto quoted = [&](const std::string& s) {
      text = s;
      return text.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    const std::size_t lie_at = lie_ && !tensors_.empty() ? below(tensors_.size()) : tensors_.size();
    std::string header = "{", data;
    if (!metadata_.empty()) {
      header += "\"__metadata__\":{";
      for (const auto& [key, value] : metadata_)
        header.append(header.back() == '{' ? "" : ",").append(quoted(key)).append(":").append(quoted(value));
      header += "}";
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      std::uint64_t begin = data.size();
      data += tensor.bytes;
      std::uint64_t end = data.size();
      if (i == lie_at) (chance(2) ? begin : end) = chance(2) ? below(data.size() + 8) : any(whole_);
      header.append(header.size() > 1 ? "," : "").append(quoted(tensor.name)).append(R"(:{"dtype":")");
      header.append(tensor.dtype).append(R"(","shape":)").append(Json(tensor.shape).dump());
      header.append(R"(,"data_offsets":[)").append(std::to_string(begin)).append(",");
      header.append(std::to_string(end)).append("]}");
    }
    return assembled(header + "}", data);
  }

  static constexpr std::array<std::uint64_t, 20> whole_ = {
      0,          1,          2,           3,           7,
      16,         1000,       1024,        65535,       65536,
      65537,      16777216,   1U << 31U,   16777217,    4294967295,
      4294967296, 4294967297, 1ULL << 53U, 1ULL << 63U, ~std::uint64_t{0}};

  std::mt19937 random_;
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  bool lie_ = false;  // an offset is to be wrong
};

}  // namespace bahdanau::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 16 != 0) {
    bahdanau::fuzz::SafetensorsMutator mutate(seed);
    if (const auto changed = mutate({reinterpret_cast<const char*>(data), size});
        changed && changed->size() <= max_size) {
      std::memcpy(data, changed->data(), changed->size());
      return changed->size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
