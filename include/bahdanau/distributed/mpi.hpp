// MPI as a communicator: processes on one machine or on many, as `mpirun` or `srun` starts them.
// Any MPI 3; CMake's target is bahdanau::mpi.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mpi.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/distributed/communicator.hpp>

namespace bahdanau {

/// Settings of `Mpi`.
struct MpiOptions {
  // How long to wait for a message before the partner counts as lost; 0: for ever. Rank 0 may keep the others
  // waiting, with a file that it opens for all, a checkpoint or a callback, and MPI itself ends all when it
  // notices that one has died.
  double timeout_seconds = 0;
  // How long a process that fails waits for the others to do so, too, before it ends them.
  double grace_seconds = 2;
  // After so long a wait a line on standard error says for whom; the next one of this process after a wait
  // that is twice as long. 0: none.
  double notice_seconds = 60;
};

/// The processes of an MPI program. Make one in `main`, before anything else, and keep it:
///
///     bd::Mpi mpi(argc, argv);
///     bd::Trainer trainer(model, bd::Adam{}, {.replicas = 4, .communicator = mpi});
///
/// What may throw belongs into `fail_together` (distributed/collectives.hpp), so that it is said once. A
/// program that is not started by `mpirun` is one process.
class Mpi {
 public:
  /// Starts MPI, unless the program has done so. Throws where it cannot be started.
  Mpi(int& argc, char**& argv, const MpiOptions& options = {}) : options_(options) {
    int started = 0;
    MPI_Initialized(&started);
    if (started == 0) {
      int threads = 0;
      require("MPI_Init_thread", MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads));
      ends_mpi_ = true;
    }
    join(MPI_COMM_WORLD);
  }
  /// The processes of a communicator that the program has made; MPI must have been started.
  explicit Mpi(MPI_Comm processes, const MpiOptions& options = {}) : options_(options) { join(processes); }

  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  /// Ends MPI, if it has started it: all processes come here. An exception on its way through `main` in one
  /// of them ends all; one that comes here while others still wait for its messages makes them fail.
  ~Mpi() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;  // by a program that has started it, too
    if (std::uncaught_exceptions() > exceptions_) fail_together("an exception that main has not caught");
    shut_down();
    MPI_Comm_free(&messages_);
    MPI_Comm_free(&failures_);
    if (ends_mpi_) MPI_Finalize();
  }

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  /// Processes of this machine, and the number of this one among them.
  std::size_t processes_on_host() const { return on_host_; }
  std::size_t rank_on_host() const { return rank_on_host_; }
  /// Whether MPI lets other threads than the one that has started it call, as it does unless a program has
  /// started it otherwise.
  bool any_thread() const { return any_thread_; }

  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    constexpr std::size_t most = std::size_t{1} << 30;  // MPI counts with int
    while (sent.size() > most || received.size() > most) {
      const std::size_t out = std::min(most, sent.size()), in = std::min(most, received.size());
      exchange_once(partner, sent.first(out), received.first(in));
      sent = sent.subspan(out);
      received = received.subspan(in);
    }
    exchange_once(partner, sent, received);
  }

  void fail_together(std::string_view why) {
    if (size_ == 1) return;
    MPI_Request request = MPI_REQUEST_NULL;
    int all = 0;
    const auto start = Clock::now();
    // Of several that fail the lowest rank is the first to lose patience, and its line the only one.
    const double grace =
        options_.grace_seconds + 0.05 * static_cast<double>(std::min<std::size_t>(rank_, 20));
    if (MPI_Ibarrier(failures_, &request) == MPI_SUCCESS)
      while (MPI_Test(&request, &all, MPI_STATUS_IGNORE) == MPI_SUCCESS && all == 0 && since(start) < grace)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (all != 0) return;
    print("rank " + detail::text(rank_) + " of " + detail::text(size_) + ": " + std::string(why) +
          "; all processes end");
    MPI_Abort(messages_, EXIT_FAILURE);
    std::abort();  // if even that returns
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  void join(MPI_Comm processes) {
    // Of our own, so that no message of the program's is taken for one of ours.
    require("MPI_Comm_dup", MPI_Comm_dup(processes, &messages_));
    require("MPI_Comm_dup", MPI_Comm_dup(processes, &failures_));
    MPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(failures_, MPI_ERRORS_RETURN);
    int rank = 0, size = 1, on_host = 1, rank_on_host = 0, threads = MPI_THREAD_SINGLE;
    require("MPI_Query_thread", MPI_Query_thread(&threads));
    any_thread_ = threads >= MPI_THREAD_SERIALIZED;
    require("MPI_Comm_rank", MPI_Comm_rank(messages_, &rank));
    require("MPI_Comm_size", MPI_Comm_size(messages_, &size));
    MPI_Comm host = MPI_COMM_NULL;
    require("MPI_Comm_split_type",
            MPI_Comm_split_type(messages_, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host));
    require("MPI_Comm_size", MPI_Comm_size(host, &on_host));
    require("MPI_Comm_rank", MPI_Comm_rank(host, &rank_on_host));
    MPI_Comm_free(&host);
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
    on_host_ = static_cast<std::size_t>(on_host);
    rank_on_host_ = static_cast<std::size_t>(rank_on_host);
  }

  /// A line in one piece, as others print, too.
  static void print(const std::string& what) {
    const std::string line = "bahdanau: " + what + "\n";
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
  }

  static void require(const char* call, int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(call, "success", std::string(text, static_cast<std::size_t>(length)));
  }

  static constexpr int message_tag = 0, end_tag = 1;  // of messages, and of the last one of a process

  /// Tells all that no message will follow, and waits until all have said so.
  void shut_down() noexcept {
    std::vector<MPI_Request> requests;
    for (std::size_t r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(r), end_tag, messages_,
                &requests.emplace_back(MPI_REQUEST_NULL));
      MPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(r), end_tag, messages_,
                &requests.emplace_back(MPI_REQUEST_NULL));
    }
    int all = 0;
    while (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE) ==
               MPI_SUCCESS &&
           all == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void exchange_once(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    const int other = static_cast<int>(partner);
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (!received.empty())
      require("MPI_Irecv", MPI_Irecv(received.data(), static_cast<int>(received.size()), MPI_BYTE, other,
                                     message_tag, messages_, &requests[0]));
    if (!sent.empty())
      require("MPI_Isend", MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, other, message_tag,
                                     messages_, &requests[1]));
    wait(requests, other);
  }

  /// Looks again and again at first, as messages come soon; sleeps when they do not, so that a process that
  /// waits for another's checkpoint leaves the core to those that compute. A thread beside the main one has
  /// those beside it from the beginning.
  void wait(MPI_Request (&requests)[2], int other) {
    constexpr double soon = 0.02,
                     late = 1;  // seconds; a message may be behind the last one, but not for long
    const auto start = Clock::now();
    int is_main = 1;
    require("MPI_Is_thread_main", MPI_Is_thread_main(&is_main));
    double ended_at = 0;  // when it was seen that the other one has left
    const auto give_up = [&](const std::string& expected, const std::string& got,
                             const std::string& hint = "") {
      for (MPI_Request& request : requests) {  // nothing may arrive in memory that is no longer there
        if (request == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
      fail("rank " + detail::text(other), expected, got, hint);
    };
    for (;;) {
      int done = 0;
      require("MPI_Testall", MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
      if (done != 0) return;
      const double waited = since(start);
      if (waited < soon && is_main != 0)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (waited < soon) continue;
      if (options_.timeout_seconds > 0 && waited > options_.timeout_seconds)
        give_up("a message within " + detail::number_text(options_.timeout_seconds) + " s", "none",
                "it is stopped or slow, or waits for another");
      if (options_.notice_seconds > 0 && waited > options_.notice_seconds) {
        print("rank " + detail::text(rank_) + " has waited " + detail::number_text(options_.notice_seconds) +
              " s for rank " + detail::text(other));
        options_.notice_seconds *= 2;
      }
      int has_ended = 0;
      if (ended_at == 0 &&
          MPI_Iprobe(other, end_tag, messages_, &has_ended, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          has_ended != 0)
        ended_at = waited;
      if (ended_at > 0 && waited > ended_at + late) give_up("a message", "none: it has ended");
    }
  }

  MpiOptions options_;
  MPI_Comm messages_ = MPI_COMM_NULL, failures_ = MPI_COMM_NULL;
  std::size_t rank_ = 0, size_ = 1, on_host_ = 1, rank_on_host_ = 0;
  int exceptions_ = std::uncaught_exceptions();
  bool ends_mpi_ = false, any_thread_ = true;
};

static_assert(Communicator<Mpi>);

}  // namespace bahdanau
