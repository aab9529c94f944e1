/// A WebSocket to Firefox (RFC 6455): text messages over loopback.
///
///     +-------------+----------------+--------------------------+--------------------+---------+
///     | FIN, opcode | MASK, length   | extended length, if the  | key, if the frame  | payload |
///     | 1 byte      | 1 byte         | length is 126 or 127     | is a client's      |         |
///     |             |                | 2 or 8 bytes             | 4 bytes            |         |
///     +-------------+----------------+--------------------------+--------------------+---------+
///
/// Use it from one thread at a time. It is closed with the last reference.
final class BiDiSocket: MessageChannel {
    private let stream: ByteStream
    /// The fragments so far of a message that isn't complete.
    private var message: [UInt8] = []

    /// Connects to the Firefox that listens on `port`. Throws `notStarted`, `unexpectedAnswer`, or the errors of
    /// `MessageChannel`.
    init(port: UInt16, until deadline: ContinuousClock.Instant) throws(BrowserError) {
        stream = try ByteStream(port: port)
        let request = [
            "GET /session HTTP/1.1", "Host: 127.0.0.1:\(port)", "Upgrade: websocket", "Connection: Upgrade",
            // The key proves to a client that the server isn't a cache, of which there is none here.
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "\r\n",
        ]
        try stream.send(Array(request.joined(separator: "\r\n").utf8), until: deadline)
        let end = Array("\r\n\r\n".utf8)
        while stream.received.firstRange(of: end) == nil {
            guard try stream.receive(until: deadline) else { throw .deadlineMissed("opening a WebSocket") }
        }
        guard let head = stream.received.firstRange(of: end), stream.received.starts(with: "HTTP/1.1 101 ".utf8) else {
            throw .unexpectedAnswer("no WebSocket: \(String(decoding: stream.received.prefix(200), as: UTF8.self))")
        }
        stream.received.removeSubrange(..<head.upperBound)
    }

    func send(_ message: [UInt8], until deadline: ContinuousClock.Instant) throws(BrowserError) {
        var frame: [UInt8] = [0x81]
        let count = message.count
        switch count {
        case 0..<126: frame.append(0x80 | UInt8(count))
        case 126..<65536: frame += [0x80 | 126, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        default:
            frame.append(0x80 | 127)
            frame += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        // The key protects proxies, of which there is none here. Firefox refuses one of zeros.
        frame += [1, 1, 1, 1]
        frame += message.map { $0 ^ 1 }
        try stream.send(frame, until: deadline)
    }

    func receive(until deadline: ContinuousClock.Instant) throws(BrowserError) -> [UInt8]? {
        while true {
            while let frame = nextFrame() {
                switch frame.first & 0x0F {
                case 0x0, 0x1:
                    message += frame.payload
                    guard frame.first & 0x80 != 0 else { continue }
                    let whole = message
                    message = []
                    return whole
                case 0x8: throw .gone("")
                // Firefox sends no pings.
                default: continue
                }
            }
            guard try stream.receive(until: deadline) else { return nil }
        }
    }

    /// Removes the next frame from the received bytes; nil if it isn't complete.
    private func nextFrame() -> (first: UInt8, payload: [UInt8])? {
        let bytes = stream.received
        guard bytes.count >= 2 else { return nil }
        let start = bytes[1] == 126 ? 4 : bytes[1] == 127 ? 10 : 2
        guard bytes.count >= start else { return nil }
        let length = start == 2 ? Int(bytes[1]) : bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
        guard (0...bytes.count - start).contains(length) else { return nil }
        stream.received = Array(bytes[(start + length)...])
        return (bytes[0], Array(bytes[start..<start + length]))
    }
}
