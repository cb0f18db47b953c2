// bahdanau serve from outside: over a socket, by clients who mean well and by others.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "cli/serving.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// Keeps this thread, and the processes that it starts, on one core.
class OneCore {
 public:
  OneCore() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &before_)) CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_{};
};

/// 16 clients at once, 25 requests each; how many answers were wrong.
int ask_in_parallel(const ServerProcess& server) {
  const std::vector<std::pair<std::string, std::string>> known{
      {"Go.", "va !"}, {"Run.", "cours !"}, {"I see him.", "je le vois ."}, {"He goes.", "il va ."}};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 16; ++c)
    clients.emplace_back([&, c] {
      for (std::size_t i = 0; i < 25; ++i) {
        const auto& [from, to] = known[(c + i) % known.size()];
        json body{{"source", from}};
        if (c % 3 == 0) body["beam"] = 3;
        const HttpAnswer answer = server.translate(body.dump());
        if (answer.status != 200 || json::parse(answer.body)["results"][0]["translations"][0]["text"] != to)
          ++wrong;
      }
    });
  for (std::thread& client : clients) client.join();
  return wrong;
}

/// The addresses on which this machine listens at a port, as the kernel writes them.
std::vector<std::string> listening(int port) {
  std::vector<std::string> found;
  char hex[8];
  std::snprintf(hex, sizeof hex, ":%04X", static_cast<unsigned>(port));
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"})
    for (const std::string& line : lines_in(std::filesystem::exists(table) ? contents(table) : "")) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      words >> number >> local >> remote >> state;
      if (state == "0A" && local.ends_with(hex)) found.push_back(local.substr(0, local.find(':')));
    }
  return found;
}
std::string as_kernel_writes(std::uint32_t address) {
  char hex[16];
  std::snprintf(hex, sizeof hex, "%08X", static_cast<unsigned>(htonl(address)));
  return hex;
}

}  // namespace

TEST_CASE("a server answers with the bits of translate", "[cli][serve]") {
  if (!serves()) return;
  ServerProcess server(with());
  REQUIRE(server.port() > 0);
  const HttpAnswer answer = server.translate(source("I see him."));
  REQUIRE(answer.status == 200);
  CHECK_THAT(answer.head, ContainsSubstring("application/json"));
  const json got = json::parse(answer.body)["results"][0]["translations"][0];
  const json expected = json::parse(with_model("translate", "--json", "I see him.\n").out);
  CHECK(got == expected);
  CHECK(got["text"] == "je le vois .");

  const json several = json::parse(
      server.translate(R"({"sources": ["Go.", "He runs."], "beam": 4, "nbest": 2, "attention": false})")
          .body);
  REQUIRE(several["results"].size() == 2);
  REQUIRE(several["results"][1]["translations"].size() == 2);
  const auto ranked = json_lines(with_model("translate", "--json --beam 4 --nbest 2", "Go.\nHe runs.\n").out);
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t r = 0; r < 2; ++r) {
      const json& one = several["results"][s]["translations"][r];
      CHECK(one["text"] == ranked[2 * s + r]["text"]);
      CHECK(one["score"] == ranked[2 * s + r]["score"]);
      CHECK_FALSE(one.contains("attention"));
    }

  const json forced = json::parse(server.translate(R"({"source": "I see him.", "prefix": "il"})").body);
  CHECK(forced["results"][0]["translations"][0]["target"][0] == "il");

  const json health = json::parse(server.ask("GET", "/health").body);
  CHECK(health["status"] == "ok");
  CHECK(health["model"]["cell"] == "gru");
  CHECK(health["served"] == 4);
  CHECK(health["batches"].get<int>() <= 4);
  CHECK(server.stop(SIGTERM) == 0);
  CHECK_THAT(server.log_text(), ContainsSubstring("served 4 sentences"));
}

