// The tool's server as a process of its own, and a client that speaks to it over a socket, byte by byte.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tool.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

namespace bahdanau::test {

struct HttpAnswer {
  int status = 0;  // 0: there was none
  std::string head, body;
};

/// A connection to a port of this machine; closed when it goes.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval longest{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool open() const { return open_; }
  void send(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  /// What comes until the other side closes.
  HttpAnswer receive() const {
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = ::recv(socket_, part, sizeof part, 0)) > 0;)
      all.append(part, static_cast<std::size_t>(n));
    HttpAnswer answer;
    const std::size_t end = all.find("\r\n\r\n");
    if (end == all.npos || !all.starts_with("HTTP/1.1 ")) return answer;
    answer.status = std::atoi(all.c_str() + 9);
    answer.head = all.substr(0, end);
    answer.body = all.substr(end + 4);
    return answer;
  }

 private:
  int socket_;
  bool open_ = false;
};

/// `bahdanau serve` on a free port, until it is stopped or goes.
class ServerProcess {
 public:
  explicit ServerProcess(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{BAHDANAU_CLI, "serve", "--port", "0"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::string log = (files_ / "err").string();
    child_ = ::fork();
    if (child_ == 0) {
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    for (int i = 0; i < 600 && port_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const std::string said = log_text();
      // http://ADDRESS:PORT/  (Ctrl-C ends it)
      if (const std::size_t end = said.find("/  (Ctrl-C"); end != said.npos)
        port_ = std::atoi(said.c_str() + said.rfind(':', end) + 1);
      if (int status = 0; ::waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        break;
      }
    }
  }
  ~ServerProcess() {
    if (child_ > 0) stop(SIGKILL);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  std::string log_text() const {
    return std::filesystem::exists(files_ / "err") ? contents(files_ / "err") : "";
  }

  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body = {}) const {
    const Connection connection(port_);
    connection.send(method + " " + path +
                    " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\nContent-Type: application/json\r\n\r\n" + body);
    return connection.receive();
  }
  HttpAnswer translate(const std::string& body) const { return ask("POST", "/translate", body); }

  void signal(int number) const { ::kill(child_, number); }
  /// Its exit code, once it has ended; -1 if a signal has ended it.
  int wait() {
    if (child_ <= 0) return code_;
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int stop(int number) {
    signal(number);
    return wait();
  }
  /// Kilobytes of memory that it has.
  std::size_t resident() const {
    const std::string status = contents("/proc/" + std::to_string(child_) + "/status");
    const std::size_t at = status.find("VmRSS:");
    return at == status.npos ? 0 : static_cast<std::size_t>(std::atol(status.c_str() + at + 6));
  }

 private:
  TemporaryDirectory files_;
  pid_t child_ = -1;
  int port_ = 0, code_ = -1;
};

}  // namespace bahdanau::test
