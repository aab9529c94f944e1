"""A STUN and TURN server for tests, written from RFC 8489 and RFC 8656 alone: it gives addresses, but relays nothing.

usage: turn_server.py [--secret SECRET] [--user USER:PASSWORD] [--clock SECONDS] [--any-time] [--full] [--tls FILE]

Prints its port, the same for UDP and TCP, and then a line for each address that it gives ("allocated") or gets back
("freed"). --clock is how far its clock is ahead of this machine's. With --full it gives no address. --tls is a
certificate with its key, for TLS on the TCP port.
"""

import argparse
import base64
import hashlib
import hmac
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import zlib

COOKIE = 0x2112A442
REALM = "example.org"
arguments = argparse.ArgumentParser()
arguments.add_argument("--secret")
arguments.add_argument("--user")
arguments.add_argument("--clock", type=int, default=0)
arguments.add_argument("--any-time", action="store_true")
arguments.add_argument("--full", action="store_true")
arguments.add_argument("--tls")
options = arguments.parse_args()
nonces = [os.urandom(8).hex()]
asked = 0


def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def message(kind, identifier, attributes, key=None):
    if key:
        head = struct.pack("!HHI", kind, len(attributes) + 24, COOKIE) + identifier
        attributes += attribute(8, hmac.new(key, head + attributes, "sha1").digest())
    head = struct.pack("!HHI", kind, len(attributes) + 8, COOKIE) + identifier
    return head + attributes + attribute(0x8028, struct.pack("!I", zlib.crc32(head + attributes) ^ 0x5354554E))


def address(peer, identifier):
    host = struct.unpack("!I", socket.inet_aton(peer[0]))[0] ^ COOKIE
    return struct.pack("!BBHI", 0, 1, peer[1] ^ COOKIE >> 16, host)


def parsed(data):
    kind, length, cookie = struct.unpack("!HHI", data[:8])
    if cookie != COOKIE or length + 20 != len(data):
        return None
    found, covered, offset = {}, None, 20
    while offset + 4 <= len(data):
        name, count = struct.unpack("!HH", data[offset : offset + 4])
        if name == 8:
            covered = struct.pack("!HH", kind, offset + 24 - 20) + data[4:offset]
        found.setdefault(name, data[offset + 4 : offset + 4 + count])
        offset += 4 + count + -count % 4
    return kind, data[8:20], found, covered


def password(user):
    if options.user:
        name, word = options.user.split(":", 1)
        return word if name == user else None
    end = user.split(":")[0]
    if not end.isdigit() or (int(end) < time.time() + options.clock and not options.any_time):
        return None
    return base64.b64encode(hmac.new(options.secret.encode(), user.encode(), "sha1").digest()).decode()


def answer(data, peer):
    global asked
    request = parsed(data)
    if request is None:
        return None
    kind, identifier, found, covered = request
    error = kind | 0x110
    quota = attribute(9, struct.pack("!HBB", 0, 4, 86) + b"Allocation Quota Reached")
    if kind == 1:
        if options.full:
            return message(error, identifier, quota)
        return message(0x101, identifier, attribute(0x20, address(peer, identifier)))
    challenge = attribute(0x14, REALM.encode()) + attribute(0x15, nonces[-1].encode())
    refusal = attribute(9, struct.pack("!HBB", 0, 4, 1) + b"Unauthorized") + challenge
    if 6 not in found or covered is None:
        return message(error, identifier, refusal)
    asked += 1
    if asked == 1:
        # The first nonce is too old at once, so that clients have to take a second one.
        nonces.append(os.urandom(8).hex())
        challenge = attribute(0x14, REALM.encode()) + attribute(0x15, nonces[-1].encode())
        return message(error, identifier, attribute(9, struct.pack("!HBB", 0, 4, 38) + b"Stale Nonce") + challenge)
    word = password(found[6].decode())
    if word is None or found.get(0x15) != nonces[-1].encode() or found.get(0x14) != REALM.encode():
        return message(error, identifier, refusal)
    key = hashlib.md5(f"{found[6].decode()}:{REALM}:{word}".encode()).digest()
    if not hmac.compare_digest(hmac.new(key, covered, "sha1").digest(), found[8]):
        return message(error, identifier, refusal)
    if kind == 3 and options.full:
        return message(error, identifier, quota, key)
    if kind == 3 and found.get(0x19) == bytes([17, 0, 0, 0]):
        print("allocated", flush=True)
        lifetime = attribute(0xD, struct.pack("!I", 600))
        relayed = attribute(0x16, address(("192.0.2.9", 50000), identifier))
        return message(0x103, identifier, relayed + lifetime + attribute(0x20, address(peer, identifier)), key)
    if kind == 4 and found.get(0xD) == bytes(4):
        print("freed", flush=True)
        return message(0x104, identifier, attribute(0xD, bytes(4)), key)
    return message(error, identifier, attribute(9, struct.pack("!HBB", 0, 4, 0) + b"Bad Request"), key)


class Stream(socketserver.BaseRequestHandler):
    def handle(self):
        data = b""
        while part := self.request.recv(2048):
            data += part
            while len(data) >= 20 and len(data) >= 20 + struct.unpack("!H", data[2:4])[0]:
                end = 20 + struct.unpack("!H", data[2:4])[0]
                if reply := answer(data[:end], self.client_address):
                    self.request.sendall(reply)
                data = data[end:]


class StreamServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


streams = StreamServer(("127.0.0.1", 0), Stream)
if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.tls)
    streams.socket = context.wrap_socket(streams.socket, server_side=True)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(streams.server_address)
threading.Thread(target=streams.serve_forever, daemon=True).start()
print(streams.server_address[1], flush=True)
while True:
    data, peer = datagrams.recvfrom(2048)
    try:
        reply = answer(data, peer)
    except (struct.error, ValueError, UnicodeDecodeError) as fault:
        print(fault, file=sys.stderr, flush=True)
        continue
    if reply:
        datagrams.sendto(reply, peer)
