/// Reads a client's WebSocket frames from the bytes of its connection and puts messages together (RFC 6455 section 5).
///
///      0               1               2 ..
///     +-+-+-+-+-------+-+-------------+-------------------+-----------+---------+
///     |F|R|R|R| opcode|M| length      | extended length   | masking   | payload |
///     |I|S|S|S|       |A|  7 bits     | 16 (126) or 64    | key       | XORed   |
///     |N|V|V|V|  4    |S|             | bits (127)        | 4 bytes   | with it |
///     +-+-+-+-+-------+-+-------------+-------------------+-----------+---------+
///
/// libsoup's own reader limits a frame but not a message of many fragments, and tells nobody of either, so the frames are read
/// here; libsoup makes the handshake. No extension is agreed on, so the reserved bits are zero.
struct WebSocketDecoder {
    /// What a client sent.
    enum Event: Equatable {
        /// A whole message, text or binary.
        case message([UInt8])
        case ping([UInt8])
        case pong
        /// The client closes; its code, where it gave one.
        case close(UInt16?)
    }

    /// What was wrong; the connection can't go on.
    enum Fault: Error, Equatable {
        /// Against RFC 6455. Closed with 1002.
        case protocolError
        /// Larger than `limit`. Closed with 1009.
        case tooLarge
    }

    private enum Opcode: UInt8 {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xA

        var isControl: Bool { rawValue >= 0x8 }
    }

    private struct Header {
        let isFinal: Bool
        let opcode: Opcode
        let length: Int
        let key: [UInt8]
        /// How many bytes the header itself has.
        let size: Int
    }

    /// Each costs us something, also an empty one.
    private static let mostFragments = 1024

    /// The most that a message may have, all fragments together.
    var limit: Int
    private var buffer: [UInt8] = []
    /// What of it has been read: cut off once for many frames.
    private var start = 0
    private var fragmentCount = 0
    /// The fragments so far, where a message has begun.
    private var message: [UInt8]?

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes as they come. They are kept until `next` has made a frame of them, and none is longer than `limit`.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next event, or nil when more bytes are needed.
    mutating func next() throws(Fault) -> Event? {
        while let header = try header() {
            let from = start + header.size
            guard buffer.count - from >= header.length else { return nil }
            var payload = Array(buffer[from..<from + header.length])
            for index in payload.indices { payload[index] ^= header.key[index & 3] }
            start = from + header.length
            if let event = try take(payload, header) { return event }
        }
        return nil
    }

    private func header() throws(Fault) -> Header? {
        let count = buffer.count - start
        guard count >= 2 else { return nil }
        let (first, second) = (buffer[start], buffer[start + 1])
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F), second & 0x80 != 0 else {
            throw .protocolError
        }
        let isFinal = first & 0x80 != 0
        var length = UInt64(second & 0x7F)
        let extended = length == 126 ? 2 : length == 127 ? 8 : 0
        guard !opcode.isControl || (isFinal && extended == 0) else { throw .protocolError }
        guard count >= 2 + extended else { return nil }
        if extended > 0 {
            length = buffer[start + 2..<start + 2 + extended].reduce(0) { $0 << 8 | UInt64($1) }
        }
        // What has come of the message counts as well, before room is made for more.
        let soFar = opcode.isControl ? 0 : message?.count ?? 0
        guard length <= UInt64(limit), soFar + Int(length) <= limit else { throw .tooLarge }
        let size = 2 + extended + 4
        guard count >= size else { return nil }
        let key = Array(buffer[start + size - 4..<start + size])
        return Header(isFinal: isFinal, opcode: opcode, length: Int(length), key: key, size: size)
    }

    private mutating func take(_ payload: [UInt8], _ header: Header) throws(Fault) -> Event? {
        switch header.opcode {
        case .text, .binary:
            guard message == nil else { throw .protocolError }
            guard !header.isFinal else { return .message(payload) }
            fragmentCount = 1
            message = payload
            return nil
        case .continuation:
            guard var whole = message else { throw .protocolError }
            message = nil
            whole.append(contentsOf: payload)
            guard !header.isFinal else { return .message(whole) }
            fragmentCount += 1
            guard fragmentCount <= Self.mostFragments else { throw .tooLarge }
            message = whole
            return nil
        case .ping: return .ping(payload)
        case .pong: return .pong
        case .close:
            guard payload.count != 1 else { throw .protocolError }
            return .close(payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil)
        }
    }
}

/// A frame from the server, which is whole and unmasked.
enum WebSocketFrame {
    static func text(_ text: String) -> [UInt8] { frame(0x1, Array(text.utf8)) }
    static func ping() -> [UInt8] { frame(0x9, []) }
    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(0xA, payload) }

    static func close(_ code: UInt16) -> [UInt8] {
        frame(0x8, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)])
    }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x80 | opcode]
        switch payload.count {
        case 0..<126: bytes.append(UInt8(payload.count))
        case 126..<65536: bytes += [126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
        default:
            bytes.append(127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        return bytes + payload
    }
}
