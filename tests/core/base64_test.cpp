#include <string>

#include <bahdanau/core/base64.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"

using namespace bahdanau::test;
using bahdanau::detail::from_base64;
using bahdanau::detail::to_base64;

TEST_CASE("base64 is that of RFC 4648, and comes back", "[base64]") {
  const char* known[][2] = {{"", ""},
                            {"f", "Zg=="},
                            {"fo", "Zm8="},
                            {"foo", "Zm9v"},
                            {"foob", "Zm9vYg=="},
                            {"fooba", "Zm9vYmE="},
                            {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : known) {
    CHECK(to_base64(plain) == encoded);
    CHECK(from_base64("test", encoded) == plain);
  }
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * i + i / 7);
  CHECK(from_base64("test", to_base64(bytes)) == bytes);
}

TEST_CASE("what is no base64 is refused", "[base64][error]") {
  const auto said = [](const std::string& text) { return message_of([&] { from_base64("key", text); }); };
  CHECK(said("Zg=") == "key: expected base64, got text of 3 characters");
  CHECK(said("Zg!=") == "key: expected base64, got another character at offset 2");
  CHECK(said("Z===") == "key: expected base64, got another character at offset 1");
  CHECK(said("Zg==Zg==") == "key: expected base64, got another character at offset 2");
  CHECK(said("Zh==") == "key: expected base64, got bits behind its end");
}
