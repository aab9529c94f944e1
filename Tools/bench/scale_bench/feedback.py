"""What a receiver sees in packets, and what it reports, in bytes: RFC 3550's reports, and transport-wide feedback as
browsers send it (draft-holmer-rmcat-transport-wide-cc-extensions-01)."""

import struct

#: The time of a delta, and of the reference time, in nanoseconds.
DELTA, REFERENCE = 250_000, 64_000_000


def extension(packet, wanted):
    """The two bytes of a header extension of an RTP packet (RFC 8285, one-byte headers) as a number; None without."""
    if not packet[0] & 0x10:
        return None
    place = 12 + 4 * (packet[0] & 15)
    if packet[place:place + 2] != b"\xbe\xde":
        return None
    end = place + 4 + 4 * int.from_bytes(packet[place + 2:place + 4], "big")
    place += 4
    while place < end:
        number, length = packet[place] >> 4, (packet[place] & 15) + 1
        if number == 0:
            place += 1
            continue
        if number == wanted:
            return packet[place + 1] << 8 | packet[place + 2]
        place += 1 + length
    return None


def begins_key_frame(packet):
    """Whether an RTP packet, not encrypted, has the parameters or the beginning of a key frame of H.264 (RFC 6184)."""
    if len(packet) < 14:
        return False
    place = 12 + 4 * (packet[0] & 15)
    if packet[0] & 0x10:
        place += 4 + 4 * int.from_bytes(packet[place + 2:place + 4], "big")
    payload = packet[place:]
    if len(payload) < 4:
        return False
    kind = payload[0] & 31
    if kind == 24:  # several units in one packet
        kind = payload[3] & 31
    elif kind == 28:  # a part of one
        kind = payload[1] & 31 if payload[1] & 0x80 else 0
    return kind in (5, 7)


def transport_feedback(sender, media, count, arrivals):
    """An RTCP packet; `arrivals`: pairs of an unwrapped number and a time in ns, ordered by number."""
    first, last = arrivals[0][0], arrivals[-1][0]
    reference = min(time for _, time in arrivals) // REFERENCE
    times, symbols, deltas, at = dict(arrivals), [], b"", reference * REFERENCE
    for number in range(first, last + 1):
        time = times.get(number)
        if time is None:
            symbols.append(0)
            continue
        ticks = (time - at) // DELTA
        at += ticks * DELTA
        if 0 <= ticks < 256:
            symbols.append(1)
            deltas += bytes((ticks,))
        else:
            symbols.append(2)
            deltas += struct.pack(">h", max(-32768, min(32767, ticks)))
    symbols += [0] * (-len(symbols) % 7)
    chunks = b""
    for start in range(0, len(symbols), 7):
        chunk = 3
        for symbol in symbols[start:start + 7]:
            chunk = chunk << 2 | symbol
        chunks += struct.pack(">H", chunk)
    body = struct.pack(">IIHHI", sender, media, first & 0xFFFF, last - first + 1,
                       (reference & 0xFFFFFF) << 8 | count & 0xFF) + chunks + deltas
    padding = -len(body) % 4
    if padding:
        body += bytes(padding - 1) + bytes((padding,))
    return struct.pack(">BBH", 0x80 | (0x20 if padding else 0) | 15, 205, len(body) // 4) + body


def receiver_report(sender, media, highest, lost, report, since):
    """A compound of a receiver report and a name.

    `report` and `since`: the middle of the last sender report's NTP time, and the time since then in 1/65536 s.
    """
    block = struct.pack(">IIIIII", media, min(lost, 0x7FFFFF), highest & 0xFFFFFFFF, 0, report, since)
    name = b"\x01\x04load\x00\x00"
    return (struct.pack(">BBHI", 0x81, 201, 7, sender) + block
            + struct.pack(">BBHI", 0x81, 202, 1 + len(name) // 4, sender) + name)


def sender_report_time(packet):
    """The middle 32 bits of the NTP time of an RTCP packet that begins with a sender report; None if it doesn't."""
    return struct.unpack(">I", packet[10:14])[0] if len(packet) >= 28 and packet[1] == 200 else None


def unwrap(number, near):
    """The number whose low 16 bits these are and that is nearest to another one."""
    return near + (number - near + 0x8000) % 0x10000 - 0x8000
