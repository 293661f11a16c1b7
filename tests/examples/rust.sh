#!/usr/bin/env bash
# rust.sh PYTHON hipops.rs LIBRARY: builds the Rust example, and has it compute the golden cases of candle-nn's modules.
set -euo pipefail
command -v rustc > /dev/null || { echo "skipped: no rustc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$(dirname "$0")/golden_lines.py" > "$folder/cases.txt"
rustc --edition 2018 -D warnings "$2" -o "$folder/example"
"$folder/example" "$3" "$folder/cases.txt"
