"""Writes what went into the Debian packages of a folder, as SPDX 2.3 in JSON: `sbom.py FOLDER RELEASE`, to standard
output. Tools/release/sbom is the command for it.

All of it is read from the folder and from debian/copyright, so the same packages give the same text: Depends of each
.deb, versions and time of the .buildinfo, and the compiler and commit that Tools/release/package has written down.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

#: The names of SPDX for the licences that debian/copyright names.
LICENCES = {
    "GPL-3+": "GPL-3.0-or-later",
    "Apache License 2.0 with the Runtime Library Exception": "Apache-2.0 WITH Swift-exception",
}
#: How debian/copyright calls the licence of what is linked statically.
STATIC_LICENCE = "Apache License 2.0 with the Runtime Library Exception"


class Fault(Exception):
    """Something in the folder, or in debian/copyright, that can't be."""


def fields(text):
    """The fields of a paragraph of a Debian control file. Further lines of a value are joined by line ends."""
    found = re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", text, flags=re.M)
    return {name: "\n".join(line.strip() for line in value.split("\n")).strip() for name, value in found}


def one_file(folder, pattern):
    """The path of the only file that a pattern matches."""
    files = list(folder.glob(pattern))
    if len(files) != 1:
        raise Fault(f"{folder} has {len(files)} files {pattern} instead of one; Tools/release/package builds them")
    return files[0]


def identifier(*words):
    """An identifier of SPDX, which has no other characters than these."""
    return "-".join(["SPDXRef", *(re.sub(r"[^A-Za-z0-9.-]", "-", word) for word in words)])


def package(name, version, key, **more):
    """A package of SPDX. What isn't given isn't known."""
    unknown = {"downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
               "copyrightText": "NOASSERTION"}
    known = {"name": name, "SPDXID": key, "filesAnalyzed": False}
    return {**known, **({"versionInfo": version} if version else {}), **unknown, **more}


def debian_package(name, version, architecture, release):
    """A package of Debian's that a package needs. Its purl is what scanners for vulnerabilities look for."""
    purl = f"pkg:deb/debian/{urllib.parse.quote(name)}"
    if version:
        purl += "@" + urllib.parse.quote(version, safe=":~")
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                 "referenceLocator": f"{purl}?arch={architecture}&distro={release}"}
    return package(name, version, identifier("Debian", name), supplier="Organization: Debian", externalRefs=[reference])


def dependencies(control):
    """The packages that Depends names; of alternatives, the first."""
    return re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9.+-]*)", control.get("Depends", ""))


def bill(folder, release, rights):
    """The document for the packages in `folder`, built for `release`. `rights` is the text of debian/copyright."""
    build = fields(one_file(folder, "*.buildinfo").read_text())
    tools = fields(one_file(folder, "screenrelay_build.txt").read_text())
    installed = dict(re.findall(r"^(\S+) \(= (\S+)\)", build["Installed-Build-Depends"], flags=re.M))
    sums = {name: digest for digest, name in re.findall(r"^(\w+) \d+ (\S+)$", build["Checksums-Sha256"], flags=re.M)}
    epoch = int(re.search(r'^SOURCE_DATE_EPOCH="(\d+)"$', build["Environment"], flags=re.M)[1])

    own = next(found for found in map(fields, rights.split("\n\n")) if found.get("Files") == "*")
    if STATIC_LICENCE not in " ".join(rights.split()):
        raise Fault(f"debian/copyright no longer names the '{STATIC_LICENCE}'")
    if own["License"] not in LICENCES:
        raise Fault(f"the name of SPDX for the licence '{own['License']}' of debian/copyright is not known")

    swift = package("swift", tools["Swift"], identifier("Swift"), downloadLocation="https://www.swift.org/install/",
                    licenseDeclared=LICENCES[STATIC_LICENCE], comment="The toolchain's runtime and standard libraries.")
    packages, relations = {swift["SPDXID"]: swift}, []
    files = sorted(folder.glob("*.deb"))
    if {file.name for file in files} != {name for name in sums if name.endswith(".deb")}:
        raise Fault(f"{folder} has other packages than its .buildinfo names")
    controls = {file: fields(subprocess.check_output(["dpkg-deb", "-f", file], text=True)) for file in files}
    ours = {control["Package"]: identifier("Package", control["Package"]) for control in controls.values()}
    for file, control in controls.items():
        name, key, digest = control["Package"], ours[control["Package"]], hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != sums[file.name]:
            raise Fault(f"{file} is not the file that the .buildinfo names")
        packages[key] = package(
            name, control["Version"], key, packageFileName=file.name, supplier=supplier(control["Maintainer"]),
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}], sourceInfo=f"commit {tools['Commit']}",
            licenseDeclared=LICENCES[own["License"]], copyrightText=f"Copyright {own['Copyright']}")
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", key))
        # Programs are in packages of an architecture. Debug symbols apart from them contain no library.
        if control["Architecture"] != "all" and not name.endswith("-dbgsym"):
            relations.append((key, "STATIC_LINK", swift["SPDXID"]))
        for other in dependencies(control):
            if other not in ours:
                found = debian_package(other, installed.get(other), build["Build-Architecture"], release)
                packages.setdefault(found["SPDXID"], found)
            # Packages of shared libraries, and only they, have such names here (Debian Policy, 8.1).
            kind = "DYNAMIC_LINK" if re.match(r"lib.*\d", other) else "DEPENDS_ON"
            relations.append((key, kind, ours.get(other) or identifier("Debian", other)))

    version = build["Version"]
    content = json.dumps([release, sorted(sums.items())])
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"screenrelay {version} for {release}",
        "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, content).urn,
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: screenrelay-sbom-{version}"]},
        "comment": "Debian's packages have their versions in the build root; where the programs run, others may be.",
        "packages": list(packages.values()),
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


def supplier(maintainer):
    """A supplier of SPDX from `NAME <ADDRESS>`."""
    return "Organization: " + re.sub(r"<(.*)>", r"(\1)", maintainer)


def main():
    folder, release = pathlib.Path(sys.argv[1]), sys.argv[2]
    try:
        document = bill(folder, release, pathlib.Path("debian/copyright").read_text())
    except Fault as fault:
        print(f"Tools/release/sbom: {fault}", file=sys.stderr)
        return 69
    print(json.dumps(document, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
