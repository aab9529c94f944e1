public import ByteCoding
public import MediaTypes

/// The 40-byte header of every message of the capture link ('&' messages, Protocol/capture-link.md).
///
///      0        1      2       3        4 .. 7     8 .. 15        16 .. 23   24 .. 27    28 .. 31    32 .. 39
///     +--------+------+-------+--------+----------+--------------+----------+-----------+-----------+---------+
///     | 0x26 & | kind | flags | stream | reserved | length u64le | pts i64le| scale i32 | ptsflags  | epoch   |
///     +--------+------+-------+--------+----------+--------------+----------+-----------+-----------+---------+
///
/// All integers are little-endian. In the legacy forms bytes 1-7 and the whole time are zero, and the 16-byte form ends
/// after `length`.
public struct MessageHeader: Hashable, Sendable {
    /// The kind of the payload; a kind that this version doesn't know is kept as it is.
    public var kindCode: UInt8
    /// Flags of this message.
    public var flags: MessageFlags
    /// The stream of this connection that the message belongs to: 0 for pictures, 1 for sound.
    public var stream: UInt8
    /// How many bytes of payload follow, not counting the header.
    public var length: UInt64
    /// When the picture was taken, on the sender's CLOCK_MONOTONIC; nil if the sender did not set it.
    public var captureTime: MonotonicTime?
    /// The random non-zero number of this start of the capture; 0 if there is none (legacy forms, host to capture).
    public var epoch: UInt64

    /// The number of the stream that carries sound.
    public static let soundStream: UInt8 = 1
    /// The first byte of every message: `&`.
    public static let marker: UInt8 = 0x26
    /// What precedes each unit of a frame in a payload, whatever the codec: H.264's start code.
    public static let unitMark: [UInt8] = [0, 0, 0, 1]
    /// The offset of `length`.
    static let lengthOffset = 8
    /// The value of `scale` with a valid time: ticks per second.
    static let timeScale: UInt32 = 1_000_000_000
    /// Bit 0 of `ptsflags`: the time is valid.
    static let timeIsValid: UInt32 = 1

    /// Creates a header with these fields.
    public init(
        kindCode: UInt8, flags: MessageFlags = [], stream: UInt8 = 0, length: UInt64,
        captureTime: MonotonicTime? = nil, epoch: UInt64 = 0
    ) {
        self.kindCode = kindCode
        self.flags = flags
        self.stream = stream
        self.length = length
        self.captureTime = captureTime
        self.epoch = epoch
    }

    /// The kind of the payload; nil for a kind that this version doesn't know.
    public var kind: MessageKind? { MessageKind(rawValue: kindCode) }

    /// Decodes the header at the start of `bytes`; nil if they are too few or don't begin with `&`.
    ///
    /// In a legacy form everything but the length is ignored, since the original sender leaves it undefined.
    public init?(decoding bytes: ArraySlice<UInt8>, form: HeaderFormat) {
        var reader = ByteReader(bytes)
        guard bytes.count >= form.headerCount, reader.uint8() == Self.marker,
            let kindCode = reader.uint8(), let flags = reader.uint8(), let stream = reader.uint8(),
            reader.bytes(4) != nil, let length = reader.uint64LittleEndian()
        else { return nil }
        guard form == .extended else {
            self.init(kindCode: MessageKind.unit.rawValue, length: length)
            return
        }
        guard let pts = reader.uint64LittleEndian(), let scale = reader.uint32LittleEndian(),
            let timeFlags = reader.uint32LittleEndian(), let epoch = reader.uint64LittleEndian()
        else { return nil }
        let hasTime = timeFlags & Self.timeIsValid != 0 && scale == Self.timeScale
        self.init(
            kindCode: kindCode, flags: MessageFlags(rawValue: flags), stream: stream, length: length,
            captureTime: hasTime ? MonotonicTime(nanoseconds: Int64(bitPattern: pts)) : nil, epoch: epoch)
    }

