/// An access unit put together again from packets.
public struct ReceivedAccessUnit: Hashable, Sendable {
    /// The time stamp of its packets.
    public let timestamp: RTPTimestamp
    /// Its NAL units in order, without start codes.
    public let nalUnits: [[UInt8]]
    /// Whether nothing of it can be missing: no gap in the sequence at or in it, no broken payload.
    public let isComplete: Bool

    /// All NAL units, each behind the start code `00 00 00 01`.
    public var annexB: [UInt8] {
        var bytes: [UInt8] = []
        for unit in nalUnits {
            bytes += [0, 0, 0, 1]
            bytes += unit
        }
        return bytes
    }
}

/// Puts access units together from packets in the order of their sequence numbers (RFC 6184, packetization modes 0 and 1).
///
/// It reorders nothing: a packet from before the last one is dropped, a number left out is a gap. What a peer sends never
/// traps and never takes more than `maximumByteCount`.
public struct H264Depacketizer: Sendable {
    /// The most that one access unit may take; what goes beyond is dropped and leaves the unit incomplete.
    public static let maximumByteCount = 8 << 20
    private static let maximumNALUnitCount = 8192

    /// Packets that never came, by the gaps in the sequence.
    public private(set) var lostPackets = 0
    /// Packets that came twice, or after a later one.
    public private(set) var latePackets = 0
    /// Payloads that were broken or of a kind that mode 1 doesn't have.
    public private(set) var malformedPayloads = 0

    private var unwrapper = SequenceUnwrapper()
    private var last: ExtendedSequenceNumber?
    private var timestamp: RTPTimestamp?
    private var nalUnits: [[UInt8]] = []
    private var fragment: [UInt8] = []
    private var hasFragment = false
    /// The start of the fragments at hand was lost: they go unused, and are no fault of the sender's.
    private var skipsFragments = false
    private var byteCount = 0
    private var isDamaged = false

    /// A depacketizer that has seen nothing.
    public init() {}

    /// Takes the next packet; gives the access units that it completes or cuts off: none, one, or (where a marker was lost) two.
    public mutating func receive(_ header: RTPPacketHeader, payload: ArraySlice<UInt8>) -> [ReceivedAccessUnit] {
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
            // The end of the unit at hand may have been lost, and so may the beginning of the next one.
            isDamaged = true
            dropFragment()
            skipsFragments = true
        }
        // Nothing but padding: it fills a place in the sequence and belongs to no picture.
        if payload.isEmpty { return [] }

        var finished: [ReceivedAccessUnit] = []
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

    private mutating func finish(_ timestamp: RTPTimestamp) -> ReceivedAccessUnit {
        let unit = ReceivedAccessUnit(
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

    /// Whether `payload` was of a known form, in its place, and within the limits.
    private mutating func take(_ payload: ArraySlice<UInt8>) -> Bool {
        guard let first = payload.first else { return false }
        let type = first & 0x1F
        // A fragment's end went missing, or the sender never sent it: the part alone is worth nothing.
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
            // A second start before an end: what the first one began stays a part.
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
