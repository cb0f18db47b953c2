#!/usr/bin/env bash
# Inflection: a lemma and features become a form, Haus with case=DAT,num=PL Häusern; German, Turkish, Hungarian and Finnish.
#
#   recipes/inflection/run.sh [options]
#
#   --models N     train N models of each language, of N seeds, and let them answer together, too (default 1)
#   --data FOLDER  has sigmorphon2016/german-train.tsv, ... (default BAHDANAU_DATA_DIR)
#   --out FOLDER   where everything is made (default build/recipes/inflection); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run: half of the Turkish data and a small model, in OUT-short
#
# At the end, the share of right forms on dev and test set for each language, in a table. Beside it that of a rule without
# learning: the lemma with the ending that its features have most often.
task=inflection
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
own_option=--models models=1
recipe_options "$@"
need_data sigmorphon2016/{german,turkish,hungarian,finnish}-{train,dev,test}.tsv
need_tool

languages=(german turkish hungarian finnish)
settings=(--architecture nematus --no-tied --layers 2 --hidden 128 --embed 64 --dropout 0.3 --embedding-dropout 0.2
  --label-smoothing 0.1 --batch 64 --rate 0.003 --clip 6.4 --epochs 50 --best-by exact --decay-patience 3
  --patience 12)
every=1 last=5 search=(--beam 5)
declare -A floor=([german]=94 [turkish]=98 [hungarian]=98.5 [finnish]=94)
if ((short)); then
  languages=(turkish)
  settings=(--architecture nematus --no-tied --layers 1 --hidden 64 --embed 32 --batch 16 --rate 0.004 --epochs 6)
  every=2 last=1 search=(--beam 1)
  floor=([turkish]=50)
fi

# pairs set options... : the pairs of the language's set.
pairs() {
  local file=$data/sigmorphon2016/$language-$1.tsv
  shift
  python3 "$here/pairs.py" "$file" "$@"
}
# exact name files : the share of right forms on dev and test set, of one model or several together.
exact() {
  local set
  for set in dev test; do
    made "$1-$set.txt" bahdanau evaluate --model "$2" --data "$language-$set.tsv" --metric exact "${search[@]}"
  done
}

for language in "${languages[@]}"; do
  known=$data/sigmorphon2016/$language-train.tsv
  made "$language-train.tsv" pairs train --every "$every"
  # Up to a third of the lines of a dev set are in the training set, too. Those say nothing.
  made "$language-dev.tsv" pairs dev --without "$known"
  made "$language-test.tsv" pairs test
  made "$language-endings-dev.txt" pairs dev --without "$known" --endings
  made "$language-endings-test.txt" pairs test --without "$known" --endings
  together=
  for ((seed = 1; seed <= models; ++seed)); do
    name=$language-$seed
    trained "$name" --data "$language-train.tsv" --validation "$language-dev.tsv" --tokens none --case keep \
      --min-frequency 1 --seed "$seed" --keep "$last" "${settings[@]}"
    averaged "$name" "$last"
    exact "$name" "$name-mean.safetensors"
    together+=${together:+,}$name-mean.safetensors
  done
  ((models == 1)) || exact "$language-together-$models" "$together"
done

# row language name : a line of the table.
row() {
  local set
  printf '%-10s %-11s' "$1" "$2"
  for set in dev test; do
    awk -F '\t' '$1 == "exact match" { printf "  %6.2f %-15s", $2, $3 } NF == 1 { printf "  %6.2f %-15s", $1, "" }' "$1-$2-$set.txt"
  done
  echo
}
printf '%-10s %-11s  %6s %-15s  %6s\n' '% right' '' dev '' test
for language in "${languages[@]}"; do
  row "$language" endings
  for ((seed = 1; seed <= models; ++seed)); do row "$language" "$seed"; done
  ((models == 1)) || row "$language" "together-$models"
done
for language in "${languages[@]}"; do
  at_least "${floor[$language]}" "$(awk -F '\t' '$1 == "exact match" { print $2 }' "$language-1-test.txt")" "% of $language test forms right"
done
