// Files that break the rules of the format, built byte by byte, one rule broken in each.
// Every one is refused when it is opened, and the message says where and why.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <bahdanau/io/safetensors.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::Error;
using bahdanau::SafetensorsFile;
using bahdanau::test::little_endian;
using bahdanau::test::put;
using bahdanau::test::TemporaryDirectory;
using Catch::Matchers::Message;
using namespace std::string_literals;

namespace {

// A file: the header's true length, the header, and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  return little_endian(header.size()) + header + std::string(data_bytes, '\0');
}

// Opens these bytes as a file, and checks what is said after the path.
void refused(const std::string& bytes, const std::string& message) {
  TemporaryDirectory folder;
  std::filesystem::path path = folder / "hostile.safetensors";
  put(path, bytes);
  REQUIRE_THROWS_MATCHES(SafetensorsFile::open(path), Error, Message(path.string() + ": " + message));
}

}  // namespace

TEST_CASE("a file that is cut short, or is something else, is refused", "[safetensors][hostile]") {
  const std::string good = file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  SECTION("empty") { refused("", "expected a safetensors file of at least 8 bytes, got 0"); }
  SECTION("inside the length") {
    refused(good.substr(0, 7), "expected a safetensors file of at least 8 bytes, got 7");
  }
  SECTION("inside the header") {
    refused(good.substr(0, 40),
            "expected a header of at most 32 bytes, got 54; the file was cut short, or is not safetensors");
  }
  SECTION("inside the data") {
    refused(
        good.substr(0, good.size() - 1),
        R"(expected tensor "w" inside the data of 7 bytes, got [0, 8]; the file may have been cut short)");
  }
  SECTION("every shorter file") {
    TemporaryDirectory folder;
    for (std::size_t size = 0; size < good.size(); ++size) {
      put(folder / "cut", good.substr(0, size));
      CHECK_THROWS_AS(SafetensorsFile::open(folder / "cut"), Error);
    }
    put(folder / "cut", good);
    CHECK_NOTHROW(SafetensorsFile::open(folder / "cut"));
  }
  SECTION("shorter since it was opened") {
    TemporaryDirectory folder;
    put(folder / "x", good);
    SafetensorsFile file = SafetensorsFile::open(folder / "x");
    std::filesystem::resize_file(folder / "x", good.size() - 4);
    CHECK_THROWS_MATCHES(
        file.read<float>("w"), Error,
        Message((folder / "x").string() + ": expected 4 more bytes at offset 66, got the end of " +
                "the file; it has become shorter since it was opened"));
  }
  SECTION("a header longer than memory") {
    refused(
        little_endian(std::numeric_limits<std::uint64_t>::max()) + "{}",
        "expected a header of at most 2 bytes, got 18446744073709551615; the file was cut short, or is not "
        "safetensors");
  }
  SECTION("a header longer than the format allows") {
    TemporaryDirectory folder;
    put(folder / "x", little_endian(100'000'001) + "{}");
    std::filesystem::resize_file(folder / "x", 200'000'000);  // sparse: takes no room on the disk
    CHECK_THROWS_MATCHES(
        SafetensorsFile::open(folder / "x"), Error,
        Message((folder / "x").string() + ": expected a header of at most 100000000 bytes, got " +
                "100000001; the file was cut short, or is not safetensors"));
  }
}

