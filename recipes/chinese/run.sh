#!/usr/bin/env bash
# Translates between English and Chinese, both ways: characters on the Chinese side, words on the English one.
#
#   recipes/chinese/run.sh [options]
#
#   --data FOLDER  has cmn-eng/cmn.txt (default BAHDANAU_DATA_DIR)
#   --out FOLDER   where everything is made (default build/recipes/chinese); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run: small models of short sentences, in OUT-short
#
# At the end, BLEU and chrF of sentences that the training did not have, with their 95 % intervals, in a table, and pictures of
# what the models attended to, en-zh-1.svg and so on, of the pairs in sentences.tsv.
task=chinese
# shellcheck source=recipes/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
recipe_options "$@"
need_data cmn-eng/cmn.txt
need_tool

if ((short)); then
  split=(--pairs 2500 --held-out 150)
  model=(--encoder bidirectional --layers 1 --embed 64 --hidden 64 --rate 0.005 --batch 32 --epochs 12 --min-frequency 1)
  search=(--beam 3)
else
  split=()
  model=(--architecture rnnsearch --layers 1 --embed 256 --hidden 256 --rate 0.001 --batch 64 --clip 6.4 --epochs 20 --min-frequency 2
    --dropout 0 --embedding-dropout 0.3 --variational --label-smoothing 0.1 --best-by chrf --decay-patience 1 --patience 4)
  search=(--beam 5)
fi
# English is read in lower case, which makes fewer words, and written as people do.
english_source=(--source-tokens words_and_marks)
english_target=(--target-tokens words_and_marks --target-case true --target-language english)
chinese_source=(--source-tokens characters)
chinese_target=(--target-tokens characters --target-case keep)

# The pairs the other way round.
turned() { awk -F '\t' -v OFS='\t' '{ print $2, $1 }' "$1"; }

# translated model sources : a translation a line; nothing is `<unk>`.
translated() { bahdanau translate --model "$1" "${search[@]}" --forbid '<unk>' <"$2"; }

made split.txt python3 "$here/split.py" "$data/cmn-eng/cmn.txt" . "${split[@]}"
for part in train dev test; do made "$part-zh-en.tsv" turned "$part.tsv"; done
made test.en cut -f 1 test.tsv
made test.zh cut -f 2 test.tsv

trained en-zh --data train.tsv --validation dev.tsv "${english_source[@]}" "${chinese_target[@]}" "${model[@]}"
trained zh-en --data train-zh-en.tsv --validation dev-zh-en.tsv "${chinese_source[@]}" "${english_target[@]}" "${model[@]}"
made en-zh.out translated en-zh.safetensors test.en
made zh-en.out translated zh-en.safetensors test.zh

if ((short)); then
  # References of other sentences are good Chinese and English, and no translations.
  for files in test.zh:en-zh.out test.en:zh-en.out; do
    references=${files%:*} translations=${files#*:}
    { tail -n +2 "$references" && head -n 1 "$references"; } >"$references.others"
    bahdanau compare --reference "$references" "$references.others" "$translations" --metric chrf |
      awk -F '\t' -v what="$translations" '{
        printf "%s: chrF %s, that of other sentences %s, the difference in %s\n", what, $3, $2, $5
        exit !(substr($5, 2) + 0 > 0) }'
  done
fi

# drawn model picture source [target] : what the model attends to.
drawn() {
  bahdanau plot --model "$1" --source "$3" --out "$2.part" ${4:+--target "$4"} && mv "$2.part" "$2"
}
number=0
while IFS=$'\t' read -r english chinese; do
  number=$((number + 1))
  [[ -e en-zh-$number.svg ]] || drawn en-zh.safetensors "en-zh-$number.svg" "$english" "$chinese"
  [[ -e zh-en-$number.svg ]] || drawn zh-en.safetensors "zh-en-$number.svg" "$chinese" "$english"
done <"$here/sentences.tsv"

# row direction references translations bleu : a row of the table.
row() {
  bahdanau compare --reference "$2" "$3" --metric "$4,chrf" |
    awk -F '\t' -v direction="$1" '{ values = values " | " $2 " " $3 } END { print "| " direction values " |" }'
}
echo "| direction | BLEU | chrF |"
echo "|---|---|---|"
row "English to Chinese, BLEU of characters" test.zh en-zh.out bleu-char
row "Chinese to English, BLEU of 13a" test.en zh-en.out bleu
echo
bahdanau compare --reference test.zh en-zh.out --metric bleu-char,bleu,chrf | cut -f 1,4
echo
# Which word meets which character, by both models.
made links.txt bahdanau align --model en-zh.safetensors --reverse-model zh-en.safetensors --data "$here/sentences.tsv"
python3 "$here/links.py" "$here/sentences.tsv" links.txt
