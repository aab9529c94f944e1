"""Tests Tools/releasing/sbom.py with small packages: its document has what they and their .buildinfo name, is the same
each time, and is valid for pyspdxtools, the program that the argument names."""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

from sbom import Fault, bill

PACKAGES = {
    "screenrelay": ("amd64", "glib-networking, libavcodec59 (>= 7:5.0), libstdc++6 (>= 5), absent | other"),
    "screenrelay-host": ("all", "procps, screenrelay (>= 0.1.0~deb12u1)"),
    "screenrelay-dbgsym": ("amd64", "screenrelay (= 0.1.0~deb12u1)"),
}
INSTALLED = {"glib-networking": "2.74.0-4", "libavcodec59": "7:5.1.6-0+deb12u1", "libstdc++6": "12.2.0-14+deb12u1",
             "libxml2": "2.9.14+dfsg-1.3~deb12u1", "procps": "2:4.0.2-3"}


def make(folder):
    """Writes the packages and what is built with them."""
    sums = []
    for name, (architecture, depends) in PACKAGES.items():
        root = folder / "roots" / name
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 0.1.0~deb12u1\nArchitecture: {architecture}\nDepends: {depends}\n"
            "Maintainer: Some Body <some@body.example>\nDescription: a test\n of two lines\n")
        file = folder / f"{name}_0.1.0~deb12u1_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, file], check=True, stdout=subprocess.DEVNULL)
        sums.append(f" {hashlib.sha256(file.read_bytes()).hexdigest()} {file.stat().st_size} {file.name}\n")
    installed = ",\n".join(f" {name} (= {version})" for name, version in INSTALLED.items())
    (folder / "screenrelay_0.1.0~deb12u1_amd64.buildinfo").write_text(
        f"Source: screenrelay\nVersion: 0.1.0~deb12u1\nChecksums-Sha256:\n{''.join(sums)}Build-Architecture: amd64\n"
        f'Installed-Build-Depends:\n{installed}\nEnvironment:\n LANG="C.UTF-8"\n SOURCE_DATE_EPOCH="1795780800"\n')
    (folder / "screenrelay_build.txt").write_text(f"Commit: {'0123456789' * 4}\nSwift: 6.3.1\n")


def fails(folder, rights, text):
    """Whether there is no document, because of what `text` says."""
    try:
        bill(folder, "bookworm", rights)
    except Fault as fault:
        return text in str(fault)
    return False


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    make(folder)
    rights = pathlib.Path("debian/copyright").read_text()
    document = bill(folder, "bookworm", rights)
    assert document == bill(folder, "bookworm", rights)
    assert document["documentNamespace"] != bill(folder, "trixie", rights)["documentNamespace"]
    assert document["creationInfo"]["created"] == "2026-11-27T12:00:00Z", document["creationInfo"]
    packages = {package["name"]: package for package in document["packages"]}
    assert set(packages) == {*PACKAGES, "swift", "glib-networking", "libavcodec59", "libstdc++6", "absent", "procps"}
    for package, (architecture, _) in PACKAGES.items():
        file = folder / packages[package]["packageFileName"]
        assert packages[package]["checksums"][0]["checksumValue"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert packages[package]["licenseDeclared"] == "GPL-3.0-or-later"
    assert packages["swift"]["versionInfo"] == "6.3.1"
    assert packages["swift"]["licenseDeclared"] == "Apache-2.0 WITH Swift-exception"
    assert packages["libavcodec59"]["versionInfo"] == INSTALLED["libavcodec59"]
    assert "versionInfo" not in packages["absent"]
    purl = packages["libstdc++6"]["externalRefs"][0]["referenceLocator"]
    assert purl == "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=bookworm", purl
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    relations = {(names.get(one["spdxElementId"]), one["relationshipType"], names[one["relatedSpdxElement"]])
                 for one in document["relationships"]}
    assert relations == {
        *((None, "DESCRIBES", package) for package in PACKAGES),
        ("screenrelay", "STATIC_LINK", "swift"), ("screenrelay", "DYNAMIC_LINK", "libavcodec59"),
        ("screenrelay", "DYNAMIC_LINK", "libstdc++6"), ("screenrelay", "DEPENDS_ON", "glib-networking"),
        ("screenrelay", "DEPENDS_ON", "absent"), ("screenrelay-host", "DEPENDS_ON", "procps"),
        ("screenrelay-host", "DEPENDS_ON", "screenrelay"), ("screenrelay-dbgsym", "DEPENDS_ON", "screenrelay"),
    }, relations

    file = folder / "test.spdx.json"
    file.write_text(json.dumps(document))
    subprocess.run([sys.argv[1], "--infile", file], check=True)
    # The validator finds what is wrong.
    file.write_text(json.dumps({**document, "dataLicense": "GPL-3.0-or-later"}))
    assert subprocess.run([sys.argv[1], "--infile", file], capture_output=True).returncode != 0

    assert fails(folder, rights.replace("License: GPL-3+", "License: Other"), "'Other'")
    assert fails(folder, rights.replace("Runtime", "Other"), "no longer names")
    with open(folder / "screenrelay_0.1.0~deb12u1_amd64.deb", "ab") as package:
        package.write(b"more")
    assert fails(folder, rights, "is not the file")
    (folder / "screenrelay_0.1.0~deb12u1_amd64.deb").unlink()
    assert fails(folder, rights, "has other packages")
