public import MediaTypes

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
    /// `http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01`
    public static let transportNumber = HeaderExtensionSet(rawValue: 8)
    /// `http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection`
    public static let samples = HeaderExtensionSet(rawValue: 16)
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
    /// The receiver may hold pictures back for 200 ms, so that sound and pictures of the same moment come together.
    public static let withSound = PlayoutDelay(minimum: 0, maximum: 20)

    /// Pictures are held back for `delay`, rounded to 10 ms.
    public static func held(for delay: Interval) -> PlayoutDelay {
        let steps = UInt16(clamping: (delay + .milliseconds(5)).milliseconds / 10)
        return PlayoutDelay(minimum: min(steps, 0x0FFF), maximum: min(steps, 0x0FFF))
    }
}

/// The header extensions that a session negotiated: their numbers, and the values that never change. Written in the
/// one-byte form (RFC 8285 section 4.2), or all in the two-byte form (section 4.3) if one of the numbers is over 14:
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     0xBE      |     0xDE      |       length in words         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |  ID   | len-1 |  len bytes of data ...        | ID ... |  0   |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     0x10      |     0x00      |       length in words         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |      ID       |      len      |  len bytes of data ...| ID ...|
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
///     playout-delay:     MIN (12 bits) | MAX (12 bits)
///     abs-capture-time:  NTP time of the capture (64 bits) [| the capture clock's offset from ours (64 bits)]
///     sdes:mid:          the media section's identification, UTF-8
///     transport-wide-cc: the packet's number among all that the transport sends (16 bits)
///     corruption-detection: samples of the picture (``PictureSamples``), instead of the capture time, beside which
///                        there is no room
///
/// Nothing here depends on the time of sending, and a packet keeps its transport-wide number and its playout delay, so
/// a packet that is sent again has exactly the same bytes.
public struct HeaderExtensionFormat: Hashable, Sendable {
    /// The largest size of all extensions together, including the four bytes of the extension header.
    /// `RTPPayload.maxByteCount` leaves this much room.
    public static let maxByteCount = 32

    /// The extensions that the peer accepts and that fit in `maxByteCount`.
    public let available: HeaderExtensionSet

    /// The numbers; 0 stands for an extension that the peer doesn't accept.
    private let playoutDelayID: UInt8
    private let captureTimeID: UInt8
    private let midID: UInt8
    private let transportNumberID: UInt8
    private let samplesID: UInt8
    private let mid: [UInt8]
    private let captureTimeHasOffset: Bool
    private let isTwoByte: Bool

    /// Creates a format from the negotiated numbers: 1 to 14, or 16 to 255, which only the two-byte form can write.
    /// Nil, or another number, stands for an extension that the peer doesn't accept.
    ///
    /// - Parameters:
    ///   - mid: the media section's identification; left out if it is empty or too long for `maxByteCount`.
    ///   - captureTimeHasOffset: whether abs-capture-time is written in its longer form, with an offset of zero because
    ///     the capture clock is the sender's clock.
    public init(
        playoutDelayID: UInt8? = nil, captureTimeID: UInt8? = nil, midID: UInt8? = nil, mid: String = "",
        captureTimeHasOffset: Bool = false, transportNumberID: UInt8? = nil, samplesID: UInt8? = nil
    ) {
        self.playoutDelayID = Self.accepted(playoutDelayID)
        self.captureTimeID = Self.accepted(captureTimeID)
        self.midID = Self.accepted(midID)
        self.transportNumberID = Self.accepted(transportNumberID)
        self.samplesID = Self.accepted(samplesID)
        self.mid = Array(mid.utf8)
        self.captureTimeHasOffset = captureTimeHasOffset
        isTwoByte =
            max(self.playoutDelayID, self.captureTimeID, self.midID, self.transportNumberID, self.samplesID) > 14
        let header = isTwoByte ? 2 : 1
        var available: HeaderExtensionSet = []
        var room = Self.maxByteCount - 4
        if self.playoutDelayID != 0 {
            available.insert(.playoutDelay)
            room -= header + 3
        }
        if self.transportNumberID != 0 {
            available.insert(.transportNumber)
            room -= header + 2
        }
        let captureTime = self.captureTimeID == 0 ? 0 : header + (captureTimeHasOffset ? 16 : 8)
        if captureTime > 0 { available.insert(.captureTime) }
        let mid = self.mid.isEmpty ? 0 : header + self.mid.count
        if self.midID != 0, mid > 0, self.mid.count <= 16, mid + captureTime <= room {
            available.insert(.mid)
            room -= mid
        }
        if self.samplesID != 0, header + PictureSamples.byteCount <= room { available.insert(.samples) }
        self.available = available
    }

