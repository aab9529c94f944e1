"""Where the access units of an H.264 byte stream (ITU-T H.264, Annex B) are."""

import dataclasses

SLICE, IDR, SEI, SPS, PPS, DELIMITER = 1, 5, 6, 7, 8, 9


@dataclasses.dataclass
class AccessUnit:
    offset: int
    end: int


def access_units(data):
    """The access units of a stream, one for each picture."""
    units = []
    start = None
    has_slice = False
    position = data.find(b"\0\0\1")
    while position >= 0 and position + 4 < len(data):
        kind = data[position + 3] & 31
        # The zero byte of a four-byte start code belongs to what follows.
        begin = position - 1 if position > 0 and data[position - 1] == 0 else position
        is_slice = kind in (SLICE, IDR)
        # first_mb_in_slice is 0 where its code is the single bit 1 (7.3.3).
        is_first_slice = is_slice and data[position + 4] & 0x80
        if has_slice and (is_first_slice or kind in (SEI, SPS, PPS, DELIMITER)):
            units.append(AccessUnit(start, begin))
            start, has_slice = None, False
        if start is None:
            start = begin
        has_slice = has_slice or is_slice
        position = data.find(b"\0\0\1", position + 3)
    if has_slice:
        units.append(AccessUnit(start, len(data)))
    return units
