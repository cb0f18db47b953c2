// The header of a safetensors file, read event by event and refused at the first thing that the format
// forbids. It comes from a stranger: no name, number or offset in it is used before it is checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/tensor_info.hpp>

namespace bahdanau {

namespace detail {

/// The official limit on a header's length.
inline constexpr std::size_t max_header_bytes = 100'000'000;
inline constexpr std::string_view metadata_name = "__metadata__";

struct SafetensorsHeader {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Receives the parser's events. Each throws at once when it does not fit, so depth and size stay bounded.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(std::string_view path, std::size_t data_bytes) : path_(path), data_bytes_(data_bytes) {}

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("a boolean"); }
  bool binary(binary_t&) override { refuse("binary"); }
  bool number_integer(number_integer_t value) override { refuse(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& digits) override { refuse(quote(digits)); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::numbers || value > std::numeric_limits<std::size_t>::max()) refuse(text(value));
    auto& numbers = key_ == "shape" ? *shape_ : *offsets_;
    if (key_ == "shape" && numbers.size() == max_rank) {
      fail(path_, tensor() + " of at most " + text(max_rank) + " dimensions", "more");
    }
    if (key_ == "data_offsets" && numbers.size() == 2)
      fail(path_, tensor() + " with two data_offsets", "more");
    numbers.push_back(static_cast<std::size_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata.emplace(key_, std::move(value));
    } else if (place_ == Place::entry && key_ == "dtype") {
      for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32}) {
        if (value == name(dtype)) dtype_ = dtype;
      }
      if (!dtype_) fail(path_, tensor() + " of dtype F32, F64 or I32", quote(value));
    } else {
      refuse("a string");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::file) {
      place_ = Place::root;
    } else if (place_ == Place::root) {
      place_ = name_ == metadata_name ? Place::metadata : Place::entry;
      dtype_.reset(), shape_.reset(), offsets_.reset();
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (place_ == Place::root) {
      bool again =
          value == metadata_name ? std::exchange(has_metadata_, true) : header_.tensors.contains(value);
      if (again) fail(path_, "every name once", quote(value) + " twice");
      name_ = std::move(value);
      return true;
    }
    key_ = std::move(value);
    if (place_ == Place::metadata) {
      if (header_.metadata.contains(key_))
        fail(path_, "every key of __metadata__ once", quote(key_) + " twice");
      return true;
    }
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      fail(path_, tensor() + " with dtype, shape and data_offsets", quote(key_));
    }
    bool again = key_ == "dtype"   ? dtype_.has_value()
                 : key_ == "shape" ? shape_.has_value()
                                   : offsets_.has_value();
    if (again) fail(path_, tensor() + " with one " + key_, "two");
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) finish_tensor();
    place_ = place_ == Place::root ? Place::file : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::entry || key_ == "dtype") refuse("an array");
    (key_ == "shape" ? shape_ : offsets_).emplace();
    place_ = Place::numbers;
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail(path_, "a header in JSON", "a syntax error at its byte " + text(position));
  }

  /// The header, once all is read; throws unless the tensors cover the data without holes or overlaps.
  SafetensorsHeader finish() && {
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
    return std::move(header_);
  }

 private:
  enum class Place { file, root, metadata, entry, numbers };

  std::string tensor() const { return "tensor " + quote(name_); }

  [[noreturn]] void refuse(std::string_view got) const {
    std::string expected = "a JSON object as header";
    if (place_ == Place::root) expected = (name_ == metadata_name ? name_ : tensor()) + " to be an object";
    if (place_ == Place::metadata) expected = "a string for " + quote(key_) + " in __metadata__";
    if (place_ == Place::entry)
      expected = tensor() + (key_ == "dtype" ? " with a string" : " with an array") + " as " + key_;
    if (place_ == Place::numbers) expected = tensor() + " with whole numbers in " + key_;
    fail(path_, expected, got);
  }

  void finish_tensor() {
    if (!dtype_) fail(path_, tensor() + " with a dtype", "none");
    if (!shape_) fail(path_, tensor() + " with a shape", "none");
    if (!offsets_ || offsets_->size() != 2) {
      fail(path_, tensor() + " with two data_offsets", offsets_ ? bracketed(*offsets_) : "none");
    }
    std::size_t begin = offsets_->front();
    std::size_t end = offsets_->back();
    if (begin > end) fail(path_, tensor() + " with data_offsets in order", bracketed(*offsets_));
    if (end > data_bytes_) {
      fail(path_, tensor() + " inside the data of " + text(data_bytes_) + " bytes", bracketed(*offsets_),
           "the file may have been cut short");
    }
    std::optional<std::size_t> count = element_count(*shape_, *dtype_);
    if (!count) fail(path_, tensor() + " of a size that can be addressed", "shape " + bracketed(*shape_));
    if (*count * size_of(*dtype_) != end - begin) {
      std::string described = " of shape " + bracketed(*shape_) + " and dtype " + std::string(name(*dtype_));
      fail(path_, tensor() + described + " in " + text(*count * size_of(*dtype_)) + " bytes",
           text(end - begin));
    }
    header_.tensors.emplace(name_, TensorInfo{*dtype_, std::move(*shape_), begin, end});
  }

  std::string_view path_;
  std::size_t data_bytes_;
  SafetensorsHeader header_;
  Place place_ = Place::file;
  std::string name_;  // of the tensor at hand
  std::string key_;   // of the field at hand
  bool has_metadata_ = false;
  std::optional<Dtype> dtype_;
  std::optional<std::vector<std::size_t>> shape_, offsets_;
};

/// Reads and checks a header that stands before `data_bytes` bytes of data; throws `path: expected X, got Y`.
/// A template, so that who never opens a file does not pay for compiling the parser.
template <class Json = nlohmann::json>
SafetensorsHeader parse_safetensors_header(std::string_view path, std::string_view json,
                                           std::size_t data_bytes) {
  if (!json.starts_with('{')) {
    fail(path, "a header that begins with {", json.empty() ? "none" : quote(json.substr(0, 1)));
  }
  // The parser takes a zero byte for the end of its input, and would ignore what follows.
  if (auto zero = json.find('\0'); zero != json.npos) {
    fail(path, "a header in JSON", "a zero at its byte " + text(zero + 1));
  }
  HeaderReader reader(path, data_bytes);
  Json::sax_parse(json.begin(), json.end(), &reader);
  return std::move(reader).finish();
}

}  // namespace detail
}  // namespace bahdanau
