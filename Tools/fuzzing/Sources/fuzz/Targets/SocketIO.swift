import ByteCoding
import Rooms

@testable import Signalling
@testable import SocketIORooms

extension FuzzTarget {
    /// Engine.IO payloads, the socket.io packets in them, and their events. The first byte of the input is the version.
    static let socketIO = FuzzTarget(
        name: "socket-io",
        words: [
            "42[\"join\",\"", "[\"message\",\"", "{\"type\":\"", "\"sdp\":", "\"candidate\":", "\"label\":", "/admin,",
        ]
    ) { input in
        guard let first = input.first else { return }
        let version: EngineVersion = first & 1 == 0 ? .three : .four
        let payload = Array(input.dropFirst())
        // A WebSocket frame has one packet, a polling request several.
        let frame = String(validating: payload, as: UTF8.self).flatMap { EnginePacket(parsing: $0) }
        let packets = (try? EnginePayload.decode(payload, version)) ?? []
        check(packets.count <= EnginePayload.Limits().packets, "a payload has no more packets than the limit")
        check(packets.reduce(0) { $0 + $1.text.utf8.count } <= payload.count, "no more comes out than went in")
        for packet in [frame].compactMap({ $0 }) + packets {
            check(EnginePacket(parsing: packet.encoded) == packet, "a packet that we write reads the same")
            if packet.kind == .message { checkSocketPacket(packet.text) }
        }
        // Binary packets are skipped, and clients of version 3 don't agree on lengths beyond ASCII.
        let ascii = packets.filter { $0.text.utf8.allSatisfy { $0 < 0x80 && $0 != 0x1E } }
        if !ascii.isEmpty {
            let written = Array(EnginePayload.encode(ascii, version).utf8)
            check((try? EnginePayload.decode(written, version)) == ascii, "a payload that we write reads the same")
        }
    }
}

private func checkSocketPacket(_ text: String) {
    guard let packet = SocketPacket(parsing: text) else { return }
    // Packets that announce attachments are read but never written, and a namespace can't be told from invalid JSON.
    if packet.kind != .binaryEvent, packet.kind != .binaryAck, packet.json.utf8.first != UInt8(ascii: "/") {
        check(SocketPacket(parsing: packet.encoded) == packet, "a packet that we write reads the same")
    }
    guard let event = SocketIOEvent(json: packet.json) else { return }
    _ = event.pairEvent(from: MemberID("member"))
    let texts = [event.name, event.room].map { JSONObject.quoted($0, isASCII: true) }
    let name = SocketIOEvent(json: "[\(texts.joined(separator: ","))]")
    check(name?.name == event.name && name?.room == event.room, "text that we write as JSON reads the same")
}