TEST_CASE("a header that is not a JSON object is refused", "[safetensors][hostile]") {
  SECTION("no header") { refused(little_endian(0), "expected a header that begins with {, got none"); }
  SECTION("an array") { refused(file_of("[]", 0), R"(expected a header that begins with {, got "[")"); }
  SECTION("a space first") { refused(file_of(" {}", 0), R"(expected a header that begins with {, got " ")"); }
  SECTION("a byte order mark first") {
    TemporaryDirectory folder;
    put(folder / "x", file_of("\xef\xbb\xbf{}", 0));
    CHECK_THROWS_AS(SafetensorsFile::open(folder / "x"), Error);
  }
  SECTION("never closed") {
    refused(file_of("{", 0), "expected a header in JSON, got a syntax error at its byte 2");
  }
  SECTION("something after the end") {
    refused(file_of("{}{}", 0), "expected a header in JSON, got a syntax error at its byte 3");
  }
  SECTION("a zero byte, where a parser might stop") {
    refused(file_of("{}\0{}"s, 0), "expected a header in JSON, got a zero at its byte 3");
  }
  SECTION("a comment") {
    refused(file_of("{/**/}", 0), "expected a header in JSON, got a syntax error at its byte 2");
  }
  SECTION("a comma too many") {
    refused(file_of("{\"a\":{},}", 0), R"(expected tensor "a" with a dtype, got none)");
  }
  SECTION("text that is not UTF-8") {
    refused(file_of("{\"\xff\":{}}", 0), "expected a header in JSON, got a syntax error at its byte 3");
  }
  SECTION("half of a surrogate pair") {
    refused(file_of(R"({"\ud800":{}})", 0), "expected a header in JSON, got a syntax error at its byte 9");
  }
}

TEST_CASE("a name that stands twice is refused", "[safetensors][hostile]") {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  SECTION("two tensors") {
    refused(file_of(R"({"w":)" + entry + R"(,"w":)" + entry + "}", 4),
            R"(expected every name once, got "w" twice)");
  }
  SECTION("two tensors in different spellings") {
    refused(file_of(R"({"w":)" + entry + R"(,"\u0077":)" + entry + "}", 4),
            R"(expected every name once, got "w" twice)");
  }
  SECTION("two __metadata__") {
    refused(file_of(R"({"__metadata__":{},"__metadata__":{"a":"b"}})", 0),
            R"(expected every name once, got "__metadata__" twice)");
  }
  SECTION("two keys in __metadata__") {
    refused(file_of(R"({"__metadata__":{"a":"1","a":"2"}})", 0),
            R"(expected every key of __metadata__ once, got "a" twice)");
  }
  SECTION("two shapes") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,4]}})", 4),
            R"(expected tensor "w" with one shape, got two)");
  }
  SECTION("two dtypes") {
    refused(file_of(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
            R"(expected tensor "w" with one dtype, got two)");
  }
  SECTION("two data_offsets") {
    refused(file_of(R"({"w":{"dtype":"F32","data_offsets":[0,4],"shape":[1],"data_offsets":[0,4]}})", 4),
            R"(expected tensor "w" with one data_offsets, got two)");
  }
}

