/// An access unit reassembled from packets.
public struct ReceivedFrame: Hashable, Sendable {
    /// The timestamp of its packets.
    public let timestamp: RTPTimestamp
    /// Its NAL units in order, without start codes.
    public let nalUnits: [[UInt8]]
    /// Whether the access unit is complete: there was no gap in the sequence before or inside it, and no malformed
    /// payload.
    public let isComplete: Bool

    /// All NAL units in order, each after the start code `00 00 00 01`.
    public var annexB: [UInt8] {
        var bytes: [UInt8] = []
        for unit in nalUnits {
            bytes += [0, 0, 0, 1]
            bytes += unit
        }
        return bytes
    }
}

/// Reassembles access units from packets that arrive in sequence order (RFC 6184, packetization modes 0 and 1).
///
/// It does no reordering: a packet from before the last one is dropped, and a skipped sequence number is a gap. No
/// input can make it trap or use more than `maximumByteCount` for an access unit.
public struct H264Depacketizer: Sendable {
    /// The largest access unit in bytes. Anything beyond is dropped and leaves the unit incomplete.
    public static let maximumByteCount = 8 << 20
    private static let maximumNALUnitCount = 8192

    /// Packets that never arrived, counted by the gaps in the sequence.
    public private(set) var lostPackets = 0
    /// Packets that arrived twice, or after a later one.
    public private(set) var latePackets = 0
    /// Payloads that were malformed, or of a type that mode 1 does not allow.
    public private(set) var malformedPayloads = 0

    private var unwrapper = SequenceUnwrapper()
    private var last: ExtendedSequenceNumber?
    private var timestamp: RTPTimestamp?
    private var nalUnits: [[UInt8]] = []
    private var fragment: [UInt8] = []
    private var hasFragment = false
    /// Whether the start of the current fragments was lost. They are dropped, but don't count as malformed.
    private var skipsFragments = false
    private var byteCount = 0
    private var isDamaged = false

    /// A depacketizer that has seen no packet yet.
    public init() {}

    /// Takes the next packet and returns the access units that it completes or cuts off: none, one, or two if a marker
    /// was lost.
    public mutating func receive(_ header: RTPPacketHeader, payload: ArraySlice<UInt8>) -> [ReceivedFrame] {
        let number = unwrapper.unwrap(header.sequenceNumber)
        var gap: Int64 = 0
        if let last {
            guard number > last else {
                latePackets += 1
                return []
            }
            gap = number.rawValue - last.rawValue - 1
        }
        last = number
        lostPackets += Int(gap)
        if gap > 0 {
            // The end of the current unit may have been lost, and so may the beginning of the next one.
            isDamaged = true
            dropFragment()
            skipsFragments = true
        }
        // A padding-only packet takes a sequence number and belongs to no picture.
        if payload.isEmpty { return [] }

        var finished: [ReceivedFrame] = []
        if let timestamp, timestamp != header.timestamp {
            finished.append(finish(timestamp))
            isDamaged = gap > 0
        }
        timestamp = header.timestamp
        if !take(payload) {
            malformedPayloads += 1
            isDamaged = true
        }
        if header.marker { finished.append(finish(header.timestamp)) }
        return finished
    }

    private mutating func finish(_ timestamp: RTPTimestamp) -> ReceivedFrame {
        let unit = ReceivedFrame(
            timestamp: timestamp, nalUnits: nalUnits, isComplete: !isDamaged && !hasFragment && !nalUnits.isEmpty)
        self.timestamp = nil
        nalUnits = []
        dropFragment()
        byteCount = 0
        isDamaged = false
        return unit
    }

    private mutating func dropFragment() {
        fragment = []
        hasFragment = false
    }

    /// Adds `payload` to the current unit. Returns whether it had a known form, was in sequence, and was within the
    /// limits.
    private mutating func take(_ payload: ArraySlice<UInt8>) -> Bool {
        guard let first = payload.first else { return false }
        let type = first & 0x1F
        // The last fragment was lost or never sent, so the partial NAL unit is useless.
        let cutOff = hasFragment && type != RTPPayload.fragmentType
        if cutOff { dropFragment() }
        if type != RTPPayload.fragmentType { skipsFragments = false }
        let taken =
            switch type {
            case 1...23: add(payload)
            case RTPPayload.aggregateType: takeAggregate(payload.dropFirst())
            case RTPPayload.fragmentType: takeFragment(payload, indicator: first)
            default: false
            }
        return taken && !cutOff
    }

    private mutating func takeAggregate(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body
        var isSound = !rest.isEmpty
        while !rest.isEmpty {
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return false }
            let count = Int(high) << 8 | Int(low)
            guard count <= rest.count else { return false }
            if !add(rest.prefix(count)) { isSound = false }
            rest = rest.dropFirst(count)
        }
        return isSound
    }

    private mutating func takeFragment(_ payload: ArraySlice<UInt8>, indicator: UInt8) -> Bool {
        let rest = payload.dropFirst()
        guard let header = rest.first else { return false }
        let isStart = header & 0x80 != 0
        let isEnd = header & 0x40 != 0
        let body = rest.dropFirst()
        var isSound = !body.isEmpty
        if isStart {
            // A second start before an end leaves the NAL unit of the first one incomplete.
            if hasFragment { isSound = false }
            guard (1...23).contains(header & 0x1F) else {
                dropFragment()
                return false
            }
            fragment = [indicator & 0xE0 | header & 0x1F]
            hasFragment = true
            skipsFragments = false
        } else if !hasFragment {
            isDamaged = true
            return skipsFragments
        }
        guard byteCount + fragment.count + body.count <= Self.maximumByteCount else {
            dropFragment()
            return false
        }
        fragment.append(contentsOf: body)
        if isEnd {
            if isSound { isSound = add(fragment[...]) }
            dropFragment()
        }
        return isSound
    }

    private mutating func add(_ unit: ArraySlice<UInt8>) -> Bool {
        guard let first = unit.first, (1...23).contains(first & 0x1F), nalUnits.count < Self.maximumNALUnitCount,
            byteCount + unit.count <= Self.maximumByteCount
        else { return false }
        byteCount += unit.count
        nalUnits.append(Array(unit))
        return true
    }
}
