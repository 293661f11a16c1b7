#!/usr/bin/env bash
# update_readme.sh README.md SUPPORT_MATRIX [--check]: inserts the support matrix, which the program SUPPORT_MATRIX
# prints, between README's markers. With --check it changes nothing, and fails if README has another matrix.
set -euo pipefail
readme=$1 program=$2
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v table="$("$program")" '
  /^<!-- end of support matrix/ { inside = 0 }
  !inside { print }
  /^<!-- support matrix/ { inside = 1; print table }
' "$readme" > "$new"
if [ "${3:-}" = --check ]; then
  diff -u "$readme" "$new" && echo "the support matrix is up to date"
else
  cat "$new" > "$readme"
fi
