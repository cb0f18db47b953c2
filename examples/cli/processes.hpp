// The processes of a training, as `mpirun` or `srun` starts them; a tool that was built without MPI has one.
// One of with_mpi/ and without_mpi/ has the function.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>

#include <bahdanau/distributed/communicator.hpp>

namespace cli {

/// What a launcher says to each process that it starts, before MPI does.
class Launcher {
 public:
  /// The number of this process; 0 without a launcher.
  static std::size_t rank() { return first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }
  /// How many it has started; 1 without a launcher.
  static std::size_t size() {
    return first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
  }
  static bool present() { return rank() > 0 || size() > 1; }

 private:
  static std::size_t first_of(std::initializer_list<const char*> names, std::size_t otherwise) {
    for (const char* name : names)
      if (const char* value = std::getenv(name)) return std::strtoul(value, nullptr, 10);
    return otherwise;
  }
};

/// An error of all processes, which another one prints.
struct SaidElsewhere {
  int interrupted = 0;  // the signal, if it was one
};

/// The processes that train together: those that a launcher has started, or this one alone. Throws where
/// there are more, and the tool was built without MPI. One waits for another at most so many seconds, 0: for
/// ever; unless it is quiet, it says so when that is long.
bahdanau::AnyCommunicator processes(double timeout_seconds = 0, bool quiet = false);

}  // namespace cli
