// Large headers, made to take memory: none takes much more than its own size.
// All of this program's allocations are counted, so the test knows the peak.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <malloc.h>

#include <bahdanau/io/safetensors_header.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"

namespace {

std::atomic<std::size_t> in_use = 0, peak = 0;

void* counted(std::size_t size) noexcept {
  void* place = std::malloc(size);
  if (place == nullptr) return place;
  const std::size_t now = in_use += ::malloc_usable_size(place);
  if (now > peak) peak = now;  // threads may miss one another's peaks; the tests here have but one
  return place;
}

void uncounted(void* place) noexcept {
  if (place != nullptr) in_use -= ::malloc_usable_size(place);
  std::free(place);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* place = counted(size)) return place;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* place) noexcept { uncounted(place); }
void operator delete[](void* place) noexcept { uncounted(place); }
void operator delete(void* place, std::size_t) noexcept { uncounted(place); }
void operator delete[](void* place, std::size_t) noexcept { uncounted(place); }

namespace {

constexpr std::size_t megabyte = 1'000'000;
constexpr std::size_t largest = 25 * megabyte;  // a quarter of what the format allows, to be quick
const std::string nothing = "nothing was thrown";

// `first`, as many `piece`s as fit, `last`.
std::string filled(const std::string& first, std::string_view piece, const std::string& last) {
  std::string text = first;
  text.reserve(largest);
  while (text.size() + piece.size() + last.size() <= largest) text += piece;
  return text += last;
}

struct Outcome {
  std::string message;
  std::size_t megabytes;  // beside the text itself
};

Outcome read(const std::string& header) {
  const std::size_t before = in_use;
  peak = before;
  std::string message =
      bahdanau::test::message_of([&] { bahdanau::detail::parse_safetensors_header("FILE", header, 0); });
  return {std::move(message), (peak - before) / megabyte};
}

}  // namespace

TEST_CASE("a header of one giant string takes as much again", "[safetensors][hostile][memory]") {
  SECTION("plain") {
    const auto [message, megabytes] =
        read(filled(R"({"__metadata__":{"a":")", std::string(1000, 'a'), "\"}}"));
    CHECK(message == nothing);
    CHECK(megabytes <= 26);
  }
  SECTION("all escapes") {
    std::string escapes;
    for (int i = 0; i < 250; ++i) escapes += "\\n\\\"";
    const auto [message, megabytes] = read(filled(R"({"__metadata__":{"a":")", escapes, "\"}}"));
    CHECK(message == nothing);
    CHECK(megabytes <= 26);
  }
  SECTION("a name") {
    const auto [message, megabytes] = read(filled(R"({")", std::string(1000, 'a'), "\":1}"));
    CHECK(message == "FILE: expected tensor \"" + std::string(80, 'a') + "...\" to be an object, got 1");
    CHECK(megabytes <= 26);
  }
  SECTION("never closed") {
    const auto [message, megabytes] = read(filled(R"({"\n)", std::string(1000, 'a'), ""));
    CHECK(message.starts_with("FILE: expected a header in JSON, got a syntax error at its byte "));
    CHECK(megabytes <= 26);
  }
}

TEST_CASE("a header of endless small things is refused early", "[safetensors][hostile][memory]") {
  const auto entries = [](const std::string& first, const std::string& value, std::size_t count) {
    std::string text = first;
    for (std::size_t i = 0; i < count; ++i) text += '"' + std::to_string(i) + "\":" + value + ',';
    text.back() = '}';
    return text;
  };
  const std::string tensor = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  SECTION("metadata") {
    const auto [message, megabytes] = read(entries(R"({"__metadata__":{)", R"("")", 300'000));
    CHECK(message == "FILE: expected a header of at most 100000 names, got more");
    CHECK(megabytes <= 30);
  }
  SECTION("tensors") {
    CHECK(read(entries("{", tensor, 100'000)).message == nothing);
    const auto [message, megabytes] = read(entries("{", tensor, 200'000));
    CHECK(message == "FILE: expected a header of at most 100000 names, got more");
    CHECK(megabytes <= 30);
  }
  SECTION("a shape") {
    const auto [message, megabytes] = read(filled(R"({"w":{"shape":[)", "1,1,1,1,1,1,1,1,1,1,", "1]}}"));
    CHECK(message == R"(FILE: expected tensor "w" of at most 8 dimensions, got more)");
    CHECK(megabytes <= 1);
  }
  SECTION("digits") {
    const auto [message, megabytes] = read(filled(R"({"w":{"shape":[1.)", std::string(1000, '1'), "]}}"));
    CHECK(message == "FILE: expected tensor \"w\" with whole numbers in shape, got \"1." +
                         std::string(78, '1') + "...\"");
    CHECK(megabytes <= 1);
  }
  SECTION("brackets") {
    const auto [message, megabytes] = read(filled(R"({"w":{"shape":)", "[[[[[[[[[[[[[[[[[[[[", ""));
    CHECK(message == R"(FILE: expected tensor "w" with whole numbers in shape, got an array)");
    CHECK(megabytes <= 1);
  }
  SECTION("spaces") {
    const auto [message, megabytes] = read(filled("{", std::string(1000, ' '), "}"));
    CHECK(message == nothing);
    CHECK(megabytes <= 1);
  }
}
