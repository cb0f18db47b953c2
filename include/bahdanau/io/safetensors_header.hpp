// The header of a safetensors file, read event by event and refused at the first thing that the format
// forbids. It comes from a stranger: no name, number or offset in it is used before it is checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/json.hpp>
#include <bahdanau/io/tensor_info.hpp>

namespace bahdanau {

namespace detail {

/// The official limit on a header's length.
inline constexpr std::size_t max_header_bytes = 100'000'000;
/// More tensors and metadata than anybody has in one file.
inline constexpr std::size_t max_header_entries = 100'000;
inline constexpr std::string_view metadata_name = "__metadata__";

struct SafetensorsHeader {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Reads a header value by value, and throws at the first that does not fit: depth and memory stay bounded.
class HeaderReader {
 public:
  HeaderReader(std::string_view path, std::string_view json, std::size_t data_bytes)
      : path_(path),
        data_bytes_(data_bytes),
        reader_(std::string(path), json, max_depth, "a header in JSON") {}

  SafetensorsHeader read() && {
    require(JsonEvent::object, "a JSON object as header");
    while (reader_.next() == JsonEvent::key) {
      name_ = reader_.take_string();
      const bool again =
          name_ == metadata_name ? std::exchange(has_metadata_, true) : header_.tensors.contains(name_);
      if (again) fail(path_, "every name once", quote(name_) + " twice");
      count_entry();
      if (name_ == metadata_name) {
        read_metadata();
      } else {
        read_tensor();
      }
    }
    reader_.next();  // only spaces may follow
    check_coverage();
    return std::move(header_);
  }

 private:
  static constexpr unsigned max_depth = 4;  // one more than the format has: what is nested is refused by name

  std::string tensor() const { return "tensor " + quote(name_); }

  void require(JsonEvent event, std::string_view expected) {
    if (reader_.next() != event) fail(path_, expected, reader_.describe());
  }

  // A header may be a hundred megabytes of the shortest names; as entries of a map they would take many more.
  void count_entry() {
    if (++entries_ > max_header_entries)
      fail(path_, "a header of at most " + text(max_header_entries) + " names", "more");
  }

  void read_metadata() {
    require(JsonEvent::object, "__metadata__ to be an object");
    while (reader_.next() == JsonEvent::key) {
      std::string key = reader_.take_string();
      if (header_.metadata.contains(key))
        fail(path_, "every key of __metadata__ once", quote(key) + " twice");
      count_entry();
      require(JsonEvent::string, "a string for " + quote(key) + " in __metadata__");
      header_.metadata.emplace(std::move(key), reader_.take_string());
    }
  }

  void read_tensor() {
    require(JsonEvent::object, tensor() + " to be an object");
    std::optional<Dtype> dtype;
    std::optional<std::vector<std::size_t>> shape, offsets;
    while (reader_.next() == JsonEvent::key) {
      const std::string key = reader_.take_string();
      if (key == "dtype") {
        if (dtype) fail(path_, tensor() + " with one dtype", "two");
        dtype = read_dtype();
      } else if (key == "shape" || key == "data_offsets") {
        auto& numbers = key == "shape" ? shape : offsets;
        if (numbers) fail(path_, tensor() + " with one " + key, "two");
        numbers = read_numbers(key);
      } else {
        fail(path_, tensor() + " with dtype, shape and data_offsets", quote(key));
      }
    }
    if (!dtype) fail(path_, tensor() + " with a dtype", "none");
    if (!shape) fail(path_, tensor() + " with a shape", "none");
    if (!offsets || offsets->size() != 2)
      fail(path_, tensor() + " with two data_offsets", offsets ? bracketed(*offsets) : "none");
    TensorInfo info{*dtype, std::move(*shape), offsets->front(), offsets->back()};
    check_place(info);
    header_.tensors.emplace(std::move(name_), std::move(info));
  }

  Dtype read_dtype() {
    require(JsonEvent::string, tensor() + " with a string as dtype");
    for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32})
      if (reader_.view() == name(dtype)) return dtype;
    fail(path_, tensor() + " of dtype F32, F64 or I32", quote(reader_.view()));
  }

  std::vector<std::size_t> read_numbers(const std::string& key) {
    require(JsonEvent::array, tensor() + " with an array as " + key);
    std::vector<std::size_t> numbers;
    while (reader_.next() != JsonEvent::array_end) {
      if (reader_.event() != JsonEvent::natural || !std::in_range<std::size_t>(reader_.natural()))
        fail(path_, tensor() + " with whole numbers in " + key, reader_.describe());
      if (key == "shape" && numbers.size() == max_rank)
        fail(path_, tensor() + " of at most " + text(max_rank) + " dimensions", "more");
      if (key == "data_offsets" && numbers.size() == 2)
        fail(path_, tensor() + " with two data_offsets", "more");
      numbers.push_back(static_cast<std::size_t>(reader_.natural()));
    }
    return numbers;
  }

  // Throws unless the tensor lies inside the data, and its shape fills its place.
  void check_place(const TensorInfo& info) const {
    const std::string place = bracketed({info.begin, info.end});
    if (info.begin > info.end) fail(path_, tensor() + " with data_offsets in order", place);
    if (info.end > data_bytes_) {
      fail(path_, tensor() + " inside the data of " + text(data_bytes_) + " bytes", place,
           "the file may have been cut short");
    }
    const std::optional<std::size_t> count = element_count(info.shape, info.dtype);
    const std::string shape = bracketed(info.shape);
    if (!count) fail(path_, tensor() + " of a size that can be addressed", "shape " + shape);
    const std::size_t bytes = *count * size_of(info.dtype);
    if (bytes != info.end - info.begin) {
      const std::string described = " of shape " + shape + " and dtype " + std::string(name(info.dtype));
      fail(path_, tensor() + described + " in " + text(bytes) + " bytes", text(info.end - info.begin));
    }
  }

  // Throws unless the tensors cover the data without holes or overlaps.
  void check_coverage() const {
    std::vector<std::tuple<std::size_t, std::size_t, std::string_view>> ranges;
    ranges.reserve(header_.tensors.size());
    for (const auto& [name, info] : header_.tensors) ranges.emplace_back(info.begin, info.end, name);
    std::sort(ranges.begin(), ranges.end());
    std::size_t covered = 0;
    for (const auto& [begin, end, name] : ranges) {
      if (begin != covered) {
        fail(path_, "tensor " + quote(name) + " to begin at byte " + text(covered) + " of the data",
             text(begin), begin > covered ? "there is a hole" : "tensors overlap");
      }
      covered = end;
    }
    if (covered != data_bytes_) {
      fail(path_, "data of " + text(covered) + " bytes after the header", text(data_bytes_),
           "bytes at the end belong to no tensor");
    }
  }

  std::string_view path_;
  std::size_t data_bytes_;
  JsonReader reader_;
  SafetensorsHeader header_;
  std::string name_;  // of the tensor at hand
  std::size_t entries_ = 0;
  bool has_metadata_ = false;
};

/// Reads and checks a header that stands before `data_bytes` bytes of data; throws `path: expected X, got Y`.
inline SafetensorsHeader parse_safetensors_header(std::string_view path, std::string_view json,
                                                  std::size_t data_bytes) {
  if (!json.starts_with('{')) {
    fail(path, "a header that begins with {", json.empty() ? "none" : quote(json.substr(0, 1)));
  }
  return HeaderReader(path, json, data_bytes).read();
}

}  // namespace detail
}  // namespace bahdanau
