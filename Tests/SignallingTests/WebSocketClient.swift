import Foundation
import TestSupport

/// A WebSocket client that can also do it wrong.
final class WebSocketClient {
    enum Frame: Equatable {
        case text(String)
        case binary([UInt8])
        case close(UInt16)
        case ping
        case pong([UInt8])
    }

    let raw: TestSocket
    /// Whether `_people` is an event like others; it comes when the room finds the time, between any two others.
    var hearsPeople = false

    /// Opens a WebSocket at `path` and expects 101.
    init(port: UInt16, path: String = "/ws", _ headers: [String: String] = [:], takesLittle: Bool = false) throws {
        raw = try TestSocket(port: port, receiveBuffer: takesLittle ? 4096 : nil)
        let answer = try raw.request("GET", path, headers.merging(Self.upgradeHeaders) { mine, _ in mine })
        guard answer.status == 101 else { throw TestSocket.Failure(what: "status \(answer.status)") }
        // RFC 6455 section 1.3 has this very key and answer.
        guard answer.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" else {
            throw TestSocket.Failure(what: "wrong handshake")
        }
    }

    static let upgradeHeaders = [
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// A client's frame.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        let mark: UInt8 = isMasked ? 0x80 : 0
        if payload.count < 126 {
            bytes.append(mark | UInt8(payload.count))
        } else if payload.count < 65536 {
            bytes += [mark | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        } else {
            bytes += [mark | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        return bytes + key + payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
    }

    func send(_ text: String, opcode: UInt8 = 1) throws {
        try raw.send(Self.frame(opcode, Array(text.utf8)))
    }

    /// Sends a SkyRTC event; `data` is JSON.
    func send(event: String, _ data: String) throws {
        try send("{\"eventName\":\"\(event)\",\"data\":\(data)}")
    }

    /// Sends an offer to a member of the room, as it stands in JSON.
    func send(offer: String, to member: String, track: String? = nil) throws {
        let name = track.map { ",\"track\":\"\($0)\"" } ?? ""
        try send(
            event: "__offer", "{\"sdp\":{\"type\":\"offer\",\"sdp\":\"\(offer)\"},\"socketId\":\"\(member)\"\(name)}")
    }

    /// Sends an answer to a member of the room.
    func send(answer: String, to member: String) throws {
        try send(
            event: "__answer", "{\"sdp\":{\"type\":\"answer\",\"sdp\":\"\(answer)\"},\"socketId\":\"\(member)\"}")
    }

    /// The next frame.
    func next() throws -> Frame {
        let head = try raw.take(2)
        // 127 in two bytes is a length, and no sign of eight bytes (RFC 6455, section 5.2).
        let extended = [126: 2, 127: 8][head[1] & 0x7F]
        let length = try extended.map { try raw.take($0).reduce(0) { $0 << 8 | Int($1) } } ?? Int(head[1] & 0x7F)
        let payload = try raw.take(length)
        switch head[0] {
        case 0x81:
            let text = String(decoding: payload, as: UTF8.self)
            return !hearsPeople && text.contains("\"eventName\":\"_people\"") ? try next() : .text(text)
        case 0x82: return .binary(payload)
        case 0x88: return .close(payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
        case 0x89: return .ping
        case 0x8A: return .pong(payload)
        default: throw TestSocket.Failure(what: "frame \(head)")
        }
    }

    /// The next event, which must be `name`, with its data. On a slow machine a ping may come before it, and is
    /// answered.
    func next(event name: String) throws -> [String: Any] {
        var frame = try next()
        while frame == .ping {
            try send("", opcode: 0xA)
            frame = try next()
        }
        guard case .text(let text) = frame,
            let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            message["eventName"] as? String == name, let data = message["data"] as? [String: Any]
        else { throw TestSocket.Failure(what: "\(frame) instead of \(name)") }
        return data
    }

    /// Joins as a viewer and returns the identifiers: its own, and the host's.
    func joinAsViewer(_ key: String) throws -> (you: String, host: String) {
        try send(event: "__join", "{\"room\":\"\(key)\",\"role\":\"viewer\"}")
        let peers = try next(event: "_peers")
        _ = try next(event: "_state")
        return (peers["you"] as? String ?? "", peers["host"] as? String ?? "")
    }
}
