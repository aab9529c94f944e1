/// Decodes a peer's WebSocket frames from the bytes of its connection and assembles messages (RFC 6455 section 5).
///
/// A client's frames are masked, a server's have no masking key.
///
///      0               1               2 ..
///     +-+-+-+-+-------+-+-------------+-------------------+-----------+---------+
///     |F|R|R|R| opcode|M| length      | extended length   | masking   | payload |
///     |I|S|S|S|       |A|  7 bits     | 16 (126) or 64    | key       | XORed   |
///     |N|V|V|V|  4    |S|             | bits (127)        | 4 bytes   | with it |
///     +-+-+-+-+-------+-+-------------+-------------------+-----------+---------+
///
/// libsoup's own reader limits the size of a frame but not the size of a message with many fragments, and reports
/// neither. So the frames are decoded here, while libsoup performs the handshake. No extension is negotiated, so the
/// reserved bits are zero.
struct WebSocketDecoder {
    /// A message or control frame of the peer.
    enum Event: Equatable {
        /// A whole message, text or binary.
        case message([UInt8])
        case ping([UInt8])
        case pong
        /// The peer closes the connection, with its close code if it gave one.
        case close(UInt16?)
    }

    /// An error after which the connection can't continue.
    enum FrameError: Error, Equatable {
        /// A violation of RFC 6455. The connection is closed with 1002.
        case protocolError
        /// A message larger than `limit`. The connection is closed with 1009.
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
        /// Four bytes, or none in a server's frame.
        let key: [UInt8]
        /// The size of the header itself, in bytes.
        let size: Int
    }

    /// Each fragment has a cost, even an empty one.
    private static let maxFragments = 1024

    /// The largest size of a message with all its fragments, in bytes.
    var limit: Int
    private let isMasked: Bool
    private var buffer: [UInt8] = []
    /// The number of bytes in the buffer that have been decoded. They are removed together for many frames.
    private var start = 0
    private var fragmentCount = 0
    /// The fragments so far of a message that isn't complete; nil if there is none.
    private var message: [UInt8]?

    /// - Parameter isMasked: whether the frames are a client's.
    init(limit: Int, isMasked: Bool = true) {
        self.limit = limit
        self.isMasked = isMasked
    }

    /// Appends received bytes. They are kept until `next` has decoded their frame, which isn't longer than `limit`.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next event, or nil if more bytes are needed.
    mutating func next() throws(FrameError) -> Event? {
        while let header = try header() {
            let from = start + header.size
            guard buffer.count - from >= header.length else { return nil }
            var payload = Array(buffer[from..<from + header.length])
            if isMasked { for index in payload.indices { payload[index] ^= header.key[index & 3] } }
            start = from + header.length
            if let event = try take(payload, header) { return event }
        }
        return nil
    }

    private func header() throws(FrameError) -> Header? {
        let count = buffer.count - start
        guard count >= 2 else { return nil }
        let (first, second) = (buffer[start], buffer[start + 1])
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F), (second & 0x80 != 0) == isMasked
        else { throw .protocolError }
        let isFinal = first & 0x80 != 0
        var length = UInt64(second & 0x7F)
        let extended = length == 126 ? 2 : length == 127 ? 8 : 0
        guard !opcode.isControl || (isFinal && extended == 0) else { throw .protocolError }
        guard count >= 2 + extended else { return nil }
        if extended > 0 {
            length = buffer[start + 2..<start + 2 + extended].reduce(0) { $0 << 8 | UInt64($1) }
        }
        // The part of the message that has arrived counts too, before memory is reserved for more.
        let soFar = opcode.isControl ? 0 : message?.count ?? 0
        guard length <= UInt64(limit), soFar + Int(length) <= limit else { throw .tooLarge }
        let keySize = isMasked ? 4 : 0
        let size = 2 + extended + keySize
        guard count >= size else { return nil }
        let key = Array(buffer[start + size - keySize..<start + size])
        return Header(isFinal: isFinal, opcode: opcode, length: Int(length), key: key, size: size)
    }

    private mutating func take(_ payload: [UInt8], _ header: Header) throws(FrameError) -> Event? {
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
            guard fragmentCount <= Self.maxFragments else { throw .tooLarge }
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

/// Our frames, which are unfragmented. As a server's they are unmasked; `masked` makes them a client's.
enum WebSocketFrame {
    static func text(_ text: String) -> [UInt8] { frame(0x1, Array(text.utf8)) }
    static func ping() -> [UInt8] { frame(0x9, []) }
    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(0xA, payload) }

    static func close(_ code: UInt16) -> [UInt8] {
        frame(0x8, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)])
    }

    /// The frame as a client has to send it: with the mask bit, and the payload XORed with `key`.
    static func masked(_ frame: [UInt8], key: UInt32) -> [UInt8] {
        guard frame.count >= 2 else { return frame }
        let extended = frame[1] == 126 ? 2 : frame[1] == 127 ? 8 : 0
        let key = (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * UInt32($0))) }
        let payload = frame.dropFirst(2 + extended).enumerated().map { $1 ^ key[$0 & 3] }
        return [frame[0], frame[1] | 0x80] + frame[2..<min(frame.count, 2 + extended)] + key + payload
    }

    /// The header of a binary message of `count` bytes.
    static func binaryHeader(of count: Int) -> [UInt8] { header(0x2, count) }

    /// The longest header.
    static let maxHeaderBytes = 10

    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        header(opcode, payload.count) + payload
    }

    private static func header(_ opcode: UInt8, _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x80 | opcode]
        switch count {
        case 0..<126: bytes.append(UInt8(count))
        case 126..<65536: bytes += [126, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        default:
            bytes.append(127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        return bytes
    }
}
