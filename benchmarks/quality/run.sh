#!/usr/bin/env bash
# Trains the library's model and the same model in PyTorch on the same sentence pairs, translates held-out sentences
# with both, and fails if the library's BLEU is more than one point below PyTorch's.
#   benchmarks/quality/run.sh [--pairs 40000] [--held-out 1000] [--epochs 4] [--seed 1] [--trained]
# --trained takes the models that an earlier run with the same numbers left, and only translates and judges again.
# BAHDANAU_DATA_DIR is the folder with fra-eng/fra.txt (default ../shared/data beside the project).
# BAHDANAU_PEERS is a Python virtual environment with torch, sacrebleu, safetensors and numpy; without it one is made
# below BUILD_DIR (default build/quality), where everything else goes too.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD_DIR:-$root/build/quality}
data=${BAHDANAU_DATA_DIR:-$root/../shared/data}/fra-eng/fra.txt

usage="usage: benchmarks/quality/run.sh [--pairs N] [--held-out N] [--epochs N] [--seed N] [--trained]"
pairs=40000 held_out=1000 epochs=4 seed=1 trained=
while (($#)); do
  case $1 in
    --pairs) pairs=${2:?--pairs needs a number} ;;
    --held-out) held_out=${2:?--held-out needs a number} ;;
    --epochs) epochs=${2:?--epochs needs a number} ;;
    --seed) seed=${2:?--seed needs a number} ;;
    --trained)
      trained=yes
      shift
      continue
      ;;
    *)
      echo "$usage" >&2
      exit 2
      ;;
  esac
  shift 2
done

if [[ ! -f $data ]]; then
  echo "$data: not there; BAHDANAU_DATA_DIR names the folder that has fra-eng/fra.txt" >&2
  exit 2
fi

packages=()
if [[ -z ${BAHDANAU_PEERS-} ]]; then packages=(python3-venv); fi
"$root/cmake/install_dependencies.sh" "${packages[@]}"
cd "$root"
cmake --preset release -B "$build" --log-level=WARNING \
  -DBAHDANAU_BUILD_TESTS=OFF -DBAHDANAU_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build "$build" --target bahdanau_cli --parallel "$(nproc)"
tool=$build/bin/bahdanau

venv=${BAHDANAU_PEERS:-$build/venv}
if [[ -z ${BAHDANAU_PEERS-} && ! -x $venv/bin/python ]]; then python3 -m venv "$venv"; fi
if ! "$venv/bin/python" -c 'import numpy, sacrebleu, safetensors, torch' 2>/dev/null; then
  if [[ -n ${BAHDANAU_PEERS-} ]]; then
    echo "$venv: expected numpy, sacrebleu, safetensors and torch in it (BAHDANAU_PEERS)" >&2
    exit 2
  fi
  echo "Installing PyTorch into $venv"
  "$venv/bin/pip" install --quiet numpy sacrebleu safetensors torch
fi
peer() { "$venv/bin/python" -B "$here/$1" "${@:2}"; }

work=$build/$pairs-pairs-$epochs-epochs-seed-$seed
mkdir -p "$work"
cd "$work"

# The sizes and the rules for text reach PyTorch through our model file, the rest as the same options.
settings=(--data train.tsv --epochs "$epochs" --batch 64 --rate 0.001 --clip 1 --min-frequency 2 --seed "$seed")
if [[ -z $trained ]]; then
  peer split.py "$data" "$pairs" "$held_out" train.tsv test.tsv
  echo "bahdanau:"
  "$tool" train --model ours.safetensors --embed 256 --hidden 256 --layers 2 --dropout 0.1 --max-length 20 \
    "${settings[@]}" 2>&1 | tee ours.log
  echo "PyTorch:"
  peer train.py --like ours.safetensors --model torch.safetensors "${settings[@]}" 2>&1 | tee torch.log
  echo
fi

# Both translate with both models: where the weights are the same, so must the translations be. Beams are all the
# library's, so that there only the weights differ.
cut -f 1 test.tsv >sources.txt
for model in ours torch; do
  "$tool" translate --model $model.safetensors <sources.txt >$model.by-ours.txt
  "$tool" translate --model $model.safetensors --beam 5 <sources.txt >$model.beam.txt
  "$tool" evaluate --model $model.safetensors --data test.tsv --json >$model.evaluate.json
  "$tool" evaluate --model $model.safetensors --data test.tsv --beam 5 --json >$model.evaluate-beam.json
  peer evaluate.py $model.safetensors test.tsv $model.by-torch.txt >$model.perplexity
done
peer report.py .