TEST_CASE("a bad request gets 4xx and a sentence that names what is wrong", "[cli][serve][error]") {
  if (!serves()) return;
  ServerProcess server(
      with({"--max-body", "2000", "--max-source", "20", "--max-beam", "4", "--max-sentences", "3"}));
  REQUIRE(server.port() > 0);
  const auto refused = [&](const std::string& body, const std::string& sentence) {
    CAPTURE(body);
    const HttpAnswer answer = server.translate(body);
    CHECK(answer.status == 400);
    REQUIRE(json::accept(answer.body));
    const json problem = json::parse(answer.body);
    REQUIRE(problem.contains("error"));
    CHECK_THAT(problem["error"].get<std::string>(), ContainsSubstring(sentence));
  };
  refused("", "body: expected JSON");
  refused("{", "body: expected JSON");
  refused("[1]", "body: expected an object");
  refused("{}", R"(expected one of "source" and "sources", got neither)");
  refused(R"({"source": "Go.", "sources": ["Go."]})", "got both");
  refused(R"({"source": 7})", "source: expected a string, got 7");
  refused(R"({"sources": []})", "sources: expected at least one sentence");
  refused(R"({"sources": ["Go.", 1]})", "sources[1]: expected a string, got 1");
  refused(R"({"sources": ["a","b","c","d"]})", "sources: expected at most 3");
  refused(R"({"source": "  "})", "source: expected a sentence, got an empty one");
  refused(R"({"source": "Go.", "baem": 2})", R"(expected known keys, got "baem")");
  refused(R"({"source": "Go.", "beam": 5})", "beam: expected a whole number from 1 to 4, got 5");
  refused(R"({"source": "Go.", "beam": -1})", "beam: expected a whole number from 1 to 4, got -1");
  refused(R"({"source": "Go.", "beam": 1.5})", "beam: expected a whole number");
  refused(R"({"source": "Go.", "beam": 1e99})", "beam: expected a whole number");
  refused(R"({"source": "Go.", "beam": 2, "nbest": 3})", "nbest: expected at most beam, 2, got 3");
  refused(R"({"source": "Go.", "length_power": "x"})", "length_power: expected a number");
  refused(R"({"source": "Go.", "forbidden": ["zzz"]})", "forbidden");
  refused(R"({"source": "Go.", "prefix": "zzz"})", "prefix");
  refused(R"({"source": "a a a a a a a a a a a a a a a a a a a a a"})", "at most 20 tokens");
  refused("{\"source\": \"\xff\xfe\"}", "body: expected JSON");
  refused(std::string(500, '['), "body");
  refused(R"({"source": "Go.", "beam": 1e400})", "body: expected numbers that a double can hold");
  refused(R"({"source": "Go.", "length_power": 1e400})", "body: expected numbers that a double can hold");

  CHECK(server.translate(source(std::string(3000, 'a'))).status == 413);
  const HttpAnswer nowhere = server.ask("GET", "/nowhere<script>");
  CHECK(nowhere.status == 404);
  CHECK_THAT(json::parse(nowhere.body)["error"].get<std::string>(), ContainsSubstring("POST /translate"));
  CHECK(server.ask("DELETE", "/translate").status == 404);
  const HttpAnswer far = server.ask("GET", "/" + std::string(10000, 'a'));
  CHECK(far.status == 414);
  CHECK(json::parse(far.body).contains("error"));
  // It is still there.
  CHECK(json::parse(server.translate(source("Go.")).body)["results"][0]["translations"][0]["text"] == "va !");
}

TEST_CASE("many clients at once get their own answers", "[cli][serve][threads]") {
  if (!serves()) return;
  const OneCore one_core;  // so that clients wait for one another, whatever the machine
  for (const bool together : {true, false}) {
    ServerProcess server(with({"--batch", together ? "64" : "1"}));
    REQUIRE(server.port() > 0);
    CHECK(ask_in_parallel(server) == 0);
    const json health = json::parse(server.ask("GET", "/health").body);
    CHECK(health["served"] == 400);
    // Several sentences per batch on average, where that is allowed.
    if (together)
      CHECK(health["batches"].get<int>() < 300);
    else
      CHECK(health["batches"] == 400);
  }
}

