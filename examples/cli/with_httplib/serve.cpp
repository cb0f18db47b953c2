// bahdanau serve: HTTP in front of one frozen model.
// The transport is cpp-httplib's; what a request may be is in requests.cpp, and who waits for whom in
// request_queue.hpp.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <httplib.h>
#include <sys/socket.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/decode/batch_queue.hpp>
#include <bahdanau/decode/options.hpp>

#include "../any_model.hpp"
#include "../commands.hpp"
#include "../interrupt.hpp"
#include "../live_page.hpp"
#include "../request_queue.hpp"
#include "../requests.hpp"

namespace cli {
namespace {

constexpr const char* json_type = "application/json";

void answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, json_type);
}

/// What went wrong with a request, as its client reads it.
void answer_problem(httplib::Response& response, const std::exception_ptr& problem) {
  constexpr int bad_request = 400, failed = 500, unavailable = 503;
  try {
    std::rethrow_exception(problem);
  } catch (const BadRequest& e) {
    answer(response, bad_request, problem_text(e.what()));
  } catch (const bd::QueueFull&) {
    response.set_header("Retry-After", "1");
    answer(response, unavailable, problem_text("too many requests wait; try again later"));
  } catch (const bd::LimitError& e) {
    const std::string message = e.what();
    const bool late = message.ends_with("Limits.deadline");
    if (late) response.set_header("Retry-After", "1");
    answer(response, late ? unavailable : bad_request,
           problem_text(late ? "the request took longer than it may; ask for less, or later"
                             : message.substr(0, message.rfind("; see Limits"))));
  } catch (const bd::Error& e) {
    answer(response, bad_request, problem_text(e.what()));
  } catch (const std::bad_alloc&) {
    response.set_header("Retry-After", "1");
    answer(response, unavailable, problem_text("out of memory; ask for less, or later"));
  } catch (const std::exception& e) {
    std::cerr << "bahdanau: a request failed: " << e.what() << '\n';
    answer(response, failed, problem_text("the server failed; its log says why"));
  }
}

/// A request's body, read within its deadline; without one, the response says why. Read here, as httplib does
/// not bound bodies in chunks, and those that curl sends unless told otherwise bounds by 8 KB.
std::optional<std::string> body_of(const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& reader, const ServeOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr int bad_request = 400, late = 408, too_long = 413, other_kind = 415;
  if (request.is_multipart_form_data()) {
    response.set_header("Connection", "close");
    answer(response, other_kind, problem_text("expected JSON, got a form in parts"));
    return std::nullopt;
  }
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * options.deadline) + 1000);
  std::string body;
  int status = 0;
  const bool whole = reader([&](const char* bytes, std::size_t count) {
    if (body.size() + count > options.max_body) status = too_long;
    if (Clock::now() > deadline) status = late;
    if (status == 0) body.append(bytes, count);
    return status == 0;
  });
  if (whole && status == 0) return body;
  response.set_header("Connection", "close");
  if (status == 0) status = response.status == too_long ? too_long : bad_request;
  answer(response, status,
         problem_text(status == too_long ? "expected a body of at most " +
                                               bd::detail::text(options.max_body) + " bytes, got a longer one"
                      : status == late ? "expected a body within the deadline, got a part of it"
                                       : "expected a whole body, got a part of it"));
  return std::nullopt;
}

/// What httplib itself refuses has no body; it gets a sentence, too.
void explain(const httplib::Request& request, httplib::Response& response, const ServeOptions& options) {
  if (!response.body.empty()) return;
  const auto text = [](std::size_t n) { return bd::detail::text(n); };
  switch (response.status) {
    case 404:
      return response.set_content(
          problem_text("there is POST /translate, POST /explain, GET /health and GET /; there is no " +
                       request.method + " " + bd::detail::quote(request.path.substr(0, 100))),
          json_type);
    case 413:
      return response.set_content(
          problem_text("expected a body of at most " + text(options.max_body) + " bytes, got a longer one"),
          json_type);
    default:
      return response.set_content(problem_text("expected a request in HTTP/1.1, got something else (status " +
                                               text(static_cast<std::size_t>(response.status)) + ")"),
                                  json_type);
  }
}

}  // namespace

