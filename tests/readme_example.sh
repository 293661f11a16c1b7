#!/usr/bin/env bash
# readme_example.sh SOURCE LIBRARY_FOLDER CC: the C example of README.md, as a reader would paste it, compiles without a warning, runs, and prints the
# numbers that a calculator gives: 1 / sqrt(7.5 + 1e-5), 8 / sqrt(43.5 + 1e-5).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$1/README.md" > "$folder/example.c"
"$3" -std=c99 -Wall -Wextra -Werror "$folder/example.c" -I "$1/include" -L "$2" -lhipops -Wl,-rpath,"$2" -o "$folder/example"
printed=$("$folder/example")
[ "$printed" = "0.365148 1.212957" ] || { echo "printed '$printed', expected '0.365148 1.212957'"; exit 1; }
