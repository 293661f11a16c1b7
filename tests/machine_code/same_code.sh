#!/usr/bin/env bash
# same_code.sh OBJECT COMPILE... -- ASSEMBLE...: OBJECT was assembled from another target's assembly. COMPILE writes the
# target's own assembly, and ASSEMBLE assembles it. Both objects must have the same bytes.
set -euo pipefail
object=$1
shift
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
compile=()
while [ "$1" != -- ]; do compile+=("$1"); shift; done
shift
"${compile[@]}" -S -o "$folder/own.s"
"$@" "$folder/own.s" "$folder/own.co"
cmp "$object" "$folder/own.co"