void serve(const ServeOptions& options) {
  const auto model = load_models(options.model);
  const RequestBounds bounds{options.max_sentences, options.max_source, options.max_target, options.max_beam};
  RequestQueue queue(*model, options);

  httplib::Server server;
  server.new_task_queue = [&] { return new httplib::ThreadPool(options.connections); };
  server.set_payload_max_length(options.max_body);
  server.set_read_timeout(5);  // seconds; who sends nothing holds a connection no longer
  server.set_write_timeout(5);
  server.set_keep_alive_timeout(5);
  server.set_keep_alive_max_count(1 << 20);
  server.set_tcp_nodelay(true);
  server.set_default_headers({{"X-Content-Type-Options", "nosniff"}});
  // Not with SO_REUSEPORT, httplib's default: two servers on one port would take turns.
  socket_t listening = INVALID_SOCKET;
  server.set_socket_options([&](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    listening = socket;
  });
  const auto translated = [&](const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& reader, bool explained) {
    try {
      const std::optional<std::string> body = body_of(request, response, reader, options);
      if (!body) return;
      TranslateRequest asked = read_translate_request(*body, *model, bounds);
      asked.explained = explained;
      auto results = queue.translate(asked);
      answer(response, 200,
             explained ? explained_text(std::move(results)) : answer_text(results, asked.attention));
    } catch (...) {
      answer_problem(response, std::current_exception());
    }
  };
  for (const bool explained : {false, true})
    server.Post(explained ? "/explain" : "/translate",
                [&, explained](const httplib::Request& request, httplib::Response& response,
                               const httplib::ContentReader& reader) {
                  translated(request, response, reader, explained);
                });
  // Parts of an answer are of no use here, and asking for many of them is a way to make it long. The request
  // is httplib's own variable.
  server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    const_cast<httplib::Request&>(request).ranges.clear();
    if (request.get_header_value_count("Content-Length") +
            request.get_header_value_count("Transfer-Encoding") <
        2)
      return httplib::Server::HandlerResponse::Unhandled;
    response.set_header("Connection", "close");
    answer(response, 400,
           problem_text("expected a body whose length is said once, got several headers for it"));
    return httplib::Server::HandlerResponse::Handled;
  });
  const std::string page = live_page(*model, options.model.filename().string(), bounds);
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Cache-Control", "no-cache");
    response.set_content(page, "text/html; charset=utf-8");
  });
  server.Get("/health", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, 200,
           health_text(*model, options.model.filename().string(),
                       {queue.waiting(), queue.served(), queue.batches()}));
  });
  server.set_error_handler([&](const httplib::Request& request, httplib::Response& response) {
    explain(request, response, options);
  });

  int port = static_cast<int>(options.port);
  if (port == 0) {
    port = server.bind_to_any_port(options.host);
  } else if (!server.bind_to_port(options.host, port)) {
    port = -1;
  }
  if (port < 0)
    bd::fail("serve", "an address that can be listened on",
             bd::detail::quote(options.host) + ", port " + bd::detail::text(options.port),
             "--host names an address of this machine; another program may have that port: --port takes "
             "another, and 0 a free one");
  ::listen(listening, SOMAXCONN);  // httplib has five clients wait
  const bool v6 = options.host.find(':') != options.host.npos;
  std::cerr << "bahdanau: http://" << (v6 ? "[" : "") << options.host << (v6 ? "]" : "") << ':' << port
            << "/  (Ctrl-C ends it)\n";

  const InterruptHandlers handlers(/*quiet=*/true);  // the second signal ends it at once
  std::atomic<bool> ended{false};
  std::thread waiter([&] {
    constexpr std::chrono::milliseconds tick(20);
    while (!ended && !handlers.flag()->load()) std::this_thread::sleep_for(tick);
    server.stop();
    // What was asked is answered within its deadline. Who still sends by then is not waited for.
    using Clock = std::chrono::steady_clock;
    const auto last =
        Clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * options.deadline) + 8000);
    while (!ended && Clock::now() < last) std::this_thread::sleep_for(tick);
    if (ended) return;
    std::cerr << "bahdanau: served " << queue.served()
              << " sentences; some clients never ended their requests\n";
    std::_Exit(0);
  });
  const bool fine = server.listen_after_bind();  // until it is stopped, and what is under way is answered
  ended = true;
  waiter.join();
  if (!fine) bd::fail("serve", "connections", "an error of the system");
  std::cerr << "bahdanau: served " << queue.served() << " sentences\n";
}

}  // namespace cli
