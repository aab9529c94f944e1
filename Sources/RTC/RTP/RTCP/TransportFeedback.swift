import ByteCoding

/// A receiver's report on the packets of a transport, which all its streams number together: which of them arrived, and
/// when (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1).
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |      base sequence number     |      packet status count      |
///     |               reference time (signed)         | feedback count|
///     |           chunk               |           chunk               |
///     :             ...               |    delta      |    delta      :
///     |        large delta            |    delta      | zeros         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// The chunks give each packet a symbol; see `StatusChunk`. Then follow the deltas of the packets received.
public struct TransportFeedback: Hashable, Sendable {
    static let format: UInt8 = 15

    /// The report on one packet.
    public enum Arrival: Hashable, Sendable {
        /// The packet has not arrived so far, or an earlier report said that it had: where reports overlap, each
        /// arrival is reported once.
        case notReceived
        /// The packet arrived this long after the one before it in the list that arrived, or after the reference time
        /// if it is the first; in units of 250 µs, and negative if it was overtaken.
        case received(delta: Int16)
    }

    /// The maximum number of packets in one report. A peer that reports once a second reaches it at 78 Mbit/s. The
    /// count field could say 65,535 in a datagram of 40 bytes, which would cost a quarter of a megabyte.
    public static let maxArrivalCount = 8192

    /// The receiver of the packets.
    public var sender: SSRC
    /// One of the streams that the packets belong to.
    public var media: SSRC
    /// The transport-wide sequence number of the first packet in `arrivals`; the next ones follow it, modulo 2^16.
    public var base: UInt16
    /// The time on the receiver's clock that the first delta counts from, in units of 64 ms, 24 bits signed. The
    /// clock's origin is unknown, so it may wrap at any moment.
    public var referenceTime: Int32
    /// The number of reports sent before, modulo 2^8. A gap means that reports were lost.
    public var feedbackCount: UInt8
    /// The packets from `base` on; at most `maxArrivalCount` are written.
    public var arrivals: [Arrival]

    public init(
        sender: SSRC, media: SSRC, base: UInt16, referenceTime: Int32, feedbackCount: UInt8, arrivals: [Arrival]
    ) {
        self.sender = sender
        self.media = media
        self.base = base
        self.referenceTime = referenceTime
        self.feedbackCount = feedbackCount
        self.arrivals = arrivals
    }

    /// Parses the packet; nil if it has the reserved symbol, whose meaning is not known.
    init?(reading reader: inout ByteReader) throws(RTPError) {
        (sender, media) = try Feedback.sources(reading: &reader)
        let available = reader.count
        guard let base = reader.uint16(), let statusCount = reader.uint16(), let time = reader.uint24(),
            let feedbackCount = reader.uint8()
        else { throw .truncated(part: "transport-wide feedback", needed: 8, available: available) }
        let count = Int(statusCount)
        guard count <= Self.maxArrivalCount else {
            throw .invalidLength(part: "transport-wide feedback's list of packets", length: count)
        }
        self.base = base
        // Shifting left and back right extends the sign from bit 23.
        referenceTime = Int32(bitPattern: time << 8) >> 8
        self.feedbackCount = feedbackCount

        // The deltas begin after the chunk in which the last packet is.
        var deltas = reader
        var described = 0
        while described < count {
            guard let bits = deltas.uint16() else {
                throw .truncated(part: "a chunk of transport-wide feedback", needed: 2, available: deltas.count)
            }
            described += StatusChunk(bits: bits).count
        }
        arrivals = []
        arrivals.reserveCapacity(count)
        while arrivals.count < count, let bits = reader.uint16() {
            let chunk = StatusChunk(bits: bits)
            for index in 0..<min(chunk.count, count - arrivals.count) {
                switch chunk.symbol(at: index) {
                case StatusChunk.notReceived: arrivals.append(.notReceived)
                case StatusChunk.smallDelta:
                    guard let delta = deltas.uint8() else {
                        throw .truncated(part: "a delta of transport-wide feedback", needed: 1, available: 0)
                    }
                    arrivals.append(.received(delta: Int16(delta)))
                case StatusChunk.largeDelta:
                    guard let delta = deltas.uint16() else {
                        throw .truncated(
                            part: "a delta of transport-wide feedback", needed: 2, available: deltas.count)
                    }
                    arrivals.append(.received(delta: Int16(bitPattern: delta)))
                default: return nil
                }
            }
        }
    }