TEST_CASE("a value of the wrong kind is refused", "[safetensors][hostile]") {
  auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return file_of(
        R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", 4);
  };
  const std::string f32 = R"("F32")";
  SECTION("a tensor that is a number") {
    refused(file_of(R"({"w":1})", 0), R"(expected tensor "w" to be an object, got 1)");
  }
  SECTION("a tensor that is null") {
    refused(file_of(R"({"w":null})", 0), R"(expected tensor "w" to be an object, got null)");
  }
  SECTION("a tensor that is an array") {
    refused(file_of(R"({"w":[]})", 0), R"(expected tensor "w" to be an object, got an array)");
  }
  SECTION("metadata that is a string") {
    refused(file_of(R"({"__metadata__":"a"})", 0), "expected __metadata__ to be an object, got a string");
  }
  SECTION("metadata that holds a number") {
    refused(file_of(R"({"__metadata__":{"a":1}})", 0), R"(expected a string for "a" in __metadata__, got 1)");
  }
  SECTION("metadata that holds an object") {
    refused(file_of(R"({"__metadata__":{"a":{}}})", 0),
            R"(expected a string for "a" in __metadata__, got an object)");
  }
  SECTION("metadata that holds a boolean") {
    refused(file_of(R"({"__metadata__":{"a":true}})", 0),
            R"(expected a string for "a" in __metadata__, got a boolean)");
  }
  SECTION("a dtype that is a number") {
    refused(entry("32", "[1]", "[0,4]"), R"(expected tensor "w" with a string as dtype, got 32)");
  }
  SECTION("a dtype that is an array") {
    refused(entry(R"(["F32"])", "[1]", "[0,4]"),
            R"(expected tensor "w" with a string as dtype, got an array)");
  }
  SECTION("a dtype that is not read here") {
    refused(entry(R"("BF16")", "[2]", "[0,4]"),
            R"(expected tensor "w" of dtype F32, F64 or I32, got "BF16")");
  }
  SECTION("a dtype in small letters") {
    refused(entry(R"("f32")", "[1]", "[0,4]"), R"(expected tensor "w" of dtype F32, F64 or I32, got "f32")");
  }
  SECTION("a shape that is a number") {
    refused(entry(f32, "1", "[0,4]"), R"(expected tensor "w" with an array as shape, got 1)");
  }
  SECTION("a shape that is a string") {
    refused(entry(f32, R"("1")", "[0,4]"), R"(expected tensor "w" with an array as shape, got a string)");
  }
  SECTION("a shape in a shape") {
    refused(entry(f32, "[[1]]", "[0,4]"), R"(expected tensor "w" with whole numbers in shape, got an array)");
  }
  SECTION("an object in a shape") {
    refused(entry(f32, "[{}]", "[0,4]"), R"(expected tensor "w" with whole numbers in shape, got an object)");
  }
  SECTION("a negative extent") {
    refused(entry(f32, "[-1]", "[0,4]"), R"(expected tensor "w" with whole numbers in shape, got -1)");
  }
  SECTION("a negative zero") {
    refused(entry(f32, "[1]", "[-0,4]"), R"(expected tensor "w" with whole numbers in data_offsets, got 0)");
  }
  SECTION("a fraction") {
    refused(entry(f32, "[1.0]", "[0,4]"), R"(expected tensor "w" with whole numbers in shape, got "1.0")");
  }
  SECTION("a number beyond 64 bits") {
    refused(entry(f32, "[18446744073709551616]", "[0,4]"),
            R"(expected tensor "w" with whole numbers in shape, got "18446744073709551616")");
  }
  SECTION("a number beyond any type") {
    refused(entry(f32, "[1e999]", "[0,4]"), "expected a header in JSON, got a syntax error at its byte 34");
  }
  SECTION("a negative offset") {
    refused(entry(f32, "[1]", "[-4,0]"), R"(expected tensor "w" with whole numbers in data_offsets, got -4)");
  }
}

TEST_CASE("an entry that is incomplete or says more than it should is refused", "[safetensors][hostile]") {
  SECTION("no dtype") {
    refused(file_of(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4),
            R"(expected tensor "w" with a dtype, got none)");
  }
  SECTION("no shape") {
    refused(file_of(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4),
            R"(expected tensor "w" with a shape, got none)");
  }
  SECTION("no data_offsets") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":[1]}})", 4),
            R"(expected tensor "w" with two data_offsets, got none)");
  }
  SECTION("fields of the tensor before do not count") {
    refused(
        file_of(R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1]}})",
                4),
        R"(expected tensor "w" with two data_offsets, got none)");
  }
  SECTION("one data_offset") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4]}})", 4),
            R"(expected tensor "w" with two data_offsets, got [4])");
  }
  SECTION("three data_offsets") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4),
            R"(expected tensor "w" with two data_offsets, got more)");
  }
  SECTION("a field that the format does not have") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"strides":[1]}})", 4),
            R"(expected tensor "w" with dtype, shape and data_offsets, got "strides")");
  }
}

