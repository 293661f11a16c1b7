#!/usr/bin/env bash
# page_example.sh SOURCE LIBRARY_FOLDER PAGE LANGUAGE PRINTS COMPILER ARGUMENT...: the first example in LANGUAGE (c,
# cpp) on PAGE compiles without a warning, runs, and prints PRINTS.
set -euo pipefail
source=$1 library=$2 page=$3 language=$4 prints=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk -v begin="^\`\`\`$language\$" '$0 ~ begin && !done { inside = 1; next } /^```/ { done = done || inside; inside = 0 } inside' "$source/$page" > "$folder/example.$language"
"$@" -Wall -Wextra -Werror "$folder/example.$language" -I "$source/include" -L "$library" -lhipops -Wl,-rpath,"$library" -o "$folder/example"
printed=$("$folder/example")
[ "$printed" = "$prints" ] || { echo "$page: printed '$printed', expected '$prints'"; exit 1; }
