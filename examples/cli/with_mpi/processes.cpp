// The processes of a training, where the tool was built with MPI.
// MPI is started for trainings alone, and only by a launcher: all else would wait for it in vain.
#include "../processes.hpp"

#include <bahdanau/distributed/mpi.hpp>

namespace cli {

bahdanau::AnyCommunicator processes(double timeout_seconds, bool quiet) {
  if (!Launcher::present()) return {};
  static int argc = 0;
  static char** argv = nullptr;
  bahdanau::MpiOptions options{.timeout_seconds = timeout_seconds};
  if (quiet) options.notice_seconds = 0;
  static bahdanau::Mpi mpi(argc, argv, options);  // ends with the program
  return mpi;
}

}  // namespace cli
