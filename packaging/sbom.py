#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py DIRECTORY TIME COMPILER: what the archives in the directory contain, where it comes from
and what it needs, as SPDX 2.3, to standard output. The same archives give the same bytes."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from datetime import datetime, timezone
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
RELEASE = dict(line.split("=", 1) for line in (TREE / "RELEASE").read_text().splitlines() if re.match(r"[A-Z]+=", line))
VERSION = RELEASE["TAG"].removeprefix("v")
COPYRIGHT, = re.findall(r"^Copyright .*", (TREE / "LICENSE").read_text(), re.MULTILINE)
SUPPLIER = "Organization: " + re.sub(r"Copyright (\(c\) )?[\d-]+ ", "", COPYRIGHT)
PUBLISHED = not RELEASE["ADDRESS"].endswith(".example")


def digest(algorithm, data):
    return hashlib.new(algorithm, data).hexdigest()


def checksums(*algorithms, data):
    return [{"algorithm": name.upper(), "checksumValue": digest(name, data)} for name in algorithms]


def licences(data):
    """Of the file's own line."""
    return sorted(set(re.findall(r"SPDX-License-Identifier: ([\w.-]+)", data.decode(errors="replace")))) or ["NONE"]


def contents(archive):
    """(path, bytes) of the files, sorted; links are no files."""
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            if member.isfile():
                yield "./" + member.name, tar.extractfile(member).read()


def needed(data):
    """The libraries that a shared library names."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        output = subprocess.run(["readelf", "-dW", file.name], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output)


def outside(identifier, name, version=None):
    """A package of others."""
    package = {"SPDXID": identifier, "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False}
    return {**package, "versionInfo": version} if version else package


class Document:
    def __init__(self):
        self.packages, self.files, self.relationships = [], [], []

    def relate(self, one, kind, other):
        relation = {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
        if relation not in self.relationships:
            self.relationships.append(relation)

    def add_file(self, package, path, data):
        identifier = f"SPDXRef-File-{len(self.files)}"
        self.files.append({
            "SPDXID": identifier, "fileName": path, "checksums": checksums("sha1", "sha256", data=data),
            "licenseConcluded": "MIT", "licenseInfoInFiles": licences(data), "copyrightText": "NOASSERTION",
        })
        self.relate(package, "CONTAINS", identifier)
        return identifier

    def add_needed(self, file, data):
        for library in needed(data):
            identifier = "SPDXRef-Needed-" + library
            if identifier not in (package["SPDXID"] for package in self.packages):
                self.packages.append(outside(identifier, library))
            self.relate(file, "DYNAMIC_LINK", identifier)

    def add_archive(self, identifier, archive, purpose):
        data = archive.read_bytes()
        first = len(self.files)
        package = {
            "SPDXID": identifier, "name": "aspawn", "versionInfo": VERSION, "packageFileName": archive.name,
            "primaryPackagePurpose": purpose, "supplier": SUPPLIER,
            "downloadLocation": RELEASE["ADDRESS"] if PUBLISHED else "NOASSERTION", "filesAnalyzed": True,
            "checksums": checksums("sha256", data=data), "licenseConcluded": "MIT", "licenseDeclared": "MIT",
            "copyrightText": COPYRIGHT,
        }
        self.packages.append(package)
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", identifier)
        for path, content in contents(archive):
            file = self.add_file(identifier, path, content)
            if ".so" in path and content.startswith(b"\177ELF"):
                self.add_needed(file, content)
        files = self.files[first:]
        package["licenseInfoFromFiles"] = sorted({name for file in files for name in file["licenseInfoInFiles"]})
        sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
        package["packageVerificationCode"] = {"packageVerificationCodeValue": digest("sha1", "".join(sums).encode())}

    def text(self, time, source):
        return json.dumps({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"aspawn-{VERSION}",
            "documentNamespace": f"{RELEASE['ADDRESS']}/spdx/{VERSION}/{digest('sha256', source.read_bytes())}",
            "creationInfo": {
                "created": datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": [SUPPLIER, f"Tool: aspawn-sbom-{VERSION}"],
            },
            "packages": self.packages, "files": self.files, "relationships": self.relationships,
        }, indent=1)


def main():
    directory, time, compiler = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    source = directory / f"aspawn-{VERSION}.tar.gz"
    built, = directory.glob(f"aspawn-{VERSION}-linux-*.tar.gz")
    site = directory / f"aspawn-{VERSION}-site.tar.gz"
    document = Document()
    document.add_archive("SPDXRef-Source", source, "SOURCE")
    document.add_archive("SPDXRef-Built", built, "LIBRARY")
    document.add_archive("SPDXRef-Site", site, "OTHER")
    document.relate("SPDXRef-Built", "GENERATED_FROM", "SPDXRef-Source")
    document.relate("SPDXRef-Site", "DOCUMENTATION_OF", "SPDXRef-Built")
    document.packages.append(outside("SPDXRef-Compiler", "compiler", compiler))
    document.relate("SPDXRef-Compiler", "BUILD_TOOL_OF", "SPDXRef-Built")
    print(document.text(time, source))


main()
