// NCCL between GPUs, beside MPI between processes: numbers of a `Thrust` backend on CUDA go from device to
// device. One process per GPU; everything else, errors among it, goes by way of MPI. For files that nvcc
// compiles.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/distributed/communicator.hpp>
#include <bahdanau/distributed/mpi.hpp>

namespace bahdanau {

/// The processes of an MPI program, each with a GPU of its own:
///
///     bd::Mpi mpi(argc, argv);
///     bd::Nccl gpus(mpi);  // before anything else uses the device
///     bd::Trainer trainer(model, bd::Adam{}, {.replicas = 4, .communicator = gpus});
class Nccl {
 public:
  /// Takes a GPU of this machine, another one than its other processes take, and connects it with those of
  /// all. Throws, in all processes, where one has no GPU to itself. `mpi` must outlive this object.
  explicit Nccl(Mpi& mpi) : mpi_(&mpi) {
    throw_together(mpi, [&] {
      int devices = 0;
      require("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
      if (mpi.processes_on_host() > static_cast<std::size_t>(devices))
        fail("Nccl",
             "a GPU for each of the " + detail::text(mpi.processes_on_host()) + " processes of this machine",
             detail::text(devices), "start one process per GPU");
      require("cudaSetDevice", cudaSetDevice(static_cast<int>(mpi.rank_on_host())));
    });
    ncclUniqueId id{};
    throw_together(mpi, [&] {
      if (mpi.rank() == 0) require("ncclGetUniqueId", ncclGetUniqueId(&id));
    });
    broadcast(mpi, detail::bytes_to_change(id));
    throw_together(mpi, [&] {
      require("ncclCommInitRank",
              ncclCommInitRank(&devices_, static_cast<int>(mpi.size()), id, static_cast<int>(mpi.rank())));
    });
  }
  ~Nccl() {
    if (devices_ != nullptr) ncclCommDestroy(devices_);
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  std::size_t rank() const { return mpi_->rank(); }
  std::size_t size() const { return mpi_->size(); }
  std::size_t processes_on_host() const { return mpi_->processes_on_host(); }
  bool any_thread() const { return mpi_->any_thread(); }
  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    mpi_->exchange(partner, sent, received);
  }
  void fail_together(std::string_view why) { mpi_->fail_together(why); }

  /// Between devices, on the stream that the backend uses, which it waits for.
  void exchange_on_device(std::size_t partner, std::span<const std::byte> sent,
                          std::span<std::byte> received) {
    const cudaStream_t stream = nullptr;
    const int other = static_cast<int>(partner);
    require("ncclGroupStart", ncclGroupStart());
    if (!sent.empty())
      require("ncclSend", ncclSend(sent.data(), sent.size(), ncclUint8, other, devices_, stream));
    if (!received.empty())
      require("ncclRecv", ncclRecv(received.data(), received.size(), ncclUint8, other, devices_, stream));
    require("ncclGroupEnd", ncclGroupEnd());
    require("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  }

 private:
  static void require(std::string_view call, cudaError_t code) {
    if (code != cudaSuccess) fail(call, "success", cudaGetErrorString(code));
  }
  static void require(std::string_view call, ncclResult_t code) {
    if (code != ncclSuccess) fail(call, "success", ncclGetErrorString(code));
  }

  Mpi* mpi_;
  ncclComm_t devices_ = nullptr;
};

static_assert(Communicator<Nccl>);

}  // namespace bahdanau
