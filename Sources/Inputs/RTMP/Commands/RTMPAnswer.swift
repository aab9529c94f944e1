import ByteCoding

/// What a server sends to a publisher.
enum RTMPAnswer {
    /// After how many bytes each side acknowledges, which only informs the other side.
    static let window: UInt32 = 2_500_000
    /// The only message stream that a client can create.
    static let stream: UInt32 = 1

    /// The answer to `connect`.
    static func connected(_ transaction: Double) -> [UInt8] {
        let server = AMFValue.object([
            // Servers of RTMP name the version of Flash Media Server that they are like.
            .init(name: "fmsVer", value: .string("FMS/3,0,1,123")), .init(name: "capabilities", value: .number(31)),
        ])
        var result = status(level: "status", code: "NetConnection.Connect.Success", text: "Connection succeeded.")
        result.append(.init(name: "objectEncoding", value: .number(0)))
        let command = RTMPCommand(name: "_result", transaction: transaction, values: [server, .object(result)])
        return number(window, .windowAcknowledgementSize) + peerBandwidth
            + number(UInt32(RTMPMessage.ownChunkSize), .setChunkSize) + command.message().chunks
    }

    /// The answer to a command whose result is `value`.
    static func result(_ transaction: Double, _ value: AMFValue) -> [UInt8] {
        RTMPCommand(name: "_result", transaction: transaction, values: [.null, value]).message().chunks
    }

    /// The answers to `publish` of a client that may.
    static let published =
        userControl(event: 0, stream)
        + onStatus(level: "status", code: "NetStream.Publish.Start", text: "Publishing.")

    static func refused(_ refusal: RTMPRefusal) -> [UInt8] {
        onStatus(level: "error", code: refusal.code, text: refusal.description)
    }

    /// The answer to a client that wants to play.
    static let notPlayed = onStatus(
        level: "error", code: "NetStream.Play.Failed", text: "this server takes streams, and plays none over RTMP")

    static func acknowledgement(_ received: UInt32) -> [UInt8] { number(received, .acknowledgement) }

    /// The answer to a ping with this time.
    static func pong(_ time: UInt32) -> [UInt8] { userControl(event: 7, time) }

    private static func onStatus(level: String, code: String, text: String) -> [UInt8] {
        let values = [AMFValue.null, .object(status(level: level, code: code, text: text))]
        return RTMPCommand(name: "onStatus", transaction: 0, values: values).message(stream: stream).chunks
    }

    private static func status(level: String, code: String, text: String) -> [AMFValue.Property] {
        [
            .init(name: "level", value: .string(level)), .init(name: "code", value: .string(code)),
            .init(name: "description", value: .string(text)),
        ]
    }

    private static func number(_ number: UInt32, _ kind: RTMPMessage.Kind) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint32(number)
        return RTMPMessage(kind, writer.bytes).chunks
    }

    /// The window with the limit type "dynamic" (section 5.4.5).
    private static var peerBandwidth: [UInt8] {
        var writer = ByteWriter()
        writer.uint32(window)
        writer.uint8(2)
        return RTMPMessage(.setPeerBandwidth, writer.bytes).chunks
    }

    /// A user control message (section 7.1.7).
    private static func userControl(event: UInt16, _ value: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint16(event)
        writer.uint32(value)
        return RTMPMessage(.userControl, writer.bytes).chunks
    }
}
