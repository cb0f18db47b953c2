#!/usr/bin/env bash
# Dates as people write them become ISO dates: ten formats in English, French and German, with misspellings.
#
#   recipes/dates/run.sh [options]
#
#   --out FOLDER   where everything is made (default build/recipes/dates); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run, with fewer pairs and a smaller model, in OUT-short
#
# The data is made by dates.py. At the end, the share of right dates among days that the training did not have, in a table.
task=dates
# shellcheck source=SCRIPTDIR/../common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
recipe_options "$@"
need_tool

if ((short)); then
  train=4000 dev=200 test=1000 step=50
  settings=(--embed 32 --hidden 64 --epochs 4 --batch 32 --rate 0.004)
  floor=80
else
  train=100000 dev=2000 test=10000 step=1
  settings=(--embed 32 --hidden 64 --epochs 8 --batch 64 --rate 0.004 --decay-patience 1)
  floor=99.5
fi

made check.txt python3 "$here/dates.py" check "$step"
made train.tsv python3 "$here/dates.py" pairs train "$train"
made dev.tsv python3 "$here/dates.py" pairs dev "$dev"
made test.tsv python3 "$here/dates.py" pairs test "$test"
trained model --data train.tsv --validation dev.tsv --tokens characters --encoder bidirectional "${settings[@]}"

made dev.txt bahdanau evaluate --model model.safetensors --data dev.tsv --metric exact
made test.txt bahdanau evaluate --model model.safetensors --data test.tsv --metric exact
cut -f 1 test.tsv >sources.txt
made answers.txt bahdanau translate --model model.safetensors <sources.txt
made table.txt python3 "$here/dates.py" table test.tsv answers.txt train.tsv

cat check.txt
grep '^exact' dev.txt | sed 's/^/dev\t/'
grep '^exact' test.txt | sed 's/^/test\t/'
echo
cat table.txt
at_least "$floor" "$(awk -F '\t' '/^exact/ { print $2 }' test.txt)" '% exact on the test set'
