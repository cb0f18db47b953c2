// Reading and writing safetensors files: named tensors and strings, as Python's `safetensors` has them.
// Knows nothing of models; a file is checked as a whole when it is opened.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/io/file_handle.hpp>
#include <bahdanau/io/json_writer.hpp>
#include <bahdanau/io/safetensors_header.hpp>
#include <bahdanau/io/tensor_info.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau {

static_assert(std::endian::native == std::endian::little,
              "safetensors: bytes are little-endian, and so must be the machine");

/// An opened file: its header is checked, its tensors are read on demand, from many threads if need be.
class SafetensorsFile {
 public:
  /// Opens and checks a file; throws for one that is missing, not regular, or against the format anywhere.
  static SafetensorsFile open(const std::filesystem::path& path) {
    auto [handle, bytes] = detail::open_regular_file(path);
    std::string where = path.string();
    if (bytes < prefix_bytes) {
      fail(where, "a safetensors file of at least 8 bytes", detail::text(bytes));
    }
    std::uint64_t length = 0;
    detail::read_at(path, handle, 0, std::as_writable_bytes(std::span(&length, 1)));
    // Both limits come before the allocation: the length is a stranger's.
    if (length > detail::max_header_bytes || length > bytes - prefix_bytes) {
      std::size_t most = std::min(detail::max_header_bytes, bytes - prefix_bytes);
      fail(where, "a header of at most " + detail::text(most) + " bytes", detail::text(length),
           "the file was cut short, or is not safetensors");
    }
    std::string json(static_cast<std::size_t>(length), '\0');
    detail::read_at(path, handle, prefix_bytes, std::as_writable_bytes(std::span(json)));
    std::size_t data = prefix_bytes + json.size();
    auto header = detail::parse_safetensors_header(where, json, bytes - data);
    return SafetensorsFile(path, std::move(handle), data, std::move(header));
  }

  /// What is in the file, by name.
  const std::map<std::string, TensorInfo, std::less<>>& tensors() const { return header_.tensors; }

  /// The strings of `__metadata__`; empty if the file has none.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return header_.metadata; }

  bool contains(std::string_view tensor) const { return header_.tensors.contains(tensor); }

  const std::filesystem::path& path() const { return path_; }

  /// A tensor's values, row-major; F32 and F64 are converted into each other.
  /// Throws if there is no such tensor, for integers as floats or floats as integers, for a number beyond
  /// `T`'s range, and if the file has become shorter.
  template <TensorElement T>
  std::vector<T> read(std::string_view tensor) const {
    auto found = header_.tensors.find(tensor);
    if (found == header_.tensors.end()) {
      fail(path_.string(), "a tensor " + detail::quote(tensor), "none of that name");
    }
    const TensorInfo& info = found->second;
    if ((info.dtype == Dtype::i32) != std::same_as<T, std::int32_t>) {
      fail(path_.string(),
           "tensor " + detail::quote(tensor) + " of dtype " +
               (std::same_as<T, std::int32_t> ? "I32" : "F32 or F64"),
           name(info.dtype));
    }
    if constexpr (std::same_as<T, std::int32_t>) {
      return load<T>(info);
    } else {
      return info.dtype == Dtype::f32 ? convert<T>(tensor, load<float>(info))
                                      : convert<T>(tensor, load<double>(info));
    }
  }

  /// Some of a tensor's values, from element `first` on.
  template <std::floating_point T>
  void read(std::string_view tensor, std::size_t first, std::span<T> values) const {
    const auto found = header_.tensors.find(tensor);
    if (found == header_.tensors.end() || found->second.dtype == Dtype::i32)
      fail(path_.string(), "a tensor " + detail::quote(tensor) + " of dtype F32 or F64", "none");
    const TensorInfo& info = found->second;
    const auto load = [&]<class Stored>(std::span<Stored> stored) {
      const std::size_t begin = info.begin + first * sizeof(Stored);
      if (begin + stored.size_bytes() > info.end)
        fail(path_.string(), "a tensor " + detail::quote(tensor) + " of more values", "fewer");
      detail::read_at(path_, *handle_, data_ + begin, std::as_writable_bytes(stored));
    };
    if (info.dtype == (std::same_as<T, float> ? Dtype::f32 : Dtype::f64)) return load(values);
    using Stored = std::conditional_t<std::same_as<T, float>, double, float>;
    std::vector<Stored> stored(values.size());
    load(std::span<Stored>(stored));
    const std::vector<T> converted = convert<T>(tensor, std::move(stored));
    std::copy(converted.begin(), converted.end(), values.begin());
  }

 private:
  static constexpr std::size_t prefix_bytes = 8;  // the header's length

  SafetensorsFile(std::filesystem::path path, detail::FileHandle handle, std::size_t data,
                  detail::SafetensorsHeader header)
      : path_(std::move(path)),
        handle_(std::make_shared<const detail::FileHandle>(std::move(handle))),
        data_(data),
        header_(std::move(header)) {}

  template <class Stored>
  std::vector<Stored> load(const TensorInfo& info) const {
    std::vector<Stored> values((info.end - info.begin) / sizeof(Stored));
    detail::read_at(path_, *handle_, data_ + info.begin, std::as_writable_bytes(std::span(values)));
    return values;
  }