    /// Appends the packet.
    public func write(into buffer: inout [UInt8]) {
        let written = arrivals.prefix(Self.maxArrivalCount)
        buffer.appendRTCP(type: Feedback.transport, count: Int(Self.format)) { buffer in
            buffer.appendUInt32(sender.rawValue)
            buffer.appendUInt32(media.rawValue)
            buffer.appendUInt16(base)
            buffer.appendUInt16(UInt16(truncatingIfNeeded: written.count))
            buffer.appendUInt24(UInt32(bitPattern: referenceTime))
            buffer.append(feedbackCount)
            var rest = written
            while !rest.isEmpty {
                let chunk = StatusChunk(describing: rest)
                buffer.appendUInt16(chunk.bits)
                rest = rest.dropFirst(chunk.count)
            }
            for case .received(let delta) in written {
                if let small = UInt8(exactly: delta) {
                    buffer.append(small)
                } else {
                    buffer.appendUInt16(UInt16(bitPattern: delta))
                }
            }
        }
    }
}

/// 16 bits that give the next packets in the list a symbol each (sections 3.1.1 to 3.1.4): a run of packets with the
/// same symbol, 14 symbols of one bit, or 7 symbols of two bits. A chunk may describe more packets than the list has
/// left.
///
///      0                   1
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0| S |       run length        |
///     |1|0|s|s|s|s|s|s|s|s|s|s|s|s|s|s|
///     |1|1|s s|s s|s s|s s|s s|s s|s s|
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
private struct StatusChunk {
    static let notReceived: UInt16 = 0
    /// Received, with a delta of 8 bits without sign.
    static let smallDelta: UInt16 = 1
    /// Received, with a delta of 16 bits with sign. 3 is reserved.
    static let largeDelta: UInt16 = 2
    private static let maxRun = 0x1FFF

    let bits: UInt16

    init(bits: UInt16) {
        self.bits = bits
    }

    /// The chunk that begins the description of `arrivals`, which are not empty.
    init(describing arrivals: ArraySlice<TransportFeedback.Arrival>) {
        let first = arrivals.first?.symbol ?? Self.notReceived
        let run = arrivals.prefix(Self.maxRun).prefix { $0.symbol == first }.count
        let areShort = arrivals.prefix(14).allSatisfy { $0.symbol != Self.largeDelta }
        let count = areShort ? 14 : 7
        guard run < min(count, arrivals.count) else {
            bits = first << 13 | UInt16(truncatingIfNeeded: run)
            return
        }
        var bits: UInt16 = 0
        for arrival in arrivals.prefix(count) { bits = bits << (areShort ? 1 : 2) | arrival.symbol }
        let missing = count - min(count, arrivals.count)
        self.bits = (areShort ? 0x8000 : 0xC000) | bits << (areShort ? missing : 2 * missing)
    }

    /// The number of packets that it describes.
    var count: Int { bits & 0x8000 == 0 ? Int(bits) & Self.maxRun : bits & 0x4000 == 0 ? 14 : 7 }

    /// The symbol of the packet at `index`, which is below `count`.
    func symbol(at index: Int) -> UInt16 {
        if bits & 0x8000 == 0 { return bits >> 13 & 3 }
        return bits & 0x4000 == 0 ? bits >> (13 - index) & 1 : bits >> (12 - 2 * index) & 3
    }
}

extension TransportFeedback.Arrival {
    fileprivate var symbol: UInt16 {
        switch self {
        case .notReceived: StatusChunk.notReceived
        case .received(0...255): StatusChunk.smallDelta
        case .received: StatusChunk.largeDelta
        }
    }
}
