#!/usr/bin/env bash
# same_code.sh OBJECT COMPILE... -- ASSEMBLE...: OBJECT, which was assembled of another target's assembly, is to the byte
# what ASSEMBLE makes of the assembly that COMPILE writes for the target itself.
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
