public import MediaTypes

/// One thing that a recording, a raw dump or an Annex B file holds, in the order of the file.
public struct RecordedItem: Hashable, Sendable {
    /// What it is.
    public enum Content: Hashable, Sendable {
        /// A message of the link, exactly as it passed.
        case message(LinkBytes, LinkDirection)
        /// A NAL unit of an Annex B file.
        case nalUnit(AnnexBNALUnit)
        /// Bytes of an Annex B file that belong to no NAL unit: zeros before the first start code, long runs of zeros behind
        /// a NAL unit, start codes without a NAL unit. Never more than 64 KiB in one item.
        case otherBytes([UInt8])
        /// A connection of the link begins; it has a clock and an epoch of its own.
        case connection
        /// Here messages are missing: the recorder could not keep up.
        case gap(RecordingGap)
        /// The recorder ended in good order.
        case end
    }

    /// Where it begins in the file: the record, the message, or the start code. `RecordedFile.seek` takes it.
    public let offset: UInt64
    /// How many bytes of the file it takes.
    public let byteCount: UInt64
    /// When it arrived, since the recording began; nil in dumps and Annex B, which have no times.
    public let arrival: Interval?
    /// What it is.
    public let content: Content

    /// An item with these parts.
    public init(offset: UInt64, byteCount: UInt64, arrival: Interval?, content: Content) {
        self.offset = offset
        self.byteCount = byteCount
        self.arrival = arrival
        self.content = content
    }
}

/// Which way a message went.
public enum LinkDirection: UInt8, Hashable, Sendable, CaseIterable {
    /// From capture, or from a replay, to the host.
    case toHost = 0
    /// From the host to capture.
    case toCapture = 1
}

/// What a recorder could not keep.
public struct RecordingGap: Hashable, Sendable {
    /// How many messages are missing.
    public var messages: UInt64
    /// How many bytes these had, headers included.
    public var bytes: UInt64
    /// When the first of them arrived, since the recording began.
    public var from: Interval
    /// When the last of them arrived.
    public var to: Interval

    /// A gap of this size.
    public init(messages: UInt64, bytes: UInt64, from: Interval, to: Interval) {
        self.messages = messages
        self.bytes = bytes
        self.from = from
        self.to = to
    }
}

/// A NAL unit of an Annex B file, and what is needed to write the file again byte for byte.
public struct AnnexBNALUnit: Hashable, Sendable {
    /// As a message of the link has it: `00 00 00 01`, the NAL unit, and the zeros that stood behind it (at most 4096).
    public let payload: [UInt8]
    /// In the file the start code has three bytes, not four.
    public let hasShortStartCode: Bool

    /// A NAL unit in the form of a message's payload.
    public init(payload: [UInt8], hasShortStartCode: Bool) {
        self.payload = payload
        self.hasShortStartCode = hasShortStartCode
    }
}

extension RecordedItem {
    /// What an Annex B file has to have for this item, in its place; nil where that is nothing. All of them together are,
    /// byte for byte, the Annex B file that was read, or that a replay sent whose messages these are.
    public var annexB: ArraySlice<UInt8>? {
        switch content {
        case .message(let message, .toHost): message.annexB
        case .nalUnit(let unit): unit.hasShortStartCode ? unit.payload.dropFirst() : unit.payload[...]
        case .otherBytes(let bytes): bytes[...]
        case .message, .connection, .gap, .end: nil
        }
    }
}
