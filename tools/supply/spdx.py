#!/usr/bin/env python3
"""Writes the list of the libraries inside libhipops.so, in SPDX 2.3.

    spdx.py --output FILE --library FILE --version X.Y.Z --compiler NAME --json VERSION
            [--boost HEADER] [--zstd HEADER] [--device-libs VERSION] [--cuda VERSION]

The document's date is SOURCE_DATE_EPOCH, or the date of the library file.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import sys

GCC_LICENSE = "GPL-3.0-or-later WITH GCC-exception-3.1"


def digest(path, name):
    with open(path, "rb") as file:
        return hashlib.new(name, file.read()).hexdigest()


def package(name, version, license, where, about, copyright="NOASSERTION"):
    return {"SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": where, "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license,
            "copyrightText": copyright, "comment": about}


def boost_version(header):
    with open(header, encoding="utf-8") as file:
        return re.search(r'#define BOOST_LIB_VERSION "(\w+)"', file.read()).group(1).replace("_", ".")


def zstd_version(header):
    with open(header, encoding="utf-8") as file:
        text = file.read()
    return ".".join(re.search(rf"#define ZSTD_VERSION_{part} +(\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "RELEASE"))


def linked(options):
    """The libraries inside libhipops.so."""
    parts = [package("libstdc++", options.compiler, GCC_LICENSE, "https://gcc.gnu.org", "linked statically"),
             package("libgcc", options.compiler, GCC_LICENSE, "https://gcc.gnu.org", "linked statically"),
             package("glibc (libc_nonshared)", "NOASSERTION", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc",
                     "the part of the C library that every program and library has in itself, with start files; the "
                     "rest of it is not inside")]
    parts.append(package("nlohmann_json", options.json, "MIT", "https://github.com/nlohmann/json", "compiled in: reads tuning files"))
    if options.boost:
        parts.append(package("Boost.Context", boost_version(options.boost), "BSL-1.0", "https://www.boost.org",
                             "linked statically: the CPU runtime's fibers"))
    if options.zstd:
        parts.append(package("zstd", zstd_version(options.zstd), "BSD-3-Clause", "https://github.com/facebook/zstd",
                             "linked statically: unpacks the AMD code objects"))
    if options.device_libs:
        parts.append(package("ROCm-Device-Libs", options.device_libs, "NCSA", "https://github.com/ROCm/llvm-project",
                             "functions of it (ocml) are in the AMD code objects"))
    if options.cuda:
        parts.append(package("NVIDIA libdevice", options.cuda, "NOASSERTION",
                             "https://developer.nvidia.com/cuda-toolkit",
                             "functions of it are in the NVIDIA code; under the CUDA Toolkit's agreement"))
    return parts


def document(options):
    date = os.environ.get("SOURCE_DATE_EPOCH", os.path.getmtime(options.library))
    created = datetime.datetime.fromtimestamp(int(float(date)), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    hipops = package("hipops", options.version, "MIT", "NOASSERTION",
                     "HIP kernels for neural networks behind a thin C ABI", "Copyright (c) 2026 the hipops authors")
    library = {"SPDXID": "SPDXRef-File-libhipops.so",
               "fileName": "./lib/" + os.path.basename(os.path.realpath(options.library)), "fileTypes": ["BINARY"],
               "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
               "checksums": [{"algorithm": name.upper(), "checksumValue": digest(options.library, name)}
                             for name in ("sha1", "sha256")]}
    parts = linked(options)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", hipops["SPDXID"]),
                 (library["SPDXID"], "GENERATED_FROM", hipops["SPDXID"])]
    relations += [(library["SPDXID"], "STATIC_LINK", part["SPDXID"]) for part in parts]
    sha256 = digest(options.library, "sha256")
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "hipops-" + options.version,
            "documentNamespace": f"https://spdx.org/spdxdocs/hipops-{options.version}-{sha256}",
            "creationInfo": {"created": created, "creators": ["Tool: hipops-tools-supply-spdx.py"]},
            "packages": [hipops] + parts, "files": [library],
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("output", "library", "version", "compiler", "json"):
        parser.add_argument("--" + name, required=True)
    for name in ("boost", "zstd", "device-libs", "cuda"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(document(options), file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
