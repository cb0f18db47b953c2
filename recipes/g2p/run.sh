#!/usr/bin/env bash
# Letters to phones: how English words are said, learnt from CMUdict.
#
#   recipes/g2p/run.sh [options]
#
#   --models N     train N models, of N seeds, and let them answer together, too (default 1)
#   --data FOLDER  has cmudict/train.txt, dev.txt and test.txt (default BAHDANAU_DATA_DIR)
#   --out FOLDER   where everything is made (default build/recipes/g2p); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run: a twelfth of the data and a small model, in OUT-short
#
# At the end, error rates of phones (PER) and of words (WER) on dev and test set, in a table.
task=g2p
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
own_option=--models models=1
recipe_options "$@"
need_data cmudict/{train,dev,test}.txt
need_tool

# Two layers, as dropout acts between them.
settings=(--architecture nematus --no-tied --layers 2 --hidden 256 --embed 128 --dropout 0.2 --embedding-dropout 0.1
  --label-smoothing 0.1 --batch 64 --rate 0.001 --clip 6.4 --epochs 20 --best-by dictionary-wer --decay-patience 1
  --patience 5)
every=1 last=5 search=(--beam 5) floor=77.5 ceiling=5.5
if ((short)); then
  settings=(--architecture nematus --no-tied --hidden 64 --embed 32 --batch 32 --rate 0.004 --epochs 3)
  every=12 last=1 search=(--beam 1)
  floor=25 ceiling=50 # a table that has one phone for each letter: 2 % of these words
fi

# pairs file : word TAB phones, of each line with two spaces between them; some of the lines, if `every` is not 1.
pairs() { sed 's/  /\t/' "$1" | awk -v every="$every" 'NR % every == 0'; }
# unseen : the dev set without words that the training set has, too, said in another way.
unseen() { pairs "$data/cmudict/dev.txt" | awk -F '\t' 'NR == FNR { seen[$1]; next } !($1 in seen)' train.tsv -; }
made train.tsv pairs "$data/cmudict/train.txt"
made dev.tsv unseen
made test.tsv pairs "$data/cmudict/test.txt"

# evaluated files : error rates of one model or several together, on dev and test set, named after the first's name.
evaluated() {
  local set
  for set in dev test; do
    made "$2-$set.txt" bahdanau evaluate --model "$1" --data "$set.tsv" --metric per,dictionary-wer --join-sources \
      "${search[@]}"
  done
}

together=
for ((seed = 1; seed <= models; ++seed)); do
  name=seed-$seed
  trained "$name" --data train.tsv --validation dev.tsv --source-tokens characters --target-tokens none --case keep \
    --min-frequency 1 --seed "$seed" --keep "$last" "${settings[@]}"
  averaged "$name" "$last"
  evaluated "$name-mean.safetensors" "$name"
  together+=${together:+,}$name-mean.safetensors
done
((models == 1)) || evaluated "$together" "together-$models"

# row name : a line of the table.
row() {
  local set
  printf '%-12s' "$1"
  for set in dev test; do
    awk -F '\t' '$1 == "PER" { per = $2 } $1 ~ /WER/ { wer = $2; interval = $3 }
      END { printf "  %5.2f  %5.2f %s", per, wer, interval }' "$1-$set.txt"
  done
  echo
}
printf '%-12s  %5s  %5s %-15s %5s  %5s\n' '%' 'PER' 'WER' 'dev' 'PER' 'WER test'
for ((seed = 1; seed <= models; ++seed)); do row "seed-$seed"; done
((models == 1)) || row "together-$models"
right=$(awk -F '\t' '$1 == "dictionary WER" { print 100 - $2 }' seed-1-test.txt)
at_least "$floor" "$right" '% of the test words right'
at_most "$ceiling" "$(awk -F '\t' '$1 == "PER" { print $2 }' seed-1-test.txt)" '% PER on the test set'
