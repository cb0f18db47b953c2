// The processes of a training, where the tool was built with MPI.
// MPI is started for trainings alone, and only by a launcher: all else would wait for it in vain.
#include "../processes.hpp"

#include <bahdanau/distributed/mpi.hpp>

namespace cli {

bahdanau::AnyCommunicator processes() {
  if (!Launcher::present()) return {};
  static int argc = 0;
  static char** argv = nullptr;
  static bahdanau::Mpi mpi(argc, argv);  // ends with the program
  return mpi;
}

}  // namespace cli