  template <class T, class Stored>
  std::vector<T> convert(std::string_view tensor, std::vector<Stored> stored) const {
    if constexpr (std::same_as<T, Stored>) {
      return stored;
    } else {
      std::vector<T> values(stored.size());
      for (std::size_t i = 0; i < stored.size(); ++i) {
        values[i] = static_cast<T>(stored[i]);
        if (sizeof(T) < sizeof(Stored) && std::isinf(values[i]) && !std::isinf(stored[i])) {
          fail(path_.string(), "tensor " + detail::quote(tensor) + " within the range of float",
               detail::number_text(stored[i]) + " at " + detail::text(i), "read it as double");
        }
      }
      return values;
    }
  }

  std::filesystem::path path_;
  // Kept open, so that another file which takes the name changes nothing.
  std::shared_ptr<const detail::FileHandle> handle_;
  std::size_t data_;  // where the data section begins
  detail::SafetensorsHeader header_;
};

/// Collects tensors and strings, then writes them as one file.
class SafetensorsWriter {
 public:
  /// Takes a copy of a tensor's values, row-major; throws for a name that is taken or not UTF-8, or a shape
  /// that does not hold as many values or has more than 8 dimensions.
  void add(std::string name, std::vector<std::size_t> shape, std::span<const float> values) {
    insert(std::move(name), Dtype::f32, std::move(shape), std::as_bytes(values));
  }
  void add(std::string name, std::vector<std::size_t> shape, std::span<const double> values) {
    insert(std::move(name), Dtype::f64, std::move(shape), std::as_bytes(values));
  }
  void add(std::string name, std::vector<std::size_t> shape, std::span<const std::int32_t> values) {
    insert(std::move(name), Dtype::i32, std::move(shape), std::as_bytes(values));
  }

  /// Adds a string to `__metadata__`; throws for a key that is taken, and for text that is not UTF-8.
  void metadata(std::string key, const std::string& value) {
    if (metadata_.contains(key)) fail(where, "every metadata key once", detail::quote(key) + " again");
    std::string json =
        json_string("a metadata key", key) + ':' + json_string("metadata " + detail::quote(key), value);
    metadata_.emplace(std::move(key), std::move(json));
  }

  /// Writes the file as a whole: if that fails, an error is thrown and a file that was there before stays.
  void write(const std::filesystem::path& path) const {
    // The wider elements first, then by name, as the official writer has them: so every tensor is aligned.
    std::vector<const std::pair<const std::string, Tensor>*> order;
    for (const auto& entry : tensors_) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](auto* left, auto* right) {
      const std::size_t left_size = size_of(left->second.dtype), right_size = size_of(right->second.dtype);
      return left_size != right_size ? left_size > right_size : left->first < right->first;
    });
    std::string header = header_text(order);
    if (header.size() > detail::max_header_bytes) {
      fail(path.string(), "a header of at most " + detail::text(detail::max_header_bytes) + " bytes",
           detail::text(header.size()));
    }
    std::uint64_t length = header.size();
    write_atomically(path, [&](AtomicFile& file) {
      file.write(std::as_bytes(std::span(&length, 1)));
      file.write(header);
      for (const auto* entry : order) file.write(entry->second.bytes);
    });
  }

 private:
  struct Tensor {
    std::string json_name;
    Dtype dtype;
    std::vector<std::size_t> shape;
    std::vector<std::byte> bytes;
  };
  static constexpr std::string_view where = "SafetensorsWriter";

  static std::string json_string(std::string_view what, const std::string& value) {
    try {
      detail::require_utf8(where, value);
    } catch (const Error&) {
      fail(where, std::string(what) + " in UTF-8", "bytes that are not");
    }
    std::string out;
    detail::append_json(out, value);
    return out;
  }

  void insert(std::string name, Dtype dtype, std::vector<std::size_t> shape,
              std::span<const std::byte> bytes) {
    std::string tensor = "tensor " + detail::quote(name);
    if (name == detail::metadata_name || tensors_.contains(name)) {
      fail(where, "a tensor name that is free", detail::quote(name));
    }
    if (shape.size() > detail::max_rank) {
      fail(where, tensor + " of at most " + detail::text(detail::max_rank) + " dimensions",
           detail::text(shape.size()));
    }
    std::size_t count = bytes.size() / size_of(dtype);
    if (detail::element_count(shape, dtype) != count) {
      fail(where, tensor + " with as many values as shape " + detail::bracketed(shape) + " holds",
           detail::text(count));
    }
    std::string json_name = json_string("a tensor name", name);
    tensors_.emplace(std::move(name),
                     Tensor{std::move(json_name), dtype, std::move(shape), {bytes.begin(), bytes.end()}});
  }

  template <class Order>
  std::string header_text(const Order& order) const {
    std::string header = "{";
    if (!metadata_.empty()) {
      header += "\"__metadata__\":{";
      for (const auto& [key, entry] : metadata_) header.append(header.back() == '{' ? "" : ",").append(entry);
      header += '}';
    }
    std::size_t offset = 0;
    for (const auto* entry : order) {
      const Tensor& tensor = entry->second;
      std::size_t end = offset + tensor.bytes.size();
      header.append(header.back() == '{' ? "" : ",").append(tensor.json_name);
      header.append(":{\"dtype\":\"")
          .append(name(tensor.dtype))
          .append("\",\"shape\":")
          .append(detail::bracketed(tensor.shape));
      header.append(",\"data_offsets\":").append(detail::bracketed(std::vector{offset, end})).append("}");
      offset = end;
    }
    header += '}';
    header.resize((header.size() + 7) / 8 * 8, ' ');  // the data section begins at a multiple of 8
    return header;
  }

  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> metadata_;  // the values are entries in JSON: "key":"value"
};

}  // namespace bahdanau
