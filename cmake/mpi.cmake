# Gives bahdanau::mpi, for our own build and for the installed package (component `mpi`) alike: the headers and libraries
# of an MPI. When there is none, bahdanau_missing_mpi is a sentence that says so, and there is no target.

set(bahdanau_missing_mpi "")
if(NOT TARGET bahdanau::mpi)
  set(MPI_CXX_SKIP_MPICXX TRUE)  # C++ bindings of MPI 2, which newer ones do without
  find_package(MPI 3.0 QUIET COMPONENTS CXX)
  if(NOT MPI_FOUND OR NOT TARGET MPI::MPI_CXX)  # CMake's module makes the target also where it has found nothing
    set(bahdanau_missing_mpi "bahdanau::mpi needs an MPI, version 3 or later: install the Debian packages libopenmpi-dev \
and openmpi-bin, or the Conan package openmpi.")
  else()
    # Not an imported one: a project that has bahdanau as a folder must see it.
    add_library(bahdanau_mpi INTERFACE)
    add_library(bahdanau::mpi ALIAS bahdanau_mpi)
    target_link_libraries(bahdanau_mpi INTERFACE bahdanau::bahdanau MPI::MPI_CXX)
  endif()
endif()
