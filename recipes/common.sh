# What all recipes share: their options, the tool, and steps that are done once. Sourced by recipes/<task>/run.sh, after
#
#   task=g2p
#   source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
#   recipe_options "$@"
#   need_data cmudict/train.txt
#   need_tool
#
# The options set `data` (the folder with the data), `out` (the task's own folder, which is the current one from then on), `short`
# (1 for the form that the tests run), `threads` and `here` (the recipe's folder). A recipe with an option of its own names it before:
# own_option=--pairs, and has what was given in `pairs`.
#
# Everything that a recipe makes has a name in `out`, and is not made again if it is there: a recipe that was interrupted, or
# killed, goes on where it was. So two forms of one thing have two names.
# shellcheck shell=bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() { sed -n '2,/^set\|^task=/{/^#/s/^# \{0,1\}//p}' "$here/run.sh"; }

# recipe_options arguments... : what the user has asked for.
recipe_options() {
  data=${BAHDANAU_DATA_DIR:-$root/../shared/data}
  out=${BUILD_DIR:-$root/build/recipes}/$task
  tool=${BAHDANAU_CLI-}
  short=0
  threads=0
  while (($#)); do
    case $1 in
      --data | --out | --tool | --threads | "${own_option:---data}")
        declare -g "${1#--}=${2:?$1 needs a value}"
        shift
        ;;
      --short) short=1 ;;
      --help | -h)
        usage
        exit
        ;;
      *)
        echo "recipes/$task/run.sh: expected one of the options below, got $1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
  done
  [[ ! -d $data ]] || data=$(cd "$data" && pwd)
  [[ -z $tool ]] || tool=$(realpath -- "$tool")
  ((!short)) || out=$out-short
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  cd "$out"
}

# need_data file... : ends the recipe, in one sentence, if one of them is not in the data's folder. In its short form the exit code
# is ctest's for a test that was skipped.
need_data() {
  local file
  for file in "$@"; do
    if [[ ! -f $data/$file ]]; then
      echo "$data/$file: not there; --data or BAHDANAU_DATA_DIR names the folder that has it (recipes/$task/README.md)" >&2
      exit $((short ? 77 : 2))
    fi
  done
}

# need_tool : builds the tool if nobody has named one. After `need_data`, which is quicker to fail.
need_tool() {
  [[ -z $tool ]] || return 0
  local build=${BUILD_DIR:-$root/build/recipes}/tool
  "$root/cmake/install_dependencies.sh" libsentencepiece-dev python3
  "$root/cmake/build.sh" "$root" "$build" -DCMAKE_BUILD_TYPE=Release -DBAHDANAU_BUILD_TESTS=OFF \
    -DBAHDANAU_BUILD_BENCHMARKS=OFF -DBAHDANAU_EXAMPLES=none
  tool=$build/bin/bahdanau
}

bahdanau() { "$tool" "$@"; }

# made file command... : what the command prints, kept as that file; nothing if the file is there.
made() {
  local file=$1
  shift
  [[ -e $file ]] || { "$@" >"$file.part" && mv "$file.part" "$file"; }
}

# trained name options... : the model name.safetensors; a training that was interrupted goes on. name.settings has the options: a
# model of others, or of unknown ones, is an error.
trained() {
  local name=$1 found
  shift
  found=$(compgen -G "$name.safetensors*" || compgen -G "$name.settings" || true)
  if [[ -n $found ]] && ! printf '%s\n' "$@" | cmp -s - "$name.settings"; then
    echo "recipes/$task/run.sh: $name in $PWD is not of this recipe's settings, which $name.settings would have; remove that" \
      "folder, or give another by --out" >&2
    exit 1
  fi
  made "$name.settings" printf '%s\n' "$@"
  [[ -e $name.safetensors ]] || bahdanau train --model "$name.safetensors" --resume --threads "$threads" "$@"
}

# averaged name N : name-mean.safetensors, the mean of the last N epochs' models, which `trained name --keep N` has left; of all
# epochs, where the training ended before.
averaged() {
  local name=$1 keep=$2 last first
  [[ ! -e $name-mean.safetensors ]] || return 0
  local all=("$name".epoch-*.safetensors)
  last=$(printf '%s\n' "${all[@]}" | sed -n "s/.*\.epoch-\([0-9]*\)\.safetensors$/\1/p" | sort -n | tail -n 1)
  first=$((last > keep ? last - keep + 1 : 1))
  if ((last == 0 || ${#all[@]} != last - first + 1)); then
    echo "recipes/$task/run.sh: expected the models of the last $keep epochs, $name.epoch-*.safetensors in $PWD, got" \
      "${all[*]/*\**/none}; remove that folder, or give another by --out" >&2
    exit 1
  fi
  bahdanau average --model "$(IFS=,; echo "${all[*]}")" --out "$name-mean.safetensors"
}

# at_least floor value what, at_most ceiling value what : ends the recipe with exit code 1 if the value is below, or above.
at_least() { within "$1" "$2" 'at least' "$3" 1; }
at_most() { within "$1" "$2" 'at most' "$3" -1; }
within() {
  awk -v bound="$1" -v value="$2" -v sign="$5" 'BEGIN { exit !(value != "" && sign * value >= sign * bound) }' && return 0
  echo "recipes/$task/run.sh: expected $3 $1 $4, got ${2:-nothing}" >&2
  exit 1
}
