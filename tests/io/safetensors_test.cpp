// The container format: what is written is read back, and what could not be is refused.
// Files against the rules are in safetensors_hostile_test.cpp.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include <bahdanau/io/safetensors.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::Dtype;
using bahdanau::Error;
using bahdanau::SafetensorsFile;
using bahdanau::SafetensorsWriter;
using bahdanau::test::contents;
using bahdanau::test::little_endian;
using bahdanau::test::put;
using bahdanau::test::TemporaryDirectory;
using Catch::Matchers::Message;
using namespace std::string_literals;

TEST_CASE("tensors and strings come back as they were written", "[safetensors]") {
  TemporaryDirectory folder;
  std::vector<float> floats = {1.5F, -2.0F, 0.0F, 1e-40F, std::numeric_limits<float>::infinity(), 3.25F};
  std::vector<double> doubles = {3.141592653589793, -1e300};
  std::vector<std::int32_t> integers = {-1, 0, 2147483647};
  SafetensorsWriter writer;
  writer.add("weight", {2, 3}, floats);
  writer.add("double", {2}, doubles);
  writer.add("ids", {3, 1}, integers);
  writer.add("empty", {0, 5}, std::vector<float>{});
  writer.add("scalar", {}, std::vector<float>{7.0F});
  writer.metadata("format", "\"bahdanau/1\"");
  writer.metadata("été \"\n", "我们\t\\");
  writer.write(folder / "model.safetensors");

  SafetensorsFile file = SafetensorsFile::open(folder / "model.safetensors");
  CHECK(file.path() == folder / "model.safetensors");
  CHECK(file.tensors().size() == 5);
  CHECK(file.contains("weight"));
  CHECK_FALSE(file.contains("__metadata__"));
  CHECK(file.tensors().at("weight").dtype == Dtype::f32);
  CHECK(file.tensors().at("weight").shape == std::vector<std::size_t>{2, 3});
  CHECK(file.tensors().at("empty").shape == std::vector<std::size_t>{0, 5});
  CHECK(file.tensors().at("scalar").shape.empty());
  CHECK(file.read<float>("weight") == floats);
  CHECK(file.read<double>("double") == doubles);
  CHECK(file.read<std::int32_t>("ids") == integers);
  CHECK(file.read<float>("empty").empty());
  CHECK(file.read<float>("scalar") == std::vector<float>{7.0F});
  CHECK(file.metadata().size() == 2);
  CHECK(file.metadata().at("format") == "\"bahdanau/1\"");
  CHECK(file.metadata().at("été \"\n") == "我们\t\\");
}

TEST_CASE("the bytes of a file are those of the format", "[safetensors]") {
  TemporaryDirectory folder;
  SafetensorsWriter writer;
  writer.add("b", {1}, std::vector<float>{1.0F});
  writer.add("a", {1}, std::vector<float>{2.0F});
  writer.add("wide", {1}, std::vector<double>{1.0});
  writer.metadata("k", "v");
  writer.write(folder / "x");
  std::string header =
      R"({"__metadata__":{"k":"v"},"wide":{"dtype":"F64","shape":[1],"data_offsets":[0, 8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8, 12]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12, 16]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  CHECK(contents(folder / "x") ==
        little_endian(header.size()) + header + "\0\0\0\0\0\0\xf0\x3f"s + "\0\0\0\x40"s + "\0\0\x80\x3f"s);
}

TEST_CASE("a file without tensors is a file", "[safetensors]") {
  TemporaryDirectory folder;
  SafetensorsWriter().write(folder / "empty");
  SafetensorsFile file = SafetensorsFile::open(folder / "empty");
  CHECK(file.tensors().empty());
  CHECK(file.metadata().empty());
}

TEST_CASE("a header as other programs write it is understood", "[safetensors]") {
  TemporaryDirectory folder;
  std::string header =
      "{ \"__metadata__\" : {}, \"b\\u00e9\" : {\"shape\":[ ],\"data_offsets\":[4,8],\"dtype\":\"I32\"},\n"
      "\"a\":{\"data_offsets\":[0,4],\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1]}}  \n ";
  put(folder / "x", little_endian(header.size()) + header + "\0\0\x80\x3f"s + "\xff\xff\xff\xff"s);
  SafetensorsFile file = SafetensorsFile::open(folder / "x");
  CHECK(file.read<float>("a") == std::vector<float>{1.0F});
  CHECK(file.read<std::int32_t>("bé") == std::vector<std::int32_t>{-1});
}

