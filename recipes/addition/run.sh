#!/usr/bin/env bash
# Sums of two numbers with up to five digits, as characters, from 55,000 examples: a tenth of what is usual.
#
#   recipes/addition/run.sh [options]
#
#   --out FOLDER   where everything is made (default build/recipes/addition); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run, with fewer examples and a smaller model, in OUT-short
#
# The data is made by addition.py. Sums are learnt least digit first, and turned again when they are shown. At the end, the
# share of right sums among those that the training did not have, in a table.
task=addition
# shellcheck source=SCRIPTDIR/../common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
recipe_options "$@"
need_tool

if ((short)); then
  train=10000 dev=200 test=1000
  settings=(--embed 32 --hidden 64 --epochs 8 --batch 32 --rate 0.005)
  floor=90
else
  train=55000 dev=2000 test=10000
  settings=(--embed 32 --hidden 64 --epochs 12 --batch 64 --rate 0.004 --decay-patience 1)
  floor=99
fi

made train.tsv python3 "$here/addition.py" pairs train "$train"
made dev.tsv python3 "$here/addition.py" pairs dev "$dev"
made test.tsv python3 "$here/addition.py" pairs test "$test"
trained model --data train.tsv --validation dev.tsv --tokens characters --encoder bidirectional --layers 1 --dropout 0 \
  "${settings[@]}"

made dev.txt bahdanau evaluate --model model.safetensors --data dev.tsv --metric exact
made test.txt bahdanau evaluate --model model.safetensors --data test.tsv --metric exact
cut -f 1 test.tsv >sources.txt
made answers.txt bahdanau translate --model model.safetensors <sources.txt
made table.txt python3 "$here/addition.py" table test.tsv answers.txt

python3 "$here/addition.py" show test.tsv answers.txt 3
grep '^exact' dev.txt | sed 's/^/dev\t/'
grep '^exact' test.txt | sed 's/^/test\t/'
echo
cat table.txt
at_least "$floor" "$(awk -F '\t' '/^exact/ { print $2 }' test.txt)" '% exact on the test set'
