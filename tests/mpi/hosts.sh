#!/usr/bin/env bash
# hosts.sh MPIEXEC WORKER : one training on two hosts, which are network namespaces of this machine with a cable between
# them. It ends with the same bits as on one; with the cable cut in the middle it ends with an error, and can be resumed.
# Exits with 77 where that cannot run: without root, without namespaces, or with another MPI than Open MPI.
set -euo pipefail

mpiexec=$1 worker=$2
"$mpiexec" --version 2>&1 | grep -qE 'Open MPI|OpenRTE' || { echo 'skipped: only Open MPI is started so' && exit 77; }
if ((EUID != 0)) || ! command -v ip >/dev/null || ! unshare --net --uts true 2>/dev/null; then
  echo 'skipped: no network namespaces here' && exit 77
fi

work=$(mktemp -d)
near=bdn$$ far=bdf$$
cleanup() {
  for name in "$near" "$far"; do
    ip netns pids "$name" 2>/dev/null | xargs --no-run-if-empty kill -9 2>/dev/null || true
    ip netns del "$name" 2>/dev/null || true
    rm -rf "/etc/netns/$name"
  done
  rm -rf "$work"
}
trap cleanup EXIT
ln -s "$(realpath "$worker")" "$work/worker"  # the command below passes through shells, whatever is in its path
worker=$work/worker

number=0
for name in "$near" "$far"; do
  mkdir -p "/etc/netns/$name"
  printf '127.0.0.1 localhost\n10.77.0.1 %s\n10.77.0.2 %s\n' "$near" "$far" >"/etc/netns/$name/hosts"
  ip netns add "$name"
done
ip link add "$near" netns "$near" type veth peer name "$far" netns "$far"
for name in "$near" "$far"; do
  ip -n "$name" addr add "10.77.0.$((++number))/24" dev "$name"
  ip -n "$name" link set "$name" up
  ip -n "$name" link set lo up
done

# on HOST COMMAND : a shell's command there.
on() { ip netns exec "$1" unshare --uts sh -c "hostname $1 && $2"; }
# What Open MPI calls in place of ssh.
cat >"$work/agent" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec "\$host" unshare --uts sh -c "hostname \$host && \$*"
END
chmod +x "$work/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
launch="$mpiexec --mca plm_rsh_agent $work/agent --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
  --mca oob_tcp_if_include 10.77.0.0/24 --mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 \
  --mca oob_tcp_keepalive_probes 3 --bind-to none -H $near:2,$far:2 -n 4"

"$worker" "out=$work/alone"
on "$near" "$launch $worker out=$work/both"
cmp "$work/alone" "$work/both"
echo 'two hosts: the same bits'

# Rank 3, on the far host, pauses; then the cable is cut.
start=$SECONDS
on "$near" "$launch $worker out=$work/cut checkpoint=$work/checkpoint fault=stop rank=3 batch=12 timeout=0" >"$work/log" 2>&1 &
job=$!
until [[ -e $work/checkpoint ]] || ((SECONDS - start > 60)); do sleep 0.1; done
sleep 3
ip -n "$near" link set "$near" down
cut=$SECONDS
if wait "$job"; then echo 'expected an error after the cable was cut' && exit 1; fi
echo "ended $((SECONDS - cut)) s after the cable was cut; it said:"
cat "$work/log"
# Not which rank, as several are there: which host.
grep -qE "on node $far|$far.*(lost|lose|connection)" "$work/log" || { echo "expected it to name the host that was lost, $far" && exit 1; }
((SECONDS - cut < 60)) || exit 1
[[ ! -e $work/cut ]]
"$worker" "out=$work/resumed" "checkpoint=$work/checkpoint"
cmp "$work/alone" "$work/resumed"
echo 'resumed on one host: the same bits'
