"""A recording with messages of the largest size, as a host makes it, and what of it is whole at each of its bytes."""

import os
import struct
import subprocess

from .programs import MIB, Failure, Host, Missing

#: The most that a message's payload holds (Protocol/capture-link.md), start code included.
LARGEST = 8 * MIB
#: How many messages of that size there are: one more than may be in memory at once.
LARGE = 3
START_CODE = b"\0\0\0\1"
FILE_HEADER, RECORD_HEADER, MESSAGE_HEADER = 48, 24, 40


def nal_units(folder):
    """SPS, PPS and one slice a picture."""
    path = os.path.join(folder, "in.264")
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=%g" % (LARGE / 25),
               "-c:v", "libx264", "-bf", "0", "-x264-params", "keyint=1", "-pix_fmt", "yuv420p", "-f", "h264", path]
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Missing("ffmpeg can't be started: %s" % error)
    except subprocess.CalledProcessError as error:
        raise Failure("ffmpeg made no stream: %s" % error)
    with open(path, "rb") as file:
        stream = file.read()
    # In front of a start code there may be one more zero.
    units = [unit.rstrip(b"\0") for unit in stream.split(START_CODE[1:])[1:]]
    return [unit for unit in units if unit[0] & 0x1F != 6]


def record(programs, folder, units, is_large):
    """What a host records of a replay of these; slices take as much as a message can hold where `is_large`."""
    stream = os.path.join(folder, "made.264")
    path = os.path.join(folder, "large.srr" if is_large else "small.srr")
    piece = b"\x55" * 65536
    with open(stream, "wb") as file:
        for unit in units:
            file.write(START_CODE + unit)
            missing = LARGEST - len(START_CODE) - len(unit) if is_large and unit[0] & 0x1F == 5 else 0
            while missing > 0:
                missing -= file.write(piece[:missing])
    host = Host(programs, folder, "recorder", ["--record", path])
    try:
        code, _, said = programs.run(["replay", "--speed", "max", "--link", host.address, stream], stream + ".log")
        if code != 0:
            raise Failure("replay ended with %d: %s" % (code, said))
    finally:
        host.stop()
    os.remove(stream)
    return path


class Recording:
    """Where the records of a file end, and what is whole before each."""

    def __init__(self, path):
        self.count = os.path.getsize(path)
        #: For each record: its end, and up to there messages, NAL units, their bytes, pictures.
        self.records = [(FILE_HEADER, 0, 0, 0, 0)]
        with open(path, "rb") as file:
            while self.records[-1][0] < self.count:
                self.records.append(self.after(self.records[-1], file))

    @staticmethod
    def after(record, file):
        start, messages, units, size, pictures = record
        file.seek(start)
        header = file.read(RECORD_HEADER + MESSAGE_HEADER + len(START_CODE) + 1)
        marker, kind, _, length = struct.unpack_from("<HBBI", header)
        if marker != 0x521E:
            raise Failure("no record begins at byte %d of what was recorded" % start)
        if kind == 1:
            messages += 1
            # Kind 0 of the link: a NAL unit.
            if header[RECORD_HEADER + 1] == 0:
                units += 1
                size += length - MESSAGE_HEADER
                pictures += header[-1] & 0x1F == 5
        return start + RECORD_HEADER + length, messages, units, size, pictures

    def whole(self, cut):
        """The last record that ends at or before `cut`; None inside the file's header."""
        return next((record for record in reversed(self.records) if record[0] <= cut), None)