TEST_CASE("float and double files are read as either", "[safetensors]") {
  TemporaryDirectory folder;
  SafetensorsWriter writer;
  writer.add("f", {2}, std::vector<float>{0.1F, -3.0F});
  writer.add("d", {3}, std::vector<double>{0.1, -3.0, std::numeric_limits<double>::infinity()});
  writer.add("nan", {1}, std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  writer.add("far", {2}, std::vector<double>{1.0, -1e39});
  writer.write(folder / "x");
  SafetensorsFile file = SafetensorsFile::open(folder / "x");
  CHECK(file.read<double>("f") == std::vector<double>{static_cast<double>(0.1F), -3.0});
  CHECK(file.read<float>("d") == std::vector<float>{0.1F, -3.0F, std::numeric_limits<float>::infinity()});
  CHECK(std::isnan(file.read<float>("nan").at(0)));
  CHECK_THROWS_MATCHES(
      file.read<float>("far"), Error,
      Message((folder / "x").string() + R"(: expected tensor "far" within the range of float, )" + "got " +
              "-1e+39 at 1; read it as double"));
}

TEST_CASE("a tensor that is not there, or not of that kind, is refused", "[safetensors][error]") {
  TemporaryDirectory folder;
  SafetensorsWriter writer;
  writer.add("w", {1}, std::vector<float>{1.0F});
  writer.add("ids", {1}, std::vector<std::int32_t>{1});
  writer.write(folder / "x");
  SafetensorsFile file = SafetensorsFile::open(folder / "x");
  std::string path = (folder / "x").string();
  CHECK_THROWS_MATCHES(file.read<float>("v"), Error,
                       Message(path + R"(: expected a tensor "v", got none of that name)"));
  CHECK_THROWS_MATCHES(file.read<std::int32_t>("w"), Error,
                       Message(path + R"(: expected tensor "w" of dtype I32, got F32)"));
  CHECK_THROWS_MATCHES(file.read<double>("ids"), Error,
                       Message(path + R"(: expected tensor "ids" of dtype F32 or F64, got I32)"));
}

TEST_CASE("an opened file is read by many threads, and stays the one that was opened", "[safetensors]") {
  TemporaryDirectory folder;
  std::vector<float> values(10000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  SafetensorsWriter writer;
  writer.add("w", {100, 100}, values);
  writer.write(folder / "x");
  const SafetensorsFile file = SafetensorsFile::open(folder / "x");
  SafetensorsWriter().write(folder / "x");  // another file takes the name
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&file, &result] { result = file.read<float>("w"); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == values);
}

TEST_CASE("a path that leads to no regular file is refused with the reason", "[safetensors][error]") {
  TemporaryDirectory folder;
  auto refuses = [](const std::filesystem::path& path, const std::string& message) {
    REQUIRE_THROWS_MATCHES(SafetensorsFile::open(path), Error,
                           Message(path.string() + ": expected " + message));
  };
  SECTION("nothing there") {
    refuses(folder / "missing", R"(a file that can be opened, got "No such file or directory")");
  }
  SECTION("a directory") { refuses(folder.path(), "a regular file, got a directory"); }
  SECTION("a device") { refuses("/dev/zero", "a regular file, got a device"); }
  SECTION("a pipe, without waiting for a writer") {
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    refuses(folder / "pipe", "a regular file, got a pipe");
  }
}

TEST_CASE("the writer refuses what it could not read back", "[safetensors][error]") {
  SafetensorsWriter writer;
  std::vector<float> six(6);
  writer.add("w", {2, 3}, six);
  writer.metadata("k", "v");
  auto refuses = [&](auto&& act, const std::string& message) {
    REQUIRE_THROWS_MATCHES(act(), Error, Message("SafetensorsWriter: expected " + message));
  };
  SECTION("a shape of another size") {
    refuses(
        [&] {
          writer.add("v", {2, 2}, six);
        },
        R"(tensor "v" with as many values as shape [2, 2] holds, got 6)");
  }
  SECTION("a shape that overflows") {
    refuses(
        [&] {
          writer.add("v", {std::size_t{1} << 63U, 2}, six);
        },
        R"(tensor "v" with as many values as shape [9223372036854775808, 2] holds, got 6)");
  }
  SECTION("too many dimensions") {
    refuses(
        [&] {
          writer.add("v", {1, 1, 1, 1, 1, 1, 1, 2, 3}, six);
        },
        R"(tensor "v" of at most 8 dimensions, got 9)");
  }
  SECTION("a name again") {
    refuses([&] { writer.add("w", {6}, six); }, R"(a tensor name that is free, got "w")");
  }
  SECTION("the name of the metadata") {
    refuses([&] { writer.add("__metadata__", {6}, six); },
            R"(a tensor name that is free, got "__metadata__")");
  }
  SECTION("a name that is not UTF-8") {
    refuses([&] { writer.add("caf\xe9", {6}, six); }, "a tensor name in UTF-8, got bytes that are not");
  }
  SECTION("a metadata key again") {
    refuses([&] { writer.metadata("k", "w"); }, R"(every metadata key once, got "k" again)");
  }
  SECTION("metadata that is not UTF-8") {
    refuses([&] { writer.metadata("x", "caf\xe9"); }, R"(metadata "x" in UTF-8, got bytes that are not)");
    refuses([&] { writer.metadata("caf\xe9", "x"); }, "a metadata key in UTF-8, got bytes that are not");
  }
  // Whatever was refused left no trace.
  TemporaryDirectory folder;
  writer.write(folder / "x");
  SafetensorsFile file = SafetensorsFile::open(folder / "x");
  CHECK(file.tensors().size() == 1);
  CHECK(file.metadata().at("k") == "v");
}