TEST_CASE("other machines do not reach a server unless --host says so", "[cli][serve]") {
  if (!serves()) return;
  ServerProcess own(with());
  REQUIRE(own.port() > 0);
  CHECK(listening(own.port()) == std::vector{as_kernel_writes(INADDR_LOOPBACK)});
  ServerProcess any(with({"--host", "0.0.0.0"}));
  REQUIRE(any.port() > 0);
  CHECK(listening(any.port()) == std::vector{as_kernel_writes(INADDR_ANY)});
}

TEST_CASE("a server has a page, and what the page asks for", "[cli][serve][explain]") {
  if (!serves()) return;
  ServerProcess server(with({"--max-beam", "7"}));
  REQUIRE(server.port() > 0);
  const HttpAnswer page = server.ask("GET", "/");
  CHECK(page.status == 200);
  CHECK_THAT(page.head, ContainsSubstring("text/html; charset=utf-8"));
  CHECK_THAT(page.head, ContainsSubstring("nosniff"));
  CHECK_THAT(page.body, ContainsSubstring("default-src 'none'"));
  CHECK_THAT(page.body, ContainsSubstring(R"("live":{"beam":7,"pieces":false})"));

  const HttpAnswer answer =
      server.ask("POST", "/explain", R"({"sources": ["I see him.", "Go."], "beam": 3, "nbest": 2})");
  REQUIRE(answer.status == 200);
  const json sentences = json::parse(answer.body)["sentences"];
  REQUIRE(sentences.size() == 2);
  CHECK(sentences[0]["source"] == std::vector<std::string>{"i", "see", "him", ".", "<eos>"});
  REQUIRE(sentences[0]["nbest"].size() == 2);
  const json& best = sentences[0]["nbest"][0];
  CHECK(best["text"] == "je le vois .");
  CHECK(best["keys"] == 5);
  CHECK(best["attention"].get<std::string>().size() == 2 * 5 * 5);  // two digits per weight
  CHECK(best["runners_up"].size() == 5);
  CHECK_FALSE(best["runners_up"][0].empty());
  CHECK(sentences[0]["history"].size() >= 5);
  CHECK(sentences[1]["nbest"][0]["text"] == "va !");
  CHECK(server.ask("POST", "/explain", R"({"source": "Go.", "beam": 8})").status == 400);
}

TEST_CASE("a batch takes no more memory than --max-memory", "[cli][serve]") {
  if (!serves()) return;
  std::string source_of_many;
  for (int i = 0; i < 200; ++i) source_of_many += "go ";
  const std::string large = json{{"source", source_of_many}, {"beam", 16}, {"nbest", 16}}.dump();
  ServerProcess narrow(with({"--max-memory", "2"}));
  REQUIRE(narrow.port() > 0);
  const HttpAnswer refused = narrow.translate(large);
  CHECK(refused.status == 400);
  CHECK_THAT(json::parse(refused.body)["error"].get<std::string>(), ContainsSubstring("bytes"));
  CHECK(narrow.translate(source("Go.")).status == 200);
  ServerProcess wide(with());
  REQUIRE(wide.port() > 0);
  CHECK(wide.translate(large).status == 200);
}

