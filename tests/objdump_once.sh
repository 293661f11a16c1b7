#!/usr/bin/env bash
# objdump_once.sh OPTION... FILE: the output of llvm-objdump ($OBJDUMP). It is kept in $KEPT for the next call with the
# same bytes. A dozen tests disassemble each code object, for up to a third of their time.
set -euo pipefail
code=$(sha256sum < "${@: -1}")
options=${*:1:$#-1}
kept=$KEPT/${code%% *}${options// /}.zst
if [ ! -f "$kept" ]; then
  mkdir -p "$KEPT"
  find "$KEPT" -type f -mtime +6 -delete || true  # of older builds
  part=$(mktemp "$KEPT/part-XXXXXX")
  trap 'rm -f "$part"' EXIT
  "$OBJDUMP" "$@" | zstd -q -1 > "$part"
  mv "$part" "$kept"
fi
zstd -q -d -c "$kept"
