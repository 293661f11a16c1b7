#!/usr/bin/env bash
# objdump_once.sh OPTION... FILE: what llvm-objdump ($OBJDUMP) prints, kept in $KEPT for whoever asks it again of the same
# bytes: a dozen tests disassemble each code object, which takes up to a third of their time.
set -euo pipefail
code=$(sha256sum < "${@: -1}")
options=${*:1:$#-1}
kept=$KEPT/${code%% *}${options// /}.zst
if [ ! -f "$kept" ]; then
  mkdir -p "$KEPT"
  find "$KEPT" -type f -mtime +6 -delete || true  # of code objects that have been built anew since
  part=$(mktemp "$KEPT/part-XXXXXX")
  trap 'rm -f "$part"' EXIT
  "$OBJDUMP" "$@" | zstd -q -1 > "$part"
  mv "$part" "$kept"
fi
zstd -q -d -c "$kept"
