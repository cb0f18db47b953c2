#!/usr/bin/env bash
# check.sh source compiler flags... : compiles `source` without output and judges the result by its first lines.
#
#   // error: a sentence        the file must not compile, and the compiler's first error must end with the sentence;
#   // continued here           a long one goes on in the next comment lines
#   // shows: a text            the file must not compile, and the text must be somewhere in what the compiler prints
#   // compiles                 the file must compile: the control that shows the others fail for the right reason
set -euo pipefail

source=$1
shift

kind='' sentence=''
while IFS= read -r line; do
  case $line in
    '// error: '*) kind=error sentence=${line#'// error: '} ;;
    '// shows: '*) kind=shows sentence=${line#'// shows: '} ;;
    '// compiles'*) kind=compiles ;;
    '// '*) sentence+=" ${line#'// '}" ;;
    *) break ;;
  esac
done <"$source"
if [[ -z $kind || ($kind != compiles && -z $sentence) ]]; then
  echo "$source: expected a first line '// error: <sentence>', '// shows: <text>' or '// compiles'"
  exit 1
fi

status=0
output=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1) || status=$?

if [[ $kind == compiles ]]; then
  ((status == 0)) && exit
  printf '%s\n' "$output"
  echo "$source: expected it to compile"
  exit 1
fi
if ((status == 0)); then
  echo "$source: expected an error, but it compiles"
  exit 1
fi
if [[ $kind == shows ]]; then
  [[ $output == *"$sentence"* ]] && exit
  printf '%s\n' "$output" | head -n 40
  echo "$source: expected the compiler to show: $sentence"
  exit 1
fi
first=$(grep -m 1 'error: ' <<<"$output" || true)
if [[ $first != *"$sentence" ]]; then
  printf '%s\n' "$output" | head -n 40
  echo "$source: expected the first error to end with: $sentence"
  echo "$source: the first error is: $first"
  exit 1
fi
