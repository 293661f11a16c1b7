#!/bin/sh
# check_elf.sh LIBRARY ARCHIVE [hardened]: checks the contents of libhipops.so that the loader uses, and the code that
# runs at load.
set -eu
library=$1
archive=$2
failed=0

# expect PROPERTY COMMAND...: the command succeeds.
expect() {
  what=$1
  shift
  if ! "$@"; then
    echo "$library: does not hold: $what" >&2
    failed=1
  fi
}
has() { printf '%s\n' "$1" | grep -Eq -- "$2"; }
lacks() { ! has "$1" "$2"; }

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
needed=$(printf '%s\n' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
others=$(printf '%s\n' "$needed" |
  grep -Ev '^(libc|libm|libpthread|libdl)\.so\.[0-9]+$|^ld-linux.*\.so\.[0-9]+$' || true)

expect "needs libc" has "$needed" '^libc\.so'
expect "needs nothing but libc's libraries, but: $others" [ -z "$others" ]
expect "has the SONAME libhipops.so.0" has "$dynamic" '\(SONAME\).*\[libhipops\.so\.0\]'
expect "is bound at load (BIND_NOW)" has "$dynamic" '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW'
expect "has no path of the building machine" lacks "$dynamic" '\((RPATH|RUNPATH)\)'
expect "needs no relocation of its code" lacks "$dynamic" '\(TEXTREL\)|\(FLAGS\).*TEXTREL'
expect "has RELRO" has "$segments" 'GNU_RELRO'
expect "says that its stack is not executable" has "$segments" 'GNU_STACK +(0x[0-9a-f]+ +){5}RW +'
expect "has no segment that is writable and executable" lacks "$segments" 'LOAD +(0x[0-9a-f]+ +){5}RWE'
expect "has no unique symbols, which two copies would share" lacks "$(readelf --dyn-syms -W "$library")" ' UNIQUE '
expect "stays where it is when it is unloaded (NODELETE)" has "$dynamic" '\(FLAGS_1\).*NODELETE'
expect "calls its own functions, not those of another copy" lacks "$(readelf -rW "$library")" ' hipops_'

if [ "${3:-}" = hardened ]; then
  undefined=$(nm -D --undefined-only "$library")
  expect "checks its stack" has "$undefined" ' __stack_chk_fail'
  expect "checks the lengths that it copies and prints" has "$undefined" ' __[a-z]+_chk(@|$)'
fi

# No object file of hipops has code that runs at load. The library's .init_array is not empty: the compiler adds
# frame_dummy, and the static libstdc++ its reserve of memory for exceptions and the destructors of its error
# categories.
expect "the archive's objects have no constructors that run at load" \
  lacks "$(readelf -SW "$archive")" '\.(init_array|ctors|preinit_array)'
expect "the archive was read" has "$(readelf -SW "$archive")" '\.text'
exit $failed
