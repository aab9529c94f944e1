/// A set of header extensions that a packet can carry.
public struct HeaderExtensionSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `http://www.webrtc.org/experiments/rtp-hdrext/playout-delay`
    public static let playoutDelay = HeaderExtensionSet(rawValue: 1)
    /// `http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time`
    public static let captureTime = HeaderExtensionSet(rawValue: 2)
    /// `urn:ietf:params:rtp-hdrext:sdes:mid`
    public static let mid = HeaderExtensionSet(rawValue: 4)
}

/// The range of delays that a receiver may add before it shows a picture: two numbers of 12 bits, in steps of 10 ms.
public struct PlayoutDelay: Hashable, Sendable {
    /// The minimum delay in steps of 10 ms, 0 to 4095.
    public let minimum: UInt16
    /// The maximum delay in steps of 10 ms, 0 to 4095.
    public let maximum: UInt16

    /// A delay between `minimum` and `maximum` steps of 10 ms; only the low 12 bits of each are used.
    public init(minimum: UInt16, maximum: UInt16) {
        self.minimum = minimum & 0x0FFF
        self.maximum = maximum & 0x0FFF
    }

    /// No delay: each picture is shown as soon as it is decoded, as screen sharing requires.
    public static let none = PlayoutDelay(minimum: 0, maximum: 0)
}

/// The header extensions that a session negotiated: their numbers, and the values that never change. Written in the
/// one-byte form (RFC 8285 section 4.2):
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     0xBE      |     0xDE      |       length in words         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |  ID   | len-1 |  len bytes of data ...        | ID ... |  0   |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
///     playout-delay:     MIN (12 bits) | MAX (12 bits)
///     abs-capture-time:  NTP time of the capture (64 bits) [| the capture clock's offset from ours (64 bits)]
///     sdes:mid:          the media section's identification, UTF-8
///
/// Nothing here depends on the time of sending, so a packet that is sent again has exactly the same bytes.
public struct HeaderExtensionFormat: Hashable, Sendable {
    /// The largest size of all extensions together, including the four bytes of the extension header.
    /// `RTPPayload.maximumByteCount` leaves this much room.
    public static let maximumByteCount = 32

    /// The extensions that the peer accepts and that fit in `maximumByteCount`.
    public let available: HeaderExtensionSet

    private let playoutDelayID: UInt8
    private let captureTimeID: UInt8
    private let midID: UInt8
    private let playoutDelay: PlayoutDelay
    private let mid: [UInt8]
    private let captureTimeHasOffset: Bool

    /// Creates a format from the negotiated numbers. Nil, or a number outside 1 to 14, stands for an extension that the
    /// peer doesn't accept.
    ///
    /// - Parameters:
    ///   - mid: the media section's identification; left out if it is empty or too long for `maximumByteCount`.
    ///   - captureTimeHasOffset: whether abs-capture-time is written in its longer form, with an offset of zero because
    ///     the capture clock is the sender's clock.
    public init(
        playoutDelayID: UInt8? = nil, captureTimeID: UInt8? = nil, midID: UInt8? = nil, mid: String = "",
        playoutDelay: PlayoutDelay = .none, captureTimeHasOffset: Bool = false
    ) {
        let ids: ClosedRange<UInt8> = 1...14
        let midBytes = Array(mid.utf8)
        var available: HeaderExtensionSet = []
        var room = Self.maximumByteCount - 4
        if let playoutDelayID, ids.contains(playoutDelayID) {
            available.insert(.playoutDelay)
            room -= 4
        }
        if let captureTimeID, ids.contains(captureTimeID) {
            available.insert(.captureTime)
            room -= captureTimeHasOffset ? 17 : 9
        }
        if let midID, ids.contains(midID), !midBytes.isEmpty, midBytes.count <= min(16, room - 1) {
            available.insert(.mid)
        }
        self.available = available
        self.playoutDelayID = playoutDelayID ?? 0
        self.captureTimeID = captureTimeID ?? 0
        self.midID = midID ?? 0
        self.playoutDelay = playoutDelay
        self.mid = midBytes
        self.captureTimeHasOffset = captureTimeHasOffset
    }

    /// A format without extensions.
    public static let none = HeaderExtensionFormat()

    /// The size of `set` in bytes, including the four bytes of the extension header and the padding; 0 for an empty
    /// set.
    public func byteCount(of set: HeaderExtensionSet) -> Int {
        let count = elementByteCount(of: set.intersection(available))
        return count == 0 ? 0 : 4 + (count + 3) & ~3
    }

    /// Appends the header extension with the elements that are both in `set` and available; appends nothing if there
    /// are none.
    ///
    /// - Parameter captureTime: the time at which the picture was captured; must be the same each time the packet is
    ///   written.
    public func write(_ set: HeaderExtensionSet, captureTime: NTPTime, into buffer: inout [UInt8]) {
        let written = set.intersection(available)
        let count = elementByteCount(of: written)
        guard count > 0 else { return }
        let words = (count + 3) / 4
        buffer.appendUInt16(0xBEDE)
        buffer.appendUInt16(UInt16(truncatingIfNeeded: words))
        if written.contains(.playoutDelay) {
            buffer.append(playoutDelayID << 4 | 2)
            buffer.appendUInt24(UInt32(playoutDelay.minimum) << 12 | UInt32(playoutDelay.maximum))
        }
        if written.contains(.captureTime) {
            buffer.append(captureTimeID << 4 | (captureTimeHasOffset ? 15 : 7))
            buffer.appendUInt64(captureTime.rawValue)
            if captureTimeHasOffset { buffer.appendUInt64(0) }
        }
        if written.contains(.mid) {
            buffer.append(midID << 4 | UInt8(truncatingIfNeeded: mid.count - 1))
            buffer.append(contentsOf: mid)
        }
        for _ in count..<(words * 4) { buffer.append(0) }
    }

    private func elementByteCount(of set: HeaderExtensionSet) -> Int {
        (set.contains(.playoutDelay) ? 4 : 0) + (set.contains(.captureTime) ? (captureTimeHasOffset ? 17 : 9) : 0)
            + (set.contains(.mid) ? 1 + mid.count : 0)
    }
}
