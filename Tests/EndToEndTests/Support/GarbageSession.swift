import TestSupport
import Testing

/// The parts of a room's link: `http://127.0.0.1:PORT/#ROOM,TOKEN`.
struct RoomLink {
    let port: UInt16
    let room: String
    let token: String

    init?(_ link: String) {
        let parts = link.split(whereSeparator: { ":/#,".contains($0) })
        guard parts.count == 5, let port = UInt16(parts[2]) else { return nil }
        self.port = port
        room = String(parts[3])
        token = String(parts[4])
    }

    /// Opens a WHEP session to which no viewer ever comes, and returns the whole answer.
    func open(port: UInt16) throws -> (text: String, lines: [String]) {
        let offer = [
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=rtcp-mux", "a=ice-ufrag:abcd",
            "a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa",
            "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"), "a=setup:actpass",
            "a=mid:0", "a=recvonly", "a=rtpmap:96 H264/90000",
            "a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", "",
        ].joined(separator: "\r\n")
        let socket = try TestSocket(port: port)
        try socket.send(
            "POST /whep/\(room) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\nConnection: close\r\n"
                + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n\(offer)")
        let text = String(decoding: try socket.readToEnd("the answer"), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 201 "), "\(text)")
        return (text, text.split(whereSeparator: \.isNewline).map(String.init))
    }
}

/// An ICE check with any MESSAGE-INTEGRITY, and a right FINGERPRINT (RFC 8489, section 14).
struct STUNCheck {
    let bytes: [UInt8]

    init(username: String, integrity: [UInt8]) {
        var body: [UInt8] = []
        func append(_ type: UInt16, _ value: [UInt8]) {
            body += [UInt8(type >> 8), UInt8(type & 255), UInt8(value.count >> 8), UInt8(value.count & 255)] + value
            body += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        append(0x0006, Array(username.utf8))
        append(0x0024, [1, 2, 3, 4])
        append(0x802A, [UInt8](repeating: 9, count: 8))
        append(0x0025, [])
        append(0x0008, integrity)
        // The length counts the FINGERPRINT that follows.
        let length = body.count + 8
        var message: [UInt8] = [0, 1, UInt8(length >> 8), UInt8(length & 255), 0x21, 0x12, 0xA4, 0x42]
        message += [UInt8](repeating: 0x33, count: 12) + body
        let sum = Self.crc32(message) ^ 0x5354_554E
        bytes = message + [0x80, 0x28, 0, 4] + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
    }

    /// The CRC-32 of ITU-T V.42.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