TEST_CASE("beyond the queue and beyond the deadline a request is refused, and others are not",
          "[cli][serve]") {
  if (!serves()) return;
  ServerProcess server(with({"--queue", "1", "--batch", "1"}));
  REQUIRE(server.port() > 0);
  const HttpAnswer full =
      server.translate(json{{"sources", std::vector<std::string>(60, "I see him .")}, {"beam", 16}}.dump());
  CHECK(full.status == 503);
  CHECK_THAT(full.head, ContainsSubstring("Retry-After"));
  CHECK_THAT(full.body, ContainsSubstring("too many requests wait"));
  // What was accepted of it is worked off first.
  HttpAnswer after;
  for (int i = 0; i < 100 && after.status != 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    after = server.translate(source("Go."));
  }
  CHECK(after.status == 200);

  ServerProcess hasty(with({"--deadline", "0.000001"}));
  REQUIRE(hasty.port() > 0);
  const HttpAnswer late = hasty.translate(source("Go."));
  CHECK(late.status == 503);
  CHECK_THAT(late.body, ContainsSubstring("took longer than it may"));
}

TEST_CASE("SIGTERM and Ctrl-C finish what is under way", "[cli][serve][signal]") {
  if (!serves()) return;
  for (const int number : {SIGTERM, SIGINT}) {
    ServerProcess server(with());
    REQUIRE(server.port() > 0);
    HttpAnswer answer;
    // Half of a request is there when the signal comes; the rest follows.
    const std::string body = source("I see him.");
    const Connection connection(server.port());
    REQUIRE(connection.open());
    connection.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body.substr(0, 5));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server.signal(number);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    connection.send(body.substr(5));
    answer = connection.receive();
    CHECK(answer.status == 200);
    CHECK_THAT(answer.body, ContainsSubstring("je le vois ."));
    CHECK(server.wait() == 0);
    CHECK_FALSE(Connection(server.port()).open());
  }
}

TEST_CASE("clients who send nothing, or nonsense, hold nobody up", "[cli][serve][hostile]") {
  if (!serves()) return;
  ServerProcess server(with({"--connections", "8"}));
  REQUIRE(server.port() > 0);
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 6; ++i) silent.push_back(std::make_unique<Connection>(server.port()));
  silent[0]->send("GET / HT");
  silent[1]->send(std::string("\0\1\2\3", 4));
  CHECK(server.translate(source("Go.")).status == 200);
  const std::vector<std::pair<std::string, int>> nonsensical{
      {"\r\n\r\n", 400},
      {"GET\r\n\r\n", 400},
      {"POST /translate HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 413},
      {"POST /translate HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nx", 413}};
  for (const auto& [nonsense, status] : nonsensical) {
    CAPTURE(nonsense);
    const Connection connection(server.port());
    connection.send(nonsense);
    const HttpAnswer answer = connection.receive();
    CHECK(answer.status == status);
    REQUIRE(json::accept(answer.body));
    CHECK(json::parse(answer.body).contains("error"));
  }
  CHECK(server.translate(source("Go.")).status == 200);
  CHECK(server.stop(SIGTERM) == 0);
}

TEST_CASE("more silent clients than there are connections lose theirs, and others get in",
          "[cli][serve][hostile]") {
  if (!serves()) return;
  ServerProcess server(with({"--connections", "2"}));
  REQUIRE(server.port() > 0);
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(std::make_unique<Connection>(server.port()));
  const auto start = std::chrono::steady_clock::now();
  CHECK(server.translate(source("Go.")).status == 200);
  // Five seconds for the first two, and as many for the third.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  for (const auto& connection : silent) CHECK(connection->receive().status == 0);  // closed
}

TEST_CASE("a body that does not come within the deadline is no longer waited for", "[cli][serve][hostile]") {
  if (!serves()) return;
  ServerProcess server(with({"--deadline", "0.1"}));
  REQUIRE(server.port() > 0);
  const Connection connection(server.port());
  connection.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  for (int i = 0; i < 12; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    connection.send(" ");
  }
  const HttpAnswer answer = connection.receive();
  CHECK(answer.status == 408);
  CHECK_THAT(answer.body, ContainsSubstring("within the deadline"));
}

