#!/bin/sh
# man.sh PROGRAM VERSION: makes a man page from the output of --help.
set -eu
name=$(basename "$1")
help=$("$1" --help) || { echo "man.sh: $1 --help ended with $?" >&2; exit 1; }
printf '%s\n' "$help" | awk -v name="$name" -v version="$2" '
  function literal(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return (line ~ /^[.'\'']/ ? "\\&" : "") line
  }
  BEGIN { printf ".TH %s 1 \"\" \"hipops %s\" \"User commands\"\n", toupper(name), version }
  NF == 0 { if (section) print ""; next }
  !described { sub(/\.$/, ""); printf ".SH NAME\n%s \\- %s\n", literal(name), literal($0); described = 1; next }
  /^Usage: / { sub(/^Usage: /, ""); printf ".SH SYNOPSIS\n%s\n", literal($0); next }
  /^[A-Z][A-Za-z ]*:$/ { sub(/:$/, ""); printf "%s.SH %s\n.nf\n", section ? ".fi\n" : "", toupper($0); section = 1; next }
  { print literal($0) }
  END { if (section) print ".fi" }
'
