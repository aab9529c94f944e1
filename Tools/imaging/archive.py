"""Writes a container image with one layer as an OCI image layout (image-layout.md of the OCI image format), in a tar
file that `docker load` also reads. Tools/release/image runs it."""

import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

#: The program's user and files. Sockets are in the volume, too: with a read-only root, nothing else can be written.
CONFIG = {
    "User": "10000:10000",
    "WorkingDir": "/var/lib/screenrelay",
    "Volumes": {"/var/lib/screenrelay": {}},
    "StopSignal": "SIGTERM",
    # An extension of Docker's. Times are in nanoseconds.
    "Healthcheck": {"Test": ["CMD", "screenrelay", "status"], "Interval": 30 * 10**9, "Timeout": 5 * 10**9,
                    "StartPeriod": 10 * 10**9, "Retries": 3},
}
ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
               "XDG_CONFIG_HOME=/etc", "XDG_STATE_HOME=/var/lib", "XDG_RUNTIME_DIR=/var/lib/screenrelay"]
#: The page, and video over UDP and TCP.
PORTS = ["8080/tcp", "8189/tcp", "8189/udp"]
#: Each image's description, command, additional ports, and additional environment. The display's number is one that
#: the machine hardly has: in the machine's network, X clients would reach that display instead, by its abstract socket.
IMAGES = {
    "host": ("Shows screens of other machines to web browsers", ["screenrelay", "host", "--no-qr", "--lan"],
             ["7300/tcp"], []),
    "desktop": ("Shows a virtual display to web browsers, to try ScreenRelay",
                ["start-desktop", "screenrelay", "share", "--no-qr", "--lan"], [], ["DISPLAY=:1000"]),
}


def config(image, version, architecture, time, layer):
    """The image's configuration (config.md); `layer` is the digest of the layer before compression."""
    description, command, ports, environment = IMAGES[image]
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {"title": "screenrelay-" + image, "description": description, "version": version, "created": created,
              "licenses": "GPL-3.0-or-later"}
    return {
        "created": created, "architecture": architecture, "os": "linux",
        "config": {
            **CONFIG, "Entrypoint": command, "Env": ENVIRONMENT + environment,
            "ExposedPorts": {port: {} for port in PORTS + ports},
            "Labels": {"org.opencontainers.image." + name: value for name, value in labels.items()},
        },
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": created, "created_by": "Tools/release/image " + image}],
    }


def compress(source, target):
    """Compresses a file; gives the digest of what it contains."""
    digest = hashlib.sha256()
    with open(source, "rb") as plain, open(target, "wb") as file, gzip.GzipFile("", "wb", 6, file, 0) as packed:
        while data := plain.read(1 << 20):
            digest.update(data)
            packed.write(data)
    return "sha256:" + digest.hexdigest()


class Layout:
    """The tar file, which gets one entry after the other."""

    def __init__(self, path, time):
        self.tar, self.time = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT), time

    def add(self, name, data):
        self._add(name, len(data), io.BytesIO(data))

    def add_json(self, kind, value):
        """Adds an object of a media type as a blob; gives its descriptor (descriptor.md)."""
        data = encoded(value)
        descriptor = {"mediaType": kind, "digest": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data)}
        self.add(place(descriptor), data)
        return descriptor

    def add_file(self, kind, path):
        """Adds a file of a media type as a blob; gives its descriptor."""
        digest, size = hashlib.sha256(), os.path.getsize(path)
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                digest.update(data)
            file.seek(0)
            descriptor = {"mediaType": kind, "digest": "sha256:" + digest.hexdigest(), "size": size}
            self._add(place(descriptor), size, file)
        return descriptor

    def _add(self, name, size, file):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, self.time, 0o644
        self.tar.addfile(entry, file)


def encoded(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def place(descriptor):
    """Where a layout has a blob."""
    return "blobs/" + descriptor["digest"].replace(":", "/")


def main():
    image, version, architecture, root, output = sys.argv[1:]
    time, name = int(os.environ["SOURCE_DATE_EPOCH"]), "localhost/screenrelay-%s:%s" % (image, version)
    oci = "application/vnd.oci.image."
    packed = root + ".gz"
    contents = compress(root, packed)
    layout = Layout(output + ".part", time)
    layer = layout.add_file(oci + "layer.v1.tar+gzip", packed)
    os.remove(packed)
    settings = layout.add_json(oci + "config.v1+json", config(image, version, architecture, time, contents))
    manifest = layout.add_json(oci + "manifest.v1+json", {
        "schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": settings, "layers": [layer]})
    # The name that podman and containerd give to the image.
    manifest["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    layout.add("index.json", encoded({
        "schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": [manifest]}))
    layout.add("oci-layout", encoded({"imageLayoutVersion": "1.0.0"}))
    # For Docker, as `docker save` writes it.
    layout.add("manifest.json", encoded([{
        "Config": place(settings), "RepoTags": [name], "Layers": [place(layer)]}]))
    layout.tar.close()
    os.replace(output + ".part", output)


if __name__ == "__main__":
    main()
