// The Communicator concept: what one training over several processes asks of whatever carries its messages.
// A transport is one file: distributed/mpi.hpp is one. All sums are made by the library, in an order of its
// own.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Processes that train one model together. Models: `SingleProcess`, `Mpi` (distributed/mpi.hpp), `Nccl`
/// (distributed/nccl.hpp).
///
/// 1. `size()` is the number of processes, and `rank()`, from 0 to size() - 1, the number of this one.
/// Neither
///    changes.
/// 2. `exchange(partner, sent, received)` sends bytes to another process and receives others from it, at the
///    same time, and returns when both are done. Either may be empty: then that direction has no message.
///    Messages between two processes arrive in the order in which they were sent, and their sizes match.
///    It throws where the partner cannot be reached. One thread calls it at a time, not always the same one.
/// 3. `fail_together(why)` is called in a process that cannot go on, while an exception is under way. If all
///    processes call it, within seconds, it returns in all of them: they have failed in the same way, and
///    each throws its own. Otherwise the others wait for messages that will never come: it ends them all,
///    with one line that names this rank and `why`.
/// 4. It may have `processes_on_host()`, among which the cores of this machine are divided, and
///    `exchange_on_device(partner, sent, received)`, which does the same as 2. with memory of the backend's
///    device. Without the latter, numbers of a device travel by way of the host. With an `any_thread()` that
///    is false, `exchange` is only called by the thread that trains: nothing is sent while it computes.
///
/// Nothing else is asked for: sums, broadcasts and barriers are made of exchanges
/// (distributed/collectives.hpp), so that no transport has a say in the order in which numbers are added.
template <class C>
concept Communicator = requires(C& c, std::size_t partner, std::span<const std::byte> sent,
                                std::span<std::byte> received, std::string_view why) {
  { c.rank() } -> std::convertible_to<std::size_t>;
  { c.size() } -> std::convertible_to<std::size_t>;
  c.exchange(partner, sent, received);
  c.fail_together(why);
};

/// One process, which is all there is.
struct SingleProcess {
  static std::size_t rank() { return 0; }
  static std::size_t size() { return 1; }
  static void exchange(std::size_t partner, std::span<const std::byte>, std::span<std::byte>) {
    fail("SingleProcess", "no partner", "rank " + detail::text(partner));
  }
  static void fail_together(std::string_view) {}
};

static_assert(Communicator<SingleProcess>);

/// Any communicator, which must outlive it; by default a single process. It owns nothing, and is cheap to
/// copy.
class AnyCommunicator {
 public:
  AnyCommunicator() = default;
  template <Communicator C>
  requires(!std::same_as<C, AnyCommunicator> && !std::same_as<C, const AnyCommunicator>)
      AnyCommunicator(C& of)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(of)))),
        rank_(of.rank()),
        size_(of.size()),
        exchange_(
            [](void* c, std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
              static_cast<C*>(c)->exchange(partner, sent, received);
            }),
        fail_([](void* c, std::string_view why) { static_cast<C*>(c)->fail_together(why); }) {
    if constexpr (requires { std::size_t(of.processes_on_host()); }) on_host_ = of.processes_on_host();
    if constexpr (requires { bool(of.any_thread()); }) any_thread_ = of.any_thread();
    if constexpr (requires(std::span<const std::byte> out, std::span<std::byte> in) {
                    of.exchange_on_device(rank_, out, in);
                  })
      device_ = [](void* c, std::size_t partner, std::span<const std::byte> sent,
                   std::span<std::byte> received) {
        static_cast<C*>(c)->exchange_on_device(partner, sent, received);
      };
  }

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  /// Whether there are others.
  bool several() const { return size_ > 1; }
  /// Whether this is the one process that prints and writes files.
  bool first() const { return rank_ == 0; }
  std::size_t processes_on_host() const { return on_host_; }
  bool any_thread() const { return any_thread_; }

  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) const {
    exchange_(object_, partner, sent, received);
  }
  bool reaches_device() const { return device_ != nullptr; }
  void exchange_on_device(std::size_t partner, std::span<const std::byte> sent,
                          std::span<std::byte> received) const {
    device_(object_, partner, sent, received);
  }
  void fail_together(std::string_view why) const {
    if (several()) fail_(object_, why);
  }

 private:
  using Exchange = void (*)(void*, std::size_t, std::span<const std::byte>, std::span<std::byte>);

  void* object_ = nullptr;
  std::size_t rank_ = 0, size_ = 1, on_host_ = 1;
  bool any_thread_ = true;
  Exchange exchange_ = [](void*, std::size_t partner, std::span<const std::byte> sent,
                          std::span<std::byte> received) {
    SingleProcess::exchange(partner, sent, received);
  };
  Exchange device_ = nullptr;
  void (*fail_)(void*, std::string_view) = [](void*, std::string_view) {};
};

static_assert(Communicator<AnyCommunicator>);

}  // namespace bahdanau
