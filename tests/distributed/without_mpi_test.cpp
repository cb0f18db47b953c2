// The tool, built without MPI and started by mpirun: it says so, instead of many trainings that write one
// file.
#include <cstdlib>

#include "../examples/cli/without_mpi/processes.cpp"
#include "support/catch.hpp"
#include "support/message.hpp"

TEST_CASE("a tool without MPI refuses to be one of several processes", "[distributed][cli]") {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    CHECK(cli::processes().size() == 1);
    ::setenv(name, "4", 1);
    CHECK(bahdanau::test::message_of([] { cli::processes(); }) ==
          "train: expected one process, as the tool was built without MPI, got one of 4; install the Debian "
          "packages libopenmpi-dev and openmpi-bin and build it again; each of them would train alone, and "
          "write "
          "the same files");
    ::unsetenv(name);
  }
}