    /// Appends the header to `writer` in the given form.
    public func encode(into writer: inout ByteWriter, form: HeaderFormat) {
        let isExtended = form == .extended
        writer.uint8(Self.marker)
        writer.uint8(isExtended ? kindCode : 0)
        writer.uint8(isExtended ? flags.rawValue : 0)
        writer.uint8(isExtended ? stream : 0)
        writer.uint32(0)
        writer.uint64LittleEndian(length)
        guard form != .legacy16 else { return }
        let time = isExtended ? captureTime.map(Self.unmistakable) : nil
        writer.uint64LittleEndian(UInt64(bitPattern: time?.nanoseconds ?? 0))
        writer.uint32LittleEndian(time == nil ? 0 : Self.timeScale)
        writer.uint32LittleEndian(time == nil ? 0 : Self.timeIsValid)
        writer.uint64LittleEndian(isExtended ? epoch : 0)
    }

    /// Returns `time`, or one nanosecond later if its first four bytes would look like the start code after a 16-byte
    /// header.
    private static func unmistakable(_ time: MonotonicTime) -> MonotonicTime {
        let looksLikeStartCode = UInt32(truncatingIfNeeded: time.nanoseconds) == 0x0100_0000
        return looksLikeStartCode ? time + Interval(nanoseconds: 1) : time
    }
}

/// The kind of a message's payload: byte 1 of its header. The case of ``LinkMessage`` with the same name says what each
/// means.
public enum MessageKind: UInt8, Sendable, CaseIterable {
    // Capture to host.
    case unit = 0
    case picture = 2
    case size = 3
    case statistics = 4
    case pointerShape = 6
    case pointerPosition = 7
    case sharing = 8
    case pong = 9
    /// Before the capture's hello.
    case answer = 12
    case format = 13

    // Both ways. A hello is the first message from each end in the extended form, except for the proof of a token.
    case hello = 1
    case end = 5

    // Host to capture.
    case requestKeyFrame = 32
    case bitRate = 33
    case frameRate = 34
    case unwatched = 35
    case watched = 36
    case pointerMode = 37
    case sharerPaused = 38
    case chroma = 39
    case ping = 40
    case sharpen = 41
    case carried = 44
    case microphoneMuted = 45
    case pointing = 46
    /// Before the capture's hello.
    case challenge = 42
    case proof = 43
}

/// Byte 2 of a message's header. Bits without a name are zero when sent and ignored when received.
public struct MessageFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The last unit of its frame.
    public static let endOfFrame = MessageFlags(rawValue: 1)
    /// The NAL unit's start code has three bytes in the file that a replay reads; in the payload it still has four.
    public static let shortStartCode = MessageFlags(rawValue: 2)
}

/// The three forms in which messages are written; a connection keeps the one that it began with.
public enum HeaderFormat: Sendable, CaseIterable {
    /// The form of our own senders: 40 bytes with kind, flags, time and epoch.
    case extended
    /// The form of the original sender: 40 bytes, all zero but the marker and the length.
    case legacy40
    /// 16 bytes: marker, seven zeros and the length.
    case legacy16

    /// The size of a header in bytes.
    public var headerCount: Int { self == .legacy16 ? 16 : 40 }
}

/// The most that a peer may send. Checked before a byte is reserved.
public struct LinkLimits: Hashable, Sendable {
    /// The payload of a unit, start code included, in bytes.
    public var unit = 8 << 20
    /// The payload of every other message, in bytes.
    public var controlMessage = 64 << 10

    /// The limits of Protocol/capture-link.md: 8 MiB and 64 KiB.
    public init() {}

    /// Compares the length that `header` announces with its limit, before any memory is reserved for it.
    ///
    /// - Parameter offset: The offset of the message, for the error.
    /// - Throws: `unitTooShort`, `unitTooLong` or `controlMessageTooLong`.
    public func check(_ header: MessageHeader, at offset: UInt64) throws(LinkError) {
        let length = header.length
        if header.kind == .unit {
            guard length >= 5 else { throw .unitTooShort(length: length, offset: offset) }
            guard length <= UInt64(unit) else { throw .unitTooLong(length: length, limit: unit, offset: offset) }
        } else if length > UInt64(controlMessage) {
            throw .controlMessageTooLong(
                kindCode: header.kindCode, length: length, limit: controlMessage, offset: offset)
        }
    }
}