    /// `id`, or 0 if no extension can have that number: 15 is reserved in the one-byte form.
    private static func accepted(_ id: UInt8?) -> UInt8 { id == 15 ? 0 : id ?? 0 }

    /// A format without extensions.
    public static let none = HeaderExtensionFormat()

    /// The size of `set` in bytes, including the four bytes of the extension header and the padding; 0 for an empty
    /// set.
    public func byteCount(of set: HeaderExtensionSet) -> Int {
        let count = elementByteCount(of: written(of: set))
        return count == 0 ? 0 : 4 + (count + 3) & ~3
    }

    /// Appends the header extension with the elements that are both in `set` and available; appends nothing if there
    /// are none.
    ///
    /// - Parameters:
    ///   - playoutDelay: the value of playout-delay; must be the same each time the packet is written.
    ///   - captureTime: the time at which the picture was captured; must be the same each time the packet is written.
    ///   - transportNumber: the packet's transport-wide number; must be the same each time the packet is written.
    ///   - samples: the picture's samples; must be the same each time the packet is written.
    public func write(
        _ set: HeaderExtensionSet, playoutDelay: PlayoutDelay = .none, captureTime: NTPTime,
        transportNumber: UInt16 = 0, samples: PictureSamples? = nil, into buffer: inout [UInt8]
    ) {
        let written = written(of: set)
        let count = elementByteCount(of: written)
        guard count > 0 else { return }
        let words = (count + 3) / 4
        buffer.appendUInt16(isTwoByte ? 0x1000 : 0xBEDE)
        buffer.appendUInt16(UInt16(truncatingIfNeeded: words))
        if written.contains(.playoutDelay) {
            appendHeader(playoutDelayID, 3, to: &buffer)
            buffer.appendUInt24(UInt32(playoutDelay.minimum) << 12 | UInt32(playoutDelay.maximum))
        }
        if written.contains(.captureTime) {
            appendHeader(captureTimeID, captureTimeHasOffset ? 16 : 8, to: &buffer)
            buffer.appendUInt64(captureTime.rawValue)
            if captureTimeHasOffset { buffer.appendUInt64(0) }
        }
        if written.contains(.transportNumber) {
            appendHeader(transportNumberID, 2, to: &buffer)
            buffer.appendUInt16(transportNumber)
        }
        if written.contains(.mid) {
            appendHeader(midID, UInt8(truncatingIfNeeded: mid.count), to: &buffer)
            buffer.append(contentsOf: mid)
        }
        if written.contains(.samples) {
            appendHeader(samplesID, UInt8(PictureSamples.byteCount), to: &buffer)
            buffer.append(contentsOf: samples?.bytes ?? Array(repeating: 0, count: PictureSamples.byteCount))
        }
        for _ in count..<(words * 4) { buffer.append(0) }
    }

    /// The extensions of `set` that a packet has.
    func written(of set: HeaderExtensionSet) -> HeaderExtensionSet {
        let written = set.intersection(available)
        return written.contains(.samples) ? written.subtracting(.captureTime) : written
    }

    /// Appends what precedes an element of `count` bytes.
    private func appendHeader(_ id: UInt8, _ count: UInt8, to buffer: inout [UInt8]) {
        if isTwoByte {
            buffer.append(id)
            buffer.append(count)
        } else {
            buffer.append(id << 4 | (count &- 1))
        }
    }

    private func elementByteCount(of set: HeaderExtensionSet) -> Int {
        let header = isTwoByte ? 2 : 1
        return (set.contains(.playoutDelay) ? header + 3 : 0)
            + (set.contains(.captureTime) ? header + (captureTimeHasOffset ? 16 : 8) : 0)
            + (set.contains(.transportNumber) ? header + 2 : 0) + (set.contains(.mid) ? header + mid.count : 0)
            + (set.contains(.samples) ? header + PictureSamples.byteCount : 0)
    }
}

/// Whether a receiver knows the place of the next samples in the Halton sequence (``SampleIndex``).
struct SamplePlaces: Hashable, Sendable {
    private var areKnown = false

    /// Whether the receiver can find the places of the samples in `check`, if it has any, so that they are sent. Once
    /// some were left out it may have lost count, so no more are sent before samples with their absolute place.
    mutating func lead(to check: PictureCheck?) -> Bool {
        guard let check else { return false }
        areKnown = check.samples.map { areKnown || $0.isAbsolute } ?? false
        return areKnown
    }
}
