#!/usr/bin/env python3
"""test_spdx.py SPDX LIBRARY MAP: SPDX is a document of SPDX 2.3, describes LIBRARY, and names all libraries that the
linker added."""

import copy
import hashlib
import json
import os
import re
import sys

# The owner of an archive, or of an object file that no target of hipops made.
GLIBC = "glibc (libc_nonshared)"
OWNERS = {"libstdc++.a": "libstdc++", "libgcc.a": "libgcc", "libgcc_eh.a": "libgcc", "crtbeginS.o": "libgcc",
          "crtendS.o": "libgcc", "libboost_context.a": "Boost.Context", "libzstd.a": "zstd", "libc_nonshared.a": GLIBC,
          "libpthread_nonshared.a": GLIBC, "crti.o": GLIBC, "crtn.o": GLIBC}
LICENSES = {"MIT", "BSL-1.0", "BSD-3-Clause", "NCSA", "LGPL-2.1-or-later", "GPL-3.0-or-later WITH GCC-exception-3.1", "NOASSERTION"}


def check_form(document):
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    assert document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"]
    assert re.fullmatch(r"https://[^#\s]+", document["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Organization|Person): .", creator) for creator in document["creationInfo"]["creators"])
    ids = [element["SPDXID"] for element in document["packages"] + document["files"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in ids), ids
    for part in document["packages"]:
        assert part["name"] and part["versionInfo"] and part["downloadLocation"] and part["copyrightText"], part
        assert part["filesAnalyzed"] is False and {part["licenseConcluded"], part["licenseDeclared"]} <= LICENSES, part
    for relation in document["relationships"]:
        assert relation["relationshipType"] in ("DESCRIBES", "GENERATED_FROM", "STATIC_LINK"), relation
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids) | {"SPDXRef-DOCUMENT"}, relation
    assert sum(relation["relationshipType"] == "DESCRIBES" for relation in document["relationships"]) == 1
    # The specification allows no file in a package with filesAnalyzed false.


def check_library(document, library):
    (file,) = document["files"]
    with open(library, "rb") as stream:
        content = stream.read()
    assert file["fileName"] == "./lib/" + os.path.basename(os.path.realpath(library)), file["fileName"]
    sums = {each["algorithm"]: each["checksumValue"] for each in file["checksums"]}
    assert sums == {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()}, sums


def check_parts(document, path):
    """GNU ld prints LOAD for each file that it reads. Before that it lists the members of archives that it uses."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    linked = set(re.findall(r"^(\S+\.a)\(", text.split("Discarded input sections")[0], flags=re.M))
    linked |= {name for name in re.findall(r"^LOAD (\S+\.o)$", text, flags=re.M) if not re.search(r"\.dir/", name)}
    linked = {os.path.basename(name) for name in linked}
    assert "libstdc++.a" in linked, f"the map is not understood: {sorted(linked)}"
    listed = {part["name"] for part in document["packages"]}
    for name in sorted(linked):
        assert OWNERS.get(name) in listed, f"{name} is inside, and the list doesn't say so: {sorted(listed)}"
    return sorted(linked)


def expect_refused(document, library, path):
    """Documents with one error each."""
    def without_package(d): d["packages"] = [part for part in d["packages"] if part["name"] != "libstdc++"]
    def other_library(d): d["files"][0]["checksums"][0]["checksumValue"] = "0" * 40
    def other_version(d): d["spdxVersion"] = "SPDX-2.1"
    def dangling(d): d["relationships"][-1]["relatedSpdxElement"] = "SPDXRef-Nothing"
    for spoil in (without_package, other_library, other_version, dangling):
        wrong = copy.deepcopy(document)
        spoil(wrong)
        try:
            check(wrong, library, path)
        except AssertionError:
            continue
        raise SystemExit(f"{spoil.__name__} went unseen")


def check(document, library, path):
    check_form(document)
    check_library(document, library)
    return check_parts(document, path)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    print("linked:", ", ".join(check(document, *sys.argv[2:])))
    print("listed:", ", ".join(f"{part['name']} {part['versionInfo']}" for part in document["packages"]))
    expect_refused(document, *sys.argv[2:])


if __name__ == "__main__":
    main()
