#!/usr/bin/env bash
# rust.sh PYTHON hipops.rs LIBRARY: builds the Rust example with the command in its own comment. Runs it without
# arguments, on golden cases of candle-nn's modules, and with wrong arguments.
set -euo pipefail
command -v rustc > /dev/null || { echo "skipped: no rustc"; exit 77; }
python=$1 source=$(realpath "$2") library=$(realpath -s "$3") here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
die() { echo "rust: $*" >&2; exit 1; }

rustc --edition 2018 -D warnings -O "$source" -C link-arg=-Wl,-rpath,"$(dirname "$library")" -o "$folder/example"
cd "$folder"
./example > alone.txt || die "without arguments it ends with $?"
for op in rms_norm layer_norm softmax rope rope_i rope_thd; do
  grep -q "^$op: at most .* from plain loops$" alone.txt || die "without arguments it says nothing of $op"
done

# fails_with EXPECTED ARGUMENT...: the program prints the message and a usage line, ends with 2, and does not panic.
fails_with() {
  local expected=$1 code=0
  shift
  ./example "$@" > out.txt 2> err.txt || code=$?
  [ "$code" = 2 ] || die "$*: ends with $code, expected 2: $(cat err.txt)"
  grep -q "^usage: " err.txt || die "$*: no usage line: $(cat err.txt)"
  grep -qF -- "$expected" err.txt || die "$*: no '$expected' in: $(cat err.txt)"
}
echo "case rms_norm short" > short.txt
printf 'case rms_norm letters 1e-5\nx 2 1 one\n' > letters.txt
printf 'case rms_norm uneven 1e-5\nx 2 1 1\nat 0 1\nis 1\nwithin 1 1\n' > uneven.txt
touch empty.txt
fails_with /nowhere.so /nowhere.so
fails_with "no option --help" --help
fails_with "3 arguments" "$library" a b
fails_with nowhere.txt "$library" nowhere.txt
fails_with short.txt:1 "$library" short.txt
fails_with "'one'" "$library" letters.txt
fails_with uneven.txt:5 "$library" uneven.txt
fails_with "no case" "$library" empty.txt

rustc --edition 2018 -O "$source" -o "$folder/without_rpath"
./without_rpath "$library" > /dev/null || die "by its path, the library is not found"

code=0
"$python" "$here/golden_lines.py" > cases.txt || code=$?
[ "$code" = 0 ] || exit "$code"
./example "$library" cases.txt
