/// The requests of a page that gets the video over its WebSocket (`Protocol/rooms.md`).
enum WebSocketJoining {
    /// Opens a WebSocket on which pictures come as soon as this returns.
    ///
    /// - Throws: ``BenchFailure`` if there is no answer in time, or another status than 101.
    static func join(_ address: WHEPAddress) throws(BenchFailure) -> StreamConnection {
        let connection = try StreamConnection(to: address)
        // Nothing here depends on the nonce.
        try connection.send(
            "GET /ws HTTP/1.1\r\nHost: \(address.authority)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        let status = try connection.head().split(separator: " ").dropFirst().first ?? ""
        guard status == "101" else { throw BenchFailure("the server answers \(status) to a WebSocket") }
        let room = String(address.path.dropFirst("/whep/".count)) + (address.token.map { ",\($0)" } ?? "")
        let join = "{\"eventName\":\"__join\",\"data\":{\"room\":\"\(room)\",\"role\":\"viewer\"}}"
        try connection.send(ClientFrame.text(join) + ClientFrame.text("{\"eventName\":\"__frames\",\"data\":{}}"))
        return connection
    }
}

/// The frames of a WebSocket client (RFC 6455 section 5), of less than 64 KiB.
enum ClientFrame {
    static func text(_ text: String) -> [UInt8] { frame(0x1, Array(text.utf8)) }
    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(0xA, payload) }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        var frame: [UInt8] = [0x80 | opcode]
        frame += count < 126 ? [0x80 | UInt8(count)] : [0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        // A masking key of zeros leaves the payload as it is.
        frame += [0, 0, 0, 0]
        return frame + payload
    }
}
