#!/usr/bin/env bash
# Translates English to French with subwords, and beside it with words, the same model otherwise.
#
#   recipes/translation/run.sh [options]
#
#   --pairs N      pairs in training (default 140000)
#   --epochs N     passes over them (default 10)
#   --embed N, --hidden N   sizes of both models (default 128 and 256)
#   --subwords N   pieces on either side (default 4000)
#   --data FOLDER  has fra-eng/fra.txt (default BAHDANAU_DATA_DIR)
#   --out FOLDER   where everything is made (default build/recipes/translation); what is there is not made again
#   --tool FILE    the command-line tool (default BAHDANAU_CLI; without it, it is built)
#   --threads N    0 is one per core; the result does not depend on it
#   --short        the form that the tests run: small models of short sentences, in OUT-short
#
# At the end, BLEU of sacrebleu's 13a and chrF of sentences that the training did not have, as people write them, with their 95 %
# intervals, in a table, and the difference of the two models with its own.
task=translation
# shellcheck source=recipes/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

pairs=140000 epochs=10 embed=128 hidden=256 subwords=4000
rest=()
while (($#)); do
  case $1 in
    --pairs | --epochs | --embed | --hidden | --subwords)
      if [[ ! ${2-} =~ ^[1-9][0-9]*$ ]]; then
        echo "recipes/translation/run.sh: $1: expected a number from 1 on, got ${2-none}" >&2
        exit 2
      fi
      declare "${1#--}=$2"
      shift
      ;;
    *) rest+=("$1") ;;
  esac
  shift
done
recipe_options "${rest[@]}"
need_data fra-eng/fra.txt
need_tool

if ((short)); then
  pairs=3000 epochs=8 embed=64 hidden=64 subwords=400
  split=(--held-out 200 --longest 16)
  model=(--encoder bidirectional --layers 1 --rate 0.005 --batch 32)
  last=1 search=(--beam 3)
else
  split=()
  model=(--architecture nematus --layers 1 --rate 0.001 --batch 64 --clip 6.4 --dropout 0 --embedding-dropout 0.1 --variational
    --label-smoothing 0.1 --decay-patience 1)
  last=3 search=(--beam 5)
fi
folder=pairs-$pairs
name=$folder/epochs-$epochs-embed-$embed-hidden-$hidden
mkdir -p "$folder"
model+=(--data "$folder/train.tsv" --validation "$folder/dev.tsv" --group-by-length
  --epochs "$epochs" --embed "$embed" --hidden "$hidden" --keep "$last")

made "$folder/split.txt" python3 "$here/split.py" "$data/fra-eng/fra.txt" "$folder" --pairs "$pairs" "${split[@]}"
made "$folder/test.en" cut -f 1 "$folder/test.tsv"
made "$folder/test.fr" cut -f 2 "$folder/test.tsv"

# The first word of a sentence as inside of sentences: fewer words, and a better model of them.
trained "$name-words" "${model[@]}" --tokens words_and_marks --min-frequency 2 --case true --target-language french
trained "$name-subwords-$subwords" "${model[@]}" --tokens subwords --subwords "$subwords" --case keep

averaged "$name-words" "$last"
averaged "$name-subwords-$subwords" "$last"

# translated model [options] : a translation a line.
translated() { bahdanau translate "${search[@]}" --model "$@" <"$folder/test.en"; }
made "$name-words.out" translated "$name-words-mean.safetensors" --replace-unknown
made "$name-words-unknown.out" translated "$name-words-mean.safetensors"
made "$name-subwords-$subwords.out" translated "$name-subwords-$subwords-mean.safetensors"

references=$folder/test.fr
if ((short)); then
  # References of other sentences are good French, and no translations.
  { tail -n +2 "$references" && head -n 1 "$references"; } >"$folder/others"
  bahdanau compare --reference "$references" "$folder/others" "$name-subwords-$subwords.out" --metric chrf |
    awk -F '\t' '{ printf "subwords: chrF %s, that of other sentences %s, the difference in %s\n", $3, $2, $5
      exit !(substr($5, 2) + 0 > 0) }'
fi

# row label file : a row of the table.
row() {
  local unknown
  unknown=$(grep -c '<unk>' "$2" || true)
  bahdanau compare --reference "$references" "$2" --metric bleu,chrf |
    awk -F '\t' -v label="$1" -v unknown="$unknown" '{ values = values $2 " " $3 " | " }
      END { print "| " label " | " values unknown " |" }'
}
echo "| tokens | BLEU 13a | chrF | sentences with \`<unk>\` |"
echo "|---|---|---|---|"
row "words, \`<unk>\` as it is" "$name-words-unknown.out"
row "words, unknown ones replaced by the source's" "$name-words.out"
row "$subwords subwords" "$name-subwords-$subwords.out"
echo
echo "Subwords less words (replaced), paired bootstrap:"
made "$name-difference-$subwords.txt" bahdanau compare --reference "$references" "$name-words.out" "$name-subwords-$subwords.out" \
  --metric bleu,chrf
awk -F '\t' '{ print $1 ": " $4 " " $5 ", " $6 "; " $7 }' "$name-difference-$subwords.txt"
if ((!short)); then
  at_most 0 "$(grep -c '<unk>' "$name-subwords-$subwords.out" || true)" 'translations with <unk> in subwords'
  at_least 0 "$(awk -F '\t' '$1 == "BLEU" { split($5, ends, /[][, ]+/); print ends[3] }' "$name-difference-$subwords.txt")" \
    "as the upper end of BLEU's difference"
fi
