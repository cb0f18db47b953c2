#!/usr/bin/env bash
# First sentences become titles, from lines of sentence TAB title; without any, a small set of our own to try it.
#
#   recipes/headlines/run.sh [options]
#
#   --pairs FILE   lines of sentence TAB title (default: a small set that headlines.py makes)
#   --out FOLDER   where everything is made (default build/recipes/headlines); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run, with a smaller model, in OUT-short
#
# At the end ROUGE-1, ROUGE-2 and ROUGE-L, F1, in a table, and attention.svg: which words of a sentence the model looked at for
# each word of its title.
task=headlines
own_option=--pairs pairs=
# shellcheck source=SCRIPTDIR/../common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
recipe_options "$@"
[[ -z $pairs || $pairs == /* ]] || pairs=$OLDPWD/$pairs
if [[ -n $pairs && ! -f $pairs ]]; then
  echo "$pairs: not there; --pairs names a file with lines of sentence TAB title" >&2
  exit 2
fi
need_tool

settings=(--embed 64 --hidden 128 --layers 1 --dropout 0.2 --min-frequency 2 --epochs 15 --batch 16 --rate 0.002)
tests=(test hand)
parts() { python3 "$here/headlines.py" own "$1"; }
if [[ -n $pairs ]]; then
  settings=(--embed 128 --hidden 256 --layers 1 --dropout 0.2 --min-frequency 3 --epochs 10 --batch 64 --rate 0.001
    --group-by-length)
  ((!short)) || settings=(--embed 32 --hidden 32 --layers 1 --min-frequency 1 --epochs 3 --batch 8 --rate 0.005 --group-by-length)
  tests=(test)
  parts() { python3 "$here/headlines.py" split "$pairs" "$1"; }
  name=of-$(basename "$pairs")
  mkdir -p "$name"
  cd "$name"
elif ((short)); then
  settings=(--embed 64 --hidden 64 --layers 1 --dropout 0.2 --min-frequency 2 --epochs 8 --batch 16 --rate 0.005)
fi

made train.tsv parts train
made dev.tsv parts dev
trained model --data train.tsv --validation dev.tsv --tokens words_and_marks --encoder bidirectional "${settings[@]}"

# The words that a title has on average: as many of the sentence's first ones are its simplest title.
words=$(cut -f 2 train.tsv | awk '{ words += NF } END { printf "%.0f", words / NR }')
printf '%-8s%-28s%10s%10s%10s\n' set title ROUGE-1 ROUGE-2 ROUGE-L
for set in "${tests[@]}"; do
  made "$set.tsv" parts "$set"
  cut -f 1 "$set.tsv" >"$set.sources.txt"
  made "$set.lead.txt" python3 "$here/headlines.py" lead "$set.tsv" "$words"
  made "$set.evaluate.txt" bahdanau evaluate --model model.safetensors --data "$set.tsv" --beam 5 \
    --metric rouge-1,rouge-2,rouge-l
  made "$set.plain.txt" bahdanau translate --model model.safetensors --beam 5 <"$set.sources.txt"
  made "$set.copied.txt" bahdanau translate --model model.safetensors --beam 5 --replace-unknown <"$set.sources.txt"
  made "$set.rouge.txt" python3 "$here/headlines.py" rouge "$set.tsv" "$set.lead.txt" "$set.plain.txt" "$set.copied.txt"
  while IFS=$'\t' read -r file one two longest; do
    case $file in
      *.lead.txt) name="the first $words words" ;;
      *.plain.txt) name='the model' ;;
      *.copied.txt) name='the model, copying <unk>' ;;
    esac
    printf '%-8s%-28s%10s%10s%10s\n' "$set" "$name" "$one" "$two" "$longest"
  done <"$set.rouge.txt"
done
echo
echo "The model's on the test set, as the tool counts them, with intervals:"
grep '^ROUGE' test.evaluate.txt | cut -f 1-3

# Two implementations, one result.
for set in "${tests[@]}"; do
  tools=$(awk -F '\t' '/^ROUGE/ { printf "%s%s", separator, $2; separator = " " }' "$set.evaluate.txt")
  ours=$(awk -F '\t' '/plain/ { print $2, $3, $4 }' "$set.rouge.txt")
  if [[ $tools != "$ours" ]]; then
    echo "recipes/headlines/run.sh: ROUGE of the tool, $tools, is not that of headlines.py, $ours, on $set.tsv" >&2
    exit 1
  fi
done

sentence='russian defense minister ivanov called sunday for the creation of a joint front for combating global terrorism'
echo
echo "$sentence"
echo "=> $(bahdanau translate --model model.safetensors --beam 5 --replace-unknown <<<"$sentence")"
[[ -e attention.svg ]] || bahdanau plot --model model.safetensors --beam 5 --source "$sentence" --out attention.svg
if [[ -z $pairs ]]; then
  lead=$(awk -F '\t' '/lead/ { print $4 }' test.rouge.txt)
  at_least "$(awk -v lead="$lead" 'BEGIN { print lead + 20 }')" "$(awk -F '\t' '/copied/ { print $4 }' test.rouge.txt)" \
    "ROUGE-L on the test set, 20 above the first words"
fi
