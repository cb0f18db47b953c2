#!/usr/bin/env bash
# launch.sh MPIEXEC COUNT PROGRAM [arguments...] : so many processes of a program, as the tests start them: more than there
# are cores if need be, and as root in a container.
set -euo pipefail

mpiexec=$1 count=$2
shift 2
options=()
if "$mpiexec" --version 2>&1 | grep -qE 'Open MPI|OpenRTE'; then
  options=(--oversubscribe --bind-to none)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
fi
exec "$mpiexec" "${options[@]}" -n "$count" "$@"