TEST_CASE("nesting is refused at the fourth level, however deep it goes", "[safetensors][hostile]") {
  SECTION("arrays") {
    refused(file_of(R"({"w":{"dtype":"F32","shape":)" + std::string(5'000'000, '['), 0),
            R"(expected tensor "w" with whole numbers in shape, got an array)");
  }
  SECTION("objects") {
    std::string deep = "{";
    for (int i = 0; i < 500'000; ++i) deep += R"("a":{)";
    refused(file_of(deep, 0), R"(expected tensor "a" with dtype, shape and data_offsets, got "a")");
  }
}

TEST_CASE("sizes and places that do not fit are refused", "[safetensors][hostile]") {
  auto tensor = [](const std::string& name, const std::string& shape, const std::string& offsets) {
    return '"' + name + R"(":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
  };
  SECTION("a shape too large for its bytes") {
    refused(file_of("{" + tensor("w", "2,3", "0,20") + "}", 20),
            R"(expected tensor "w" of shape [2, 3] and dtype F32 in 24 bytes, got 20)");
  }
  SECTION("a product that overflows to the right size") {
    refused(file_of("{" + tensor("w", "4611686018427387905,4", "0,16") + "}", 16),
            R"(expected tensor "w" of a size that can be addressed, got shape [4611686018427387905, 4])");
  }
  SECTION("bytes that overflow to the right size") {
    refused(file_of("{" + tensor("w", "4611686018427387905", "0,4") + "}", 4),
            R"(expected tensor "w" of a size that can be addressed, got shape [4611686018427387905])");
  }
  SECTION("an overflow behind a zero") {
    refused(file_of("{" + tensor("w", "0,4611686018427387905,4", "0,0") + "}", 0),
            R"(expected tensor "w" of a size that can be addressed, got shape [0, 4611686018427387905, 4])");
  }
  SECTION("too many dimensions") {
    refused(file_of("{" + tensor("w", "1,1,1,1,1,1,1,1,1", "0,4") + "}", 4),
            R"(expected tensor "w" of at most 8 dimensions, got more)");
  }
  SECTION("an end before the beginning") {
    refused(file_of("{" + tensor("w", "1", "4,0") + "}", 4),
            R"(expected tensor "w" with data_offsets in order, got [4, 0])");
  }
  SECTION("an end beyond the data") {
    refused(
        file_of("{" + tensor("w", "2", "0,8") + "}", 4),
        R"(expected tensor "w" inside the data of 4 bytes, got [0, 8]; the file may have been cut short)");
  }
  SECTION("an end beyond all addresses") {
    refused(
        file_of("{" + tensor("w", "1", "18446744073709551611,18446744073709551615") + "}", 4),
        R"(expected tensor "w" inside the data of 4 bytes, got [18446744073709551611, 18446744073709551615]; )"
        "the file may have been cut short");
  }
  SECTION("a hole before the first tensor") {
    refused(file_of("{" + tensor("w", "1", "4,8") + "}", 8),
            R"(expected tensor "w" to begin at byte 0 of the data, got 4; there is a hole)");
  }
  SECTION("a hole between tensors") {
    refused(file_of("{" + tensor("v", "1", "0,4") + "," + tensor("w", "1", "8,12") + "}", 12),
            R"(expected tensor "w" to begin at byte 4 of the data, got 8; there is a hole)");
  }
  SECTION("tensors that overlap") {
    refused(file_of("{" + tensor("v", "2", "0,8") + "," + tensor("w", "2", "4,12") + "}", 12),
            R"(expected tensor "w" to begin at byte 8 of the data, got 4; tensors overlap)");
  }
  SECTION("two names for the same bytes") {
    refused(file_of("{" + tensor("v", "1", "0,4") + "," + tensor("w", "1", "0,4") + "}", 4),
            R"(expected tensor "w" to begin at byte 4 of the data, got 0; tensors overlap)");
  }
  SECTION("bytes after the last tensor") {
    refused(file_of("{" + tensor("w", "1", "0,4") + "}", 5),
            "expected data of 4 bytes after the header, got 5; bytes at the end belong to no tensor");
  }
  SECTION("bytes without any tensor") {
    refused(file_of("{}", 1),
            "expected data of 0 bytes after the header, got 1; bytes at the end belong to no tensor");
  }
}

TEST_CASE("a name from a file cannot garble or flood the message", "[safetensors][hostile]") {
  SECTION("control characters are shown as escapes") {
    refused(file_of(R"({"\u001b[31m\n\"":1})", 0),
            R"(expected tensor "\x1b[31m\x0a\"" to be an object, got 1)");
  }
  SECTION("long names are cut between code points") {
    refused(file_of("{\"a" + std::string(79, 'b') + "é" + std::string(1'000'000, 'c') + "\":1}", 0),
            "expected tensor \"a" + std::string(79, 'b') + "...\" to be an object, got 1");
    refused(file_of("{\"" + std::string(79, 'b') + "é" + std::string(1'000'000, 'c') + "\":1}", 0),
            "expected tensor \"" + std::string(79, 'b') + "...\" to be an object, got 1");
  }
}
