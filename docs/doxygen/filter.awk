# The headers' comments as Doxygen wants them: "/* ---- Title ----" begins a group, with what follows in that comment as
# its text; other comments document what is after them, or before them on the same line.
function close_group() { if (grouped) printf "/** @} */ "; grouped = 0 }
/^\/\* ---- / {
  title = $0
  gsub(/^\/\* ---- | *-*( *\*\/)?$/, "", title)
  close_group()
  id = tolower(title)
  gsub(/[^a-z0-9]+/, "_", id)
  printf "/** @defgroup %s %s", id, title
  grouped = heading = 1
  if ($0 !~ /\*\/$/) { print ""; next }
  $0 = " */"
}
heading && /^ \* -+ \*\/$/ { $0 = " */" }
heading && /\*\/$/ { print $0 " /** @{ */"; heading = 0; next }
/^#endif \/\* HIPOPS/ { close_group() }
/^\/\* hipops: |^\/\* From DLPack/ { sub(/^\/\* /, "/** @file\n * ") }
/^\/\*/ { sub(/^\/\*/, "/**") }
/^(  |#define ).*[^ ].* \/\* / { sub(/ \/\* /, " /**< ") }
{ print }
