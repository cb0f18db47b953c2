#!/usr/bin/env bash
# The whole family on real sentences: each model of examples/11_family on the same pairs of fra.txt, with the same seed,
# epochs and number of parameters, and how well it translates sentences whose English is in none of them.
#
#   benchmarks/family/run.sh [--pairs 40000] [--held-out 1000] [--epochs 10] [--budget 4000000] [--seed 1] [--only NAME,...]
#
# May be interrupted at any time, and started again with the same numbers: a model that is done is not trained again, and
# one that is not goes on from its checkpoint. Writes table.md, loss.svg and bleu_by_length.svg. Ten models take some 100
# minutes of the processor: an hour on two free cores.
# BAHDANAU_DATA_DIR is the folder with fra-eng/fra.txt (default ../shared/data beside the project).
# BUILD_DIR is where everything goes (default build/family).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD_DIR:-$root/build/family}
data=${BAHDANAU_DATA_DIR:-$root/../shared/data}/fra-eng/fra.txt

pairs=40000 held_out=1000 epochs=10 budget=4000000 seed=1 only=
while (($#)); do
  case $1 in
    --pairs | --held-out | --epochs | --budget | --seed | --only)
      name=${1#--}
      declare "${name//-/_}=${2:?$1 needs a value}"
      ;;
    *)
      sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
  shift 2
done

if [[ ! -f $data ]]; then
  echo "$data: not there; BAHDANAU_DATA_DIR names the folder that has fra-eng/fra.txt" >&2
  exit 2
fi

"$root/cmake/install_dependencies.sh" python3
cd "$root"
cmake --preset release -B "$build" --log-level=WARNING -DBAHDANAU_EXAMPLES=11_family -DBAHDANAU_CLI_CELLS=none \
  -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build "$build" --target example_11_family --parallel "$(nproc)"

work=$build/$pairs-pairs-$held_out-held-out-$epochs-epochs-$budget-parameters-seed-$seed
mkdir -p "$work"
cd "$work"
if [[ ! -f test.tsv ]]; then  # which is written last
  python3 -B "$root/benchmarks/quality/split.py" "$data" "$pairs" "$held_out" train.tsv test.tsv.part
  mv test.tsv.part test.tsv
fi
"$build/bin/example_11_family" --data train.tsv --held-out test.tsv --folder . --resume --epochs "$epochs" \
  --budget "$budget" --seed "$seed" --rate 0.001 --max-length 20 ${only:+--only "$only"}
echo "$work"