TEST_CASE("what a client can make large is bounded, however it is sent", "[cli][serve][hostile]") {
  if (!serves()) return;
  ServerProcess server(with({"--max-body", "20000", "--max-target", "50"}));
  REQUIRE(server.port() > 0);
  const auto sent = [&](const std::string& head, const std::string& body) {
    const Connection connection(server.port());
    connection.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + head + "\r\n" +
                    body);
    return connection.receive();
  };
  const auto chunk = [](const std::string& bytes) {
    std::ostringstream size;
    size << std::hex << bytes.size();
    return size.str() + "\r\n" + bytes + "\r\n";
  };
  const std::string half = R"({"source":"Go.")";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(sent(chunked, chunk(half) + chunk("}") + chunk("")).status == 200);
  CHECK(sent(chunked, chunk(half + std::string(30000, ' ')) + chunk("}") + chunk("")).status == 413);
  // As curl sends it unless told otherwise.
  const std::string form = half + std::string(9000, ' ') + "}";
  CHECK(sent("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
                 std::to_string(form.size()) + "\r\n",
             form)
            .status == 200);
  CHECK(sent("Content-Length: 5\r\nContent-Length: 15\r\n", half + "}").status == 400);
  CHECK(sent("Content-Length: 16\r\n" + chunked, half + "}").status == 400);
  CHECK(sent("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 3\r\n", "--x").status == 415);

  const HttpAnswer part = sent("Range: bytes=0-9,0-9\r\nContent-Length: 16\r\n", half + "}");
  CHECK(part.status == 200);
  CHECK(json::accept(part.body));

  std::string words;
  for (int i = 0; i < 60; ++i) words += "va ";
  const HttpAnswer prefix = server.translate(json{{"source", "Go."}, {"prefix", words}}.dump());
  CHECK(prefix.status == 400);
  CHECK_THAT(prefix.body, ContainsSubstring("prefix: expected fewer than 50 tokens, got 60"));
  words.clear();
  for (int i = 0; i < 300; ++i) words += "va ";
  CHECK(server.translate(json{{"source", "Go."}, {"forbidden", {words}}}.dump()).status == 400);
}

TEST_CASE("an answer that may get too long is refused before any work", "[cli][serve][hostile]") {
  if (!serves()) return;
  ServerProcess server(with());
  REQUIRE(server.port() > 0);
  std::string source;
  for (int i = 0; i < 200; ++i) source += "go ";
  json request{
      {"sources", std::vector<std::string>(64, source)}, {"beam", 16}, {"nbest", 16}, {"max_length", 500}};
  const std::size_t before = server.resident();
  const HttpAnswer answer = server.translate(request.dump());
  CHECK(answer.status == 400);
  CHECK_THAT(answer.body, ContainsSubstring("whose answer has at most 67108864 bytes"));
  CHECK(server.resident() < before + 50'000);  // kilobytes
}

TEST_CASE("a client that never ends its request does not keep a server from ending", "[cli][serve][signal]") {
  if (!serves()) return;
  ServerProcess server(with({"--deadline", "1"}));
  REQUIRE(server.port() > 0);
  std::atomic<bool> over{false};
  std::thread slow([&] {
    const Connection connection(server.port());
    connection.send("GET /health HTTP/1.1\r\nA: ");
    while (!over) {
      connection.send("a");
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const auto start = std::chrono::steady_clock::now();
  CHECK(server.stop(SIGTERM) == 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  over = true;
  slow.join();
  CHECK_THAT(server.log_text(), ContainsSubstring("some clients never ended their requests"));
}

TEST_CASE("a server that cannot be one says why", "[cli][serve][error]") {
  if (!serves()) return;
  const Run missing = run_tool("serve --model /nowhere/m");
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, ContainsSubstring("/nowhere/m"));
  ServerProcess first(with());
  REQUIRE(first.port() > 0);
  const Run taken = with_model("serve", "--port " + std::to_string(first.port()));
  CHECK(taken.code == 1);
  CHECK_THAT(taken.err, ContainsSubstring("--port takes another"));
  CHECK(with_model("serve", "--port 70000").code == 2);
}
