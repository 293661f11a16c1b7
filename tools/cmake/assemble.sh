#!/usr/bin/env bash
# assemble.sh CLANG FROM TARGET VERSION ASSEMBLY OBJECT: makes the code object of that version from ASSEMBLY, which was
# compiled for FROM. TARGET's assembly differs from it in names, and in facts about kernels that version 6 has and
# version 4 has not.
set -euo pipefail
clang=$1 from=$2 target=$3 version=$4 text=$5 object=$6
if [ "$target" != "$from" ]; then
  sed -e "/^\t\.amdgcn_target \|^amdhsa\.target:/s/$from/$target/" "$text" > "$object.s"
  text=$object.s
  [ "$version" != 4 ] || sed -i -e '
    /^\t\.amdhsa_code_object_version /s/6/4/
    /^\t\t\.amdhsa_uses_dynamic_stack /d
    /^    \.uniform_work_group_size: /d
    /^    \.uses_dynamic_stack: /d
    /^    \.workgroup_processor_mode: /d
    /^amdhsa\.version:/,$s/- 2/- 1/' "$text"
fi
"$clang" --target=amdgcn-amd-amdhsa "-mcpu=$target" "-mcode-object-version=$version" -Wl,--discard-all "$text" -o "$object"
[ "$target" = "$from" ] || rm "$text"
