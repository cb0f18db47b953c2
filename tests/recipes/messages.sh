#!/usr/bin/env bash
# messages.sh tool folder recipes/*/run.sh... : what a recipe says, in one sentence, when it cannot begin.
set -euo pipefail

tool=$1 out=$2/messages
shift 2
root=$(cd "$(dirname "$1")/../.." && pwd)
rm -rf "$out"*

# expect code pattern command... : that exit code, and a first line on standard error that has the pattern.
expect() {
  local code=0 expected=$1 pattern=$2 first
  shift 2
  "$@" >"$out.stdout" 2>"$out.stderr" || code=$?
  read -r first <"$out.stderr" || first=
  if ((code != expected)) || [[ $first != *$pattern* ]]; then
    echo "$*: expected exit code $expected and $pattern, got $code and: $(cat "$out.stderr")" >&2
    exit 1
  fi
}
# one_line : that nothing else was said.
one_line() {
  if [[ $(wc -l <"$out.stderr") != 1 || -s $out.stdout ]]; then
    echo "expected one sentence, got: $(cat "$out.stdout" "$out.stderr")" >&2
    exit 1
  fi
}

for recipe in "$@"; do
  bash -n "$recipe"
  bash "$recipe" --help >"$out.stdout"
  if ! grep -q -- --short "$out.stdout" || grep -q '^#\|^task=\|^source' "$out.stdout"; then
    echo "$recipe --help: expected what it does and its options, got: $(cat "$out.stdout")" >&2
    exit 1
  fi
  expect 2 'got --shrot' bash "$recipe" --out "$out" --tool "$tool" --shrot
  if grep -q need_data "$recipe"; then
    expect 2 "no such folder/" bash "$recipe" --out "$out" --tool "$tool" --data "$out/no such folder"
    one_line
    expect 77 "no such folder/" bash "$recipe" --out "$out" --tool "$tool" --data "$out/no such folder" --short
    one_line
  fi
done
expect 2 'no such file.tsv: not there' bash "$(dirname "$1")/../headlines/run.sh" --out "$out" --tool "$tool" \
  --pairs 'no such file.tsv'
one_line

# A recipe of one model and a mean, with a tool that only makes files, so that what a model is made of can be changed.
mkdir -p "$out/recipe"
cat >"$out/recipe/run.sh" <<END
# A small one.
task=small
source "$root/recipes/common.sh"
recipe_options "\$@"
trained model --epochs "\$EPOCHS" --keep 2
averaged model 2
at_most 5.5 "\${RATE-5.5}" '% errors'
at_least 80 "\${SHARE-80}" '% right'
END
cat >"$out/tool" <<'END'
#!/usr/bin/env bash
[[ $1 != average ]] || exec touch mean
touch model.safetensors
for ((epoch = 1; epoch <= TRAINED; ++epoch)); do
  ((epoch + 2 <= TRAINED || epoch == ${LOST:-0})) || touch "model.epoch-$epoch.safetensors"
done
END
chmod +x "$out/tool"
small() { env "$@" bash "$out/recipe/run.sh" --out "$out/small" --tool "$out/tool"; }

expect 0 '' small EPOCHS=12 TRAINED=12
expect 0 '' small EPOCHS=12 TRAINED=12
expect 1 "model in $(cd "$out/small" && pwd) is not of this recipe's settings, which model.settings would have; remove that" \
  small EPOCHS=13 TRAINED=13
one_line
rm "$out/small/model.settings"
expect 1 "is not of this recipe's settings" small EPOCHS=12 TRAINED=12
one_line
# A floor and a ceiling, with a figure on the wrong side, and without one.
rm -r "$out/small"
expect 1 'expected at most 5.5 % errors, got 10.2' small EPOCHS=12 TRAINED=12 RATE=10.2
expect 1 'expected at least 80 % right, got 9.9' small EPOCHS=12 TRAINED=12 SHARE=9.9
expect 1 'expected at most 5.5 % errors, got nothing' small EPOCHS=12 TRAINED=12 RATE=
one_line
# Early stopping, also before there are as many as are kept; and models of epochs that are gone.
for trained in 1 2 9 10; do
  rm -r "$out/small"
  expect 0 '' small EPOCHS=12 TRAINED=$trained
done
for lost in 9 10; do
  rm -r "$out/small"
  expect 1 "expected the models of the last 2 epochs, model.epoch-*.safetensors in $(cd "$out" && pwd)/small, got model.epoch-" \
    small EPOCHS=12 TRAINED=10 LOST=$lost
  one_line
done
rm -r "$out/small"
expect 1 "got none; remove that folder" small EPOCHS=12 TRAINED=1 LOST=1
one_line
