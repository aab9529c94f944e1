import ByteCoding

/// One message, put together from its chunks (RTMP section 5.3).
struct RTMPMessage: Hashable, Sendable {
    /// The types of messages that are used here (sections 5.4 and 7.1).
    enum Kind: UInt8, Sendable {
        case setChunkSize = 1
        case abort = 2
        case acknowledgement = 3
        case userControl = 4
        case windowAcknowledgementSize = 5
        case setPeerBandwidth = 6
        case audio = 8
        case video = 9
        /// Data in AMF3's envelope.
        case extendedData = 15
        /// A command in AMF3's envelope.
        case extendedCommand = 17
        /// Data in AMF0.
        case data = 18
        /// A command in AMF0.
        case command = 20
    }

    /// The message type, which may be unknown.
    var type: UInt8
    /// In milliseconds, modulo 2^32.
    var timestamp: UInt32 = 0
    /// The message stream; 0 for the connection itself.
    var stream: UInt32 = 0
    var payload: [UInt8]

    var kind: Kind? { Kind(rawValue: type) }

    /// The largest payload of a message of `type`, in bytes.
    static func limit(of type: UInt8) -> Int {
        switch Kind(rawValue: type) {
        case .video: RTMPLimits.video
        case .audio: RTMPLimits.audio
        default: RTMPLimits.command
        }
    }
}

extension RTMPMessage {
    /// The size of the chunks that we send. The first answer announces it, so that each answer is one chunk.
    static let ownChunkSize = 4096

    init(_ kind: Kind, stream: UInt32 = 0, _ payload: [UInt8]) {
        self.init(type: kind.rawValue, stream: stream, payload: payload)
    }

    /// The chunk streams of our messages: 2 is reserved for control messages (section 5.4).
    private var chunkStream: UInt8 {
        switch kind {
        case .setChunkSize, .abort, .acknowledgement, .userControl, .windowAcknowledgementSize, .setPeerBandwidth: 2
        default: 3
        }
    }

    /// The message as it is sent: a chunk with a whole header, and others with none if it is longer.
    var chunks: [UInt8] {
        var writer = ByteWriter(capacity: payload.count + 16)
        writer.uint8(chunkStream)
        writer.uint24(min(timestamp, 0xFF_FFFE))
        writer.uint24(UInt32(clamping: payload.count))
        writer.uint8(type)
        // The only number with the least significant byte first (section 5.3.1.2.1).
        writer.uint32LittleEndian(stream)
        var rest = payload[...]
        while true {
            writer.append(rest.prefix(Self.ownChunkSize))
            rest = rest.dropFirst(Self.ownChunkSize)
            if rest.isEmpty { return writer.bytes }
            writer.uint8(0xC0 | chunkStream)
        }
    }
}
