public import MediaTypes

/// One element of a recording, a raw dump or an Annex B file. Items come in file order.
public struct RecordedItem: Hashable, Sendable {
    /// The content of an item.
    public enum Content: Hashable, Sendable {
        /// A message of the link, exactly as it was sent.
        case message(LinkBytes, LinkDirection)
        /// A NAL unit of an Annex B file.
        case nalUnit(AnnexBNALUnit)
        /// Bytes of an Annex B file that belong to no NAL unit: zeros before the first start code, long runs of zeros
        /// after a NAL unit, and start codes without a NAL unit. At most 64 KiB in one item.
        case otherBytes([UInt8])
        /// The beginning of a connection of the link, which has its own clock and epoch.
        case connection
        /// A gap where messages are missing because the recorder could not keep up.
        case gap(RecordingGap)
        /// The regular end of the recording.
        case end
    }

    /// The file offset of the record, message or start code. It can be passed to `RecordedFile.seek`.
    public let offset: UInt64
    /// The number of bytes that it takes in the file.
    public let byteCount: UInt64
    /// The arrival time since the recording began. Nil for dumps and Annex B files, which have no times.
    public let arrival: Interval?
    /// The content.
    public let content: Content

    /// Creates an item from its properties.
    public init(offset: UInt64, byteCount: UInt64, arrival: Interval?, content: Content) {
        self.offset = offset
        self.byteCount = byteCount
        self.arrival = arrival
        self.content = content
    }
}

/// The direction in which a message was sent.
public enum LinkDirection: UInt8, Hashable, Sendable, CaseIterable {
    /// From the capture, or from a replay, to the host.
    case toHost = 0
    /// From the host to the capture.
    case toCapture = 1
}

/// The messages that a recorder could not keep.
public struct RecordingGap: Hashable, Sendable {
    /// The number of missing messages.
    public var messages: UInt64
    /// The number of bytes in these messages, including headers.
    public var bytes: UInt64
    /// The arrival time of the first of them since the recording began.
    public var from: Interval
    /// The arrival time of the last of them.
    public var to: Interval

    /// Creates a gap.
    public init(messages: UInt64, bytes: UInt64, from: Interval, to: Interval) {
        self.messages = messages
        self.bytes = bytes
        self.from = from
        self.to = to
    }
}

/// A NAL unit of an Annex B file, with the information that is needed to restore the file byte for byte.
public struct AnnexBNALUnit: Hashable, Sendable {
    /// The payload of the link's message: `00 00 00 01`, the NAL unit, and the zeros that followed it (at most 4096).
    public let payload: [UInt8]
    /// Whether the start code in the file has three bytes instead of four.
    public let hasShortStartCode: Bool

    /// Creates a NAL unit from the payload of a message.
    public init(payload: [UInt8], hasShortStartCode: Bool) {
        self.payload = payload
        self.hasShortStartCode = hasShortStartCode
    }
}

extension RecordedItem {
    /// The bytes of this item in an Annex B file; nil if there are none.
    ///
    /// The bytes of all items together equal the Annex B file that was read, or from which the recorded messages were
    /// replayed.
    public var annexB: ArraySlice<UInt8>? {
        switch content {
        case .message(let message, .toHost): message.annexB
        case .nalUnit(let unit): unit.hasShortStartCode ? unit.payload.dropFirst() : unit.payload[...]
        case .otherBytes(let bytes): bytes[...]
        case .message, .connection, .gap, .end: nil
        }
    }
}
