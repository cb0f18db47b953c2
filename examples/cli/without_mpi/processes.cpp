// The processes of a training in a tool that was built without MPI: this one.
#include "../processes.hpp"

#include <bahdanau/core/error.hpp>

namespace cli {

bahdanau::AnyCommunicator processes(double, bool) {
  if (Launcher::present())
    bahdanau::fail(
        "train", "one process, as the tool was built without MPI",
        "one of " + bahdanau::detail::text(Launcher::size()),
        "install the Debian packages libopenmpi-dev and openmpi-bin and build it again; each of them "
        "would train alone, and write the same files");
  return {};
}

}  // namespace cli
