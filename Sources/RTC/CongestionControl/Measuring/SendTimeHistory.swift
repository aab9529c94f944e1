import MediaTypes

/// The history of sent packets, by transport-wide sequence number: media, retransmissions and padding alike.
///
/// It holds the packets of the last five seconds and often more, but at most ``capacity``; older ones are forgotten,
/// reported or not. The numbers are 16 bits on the wire and 64 bits in here.
struct SendTimeHistory {
    /// The receiver's report on a packet.
    enum Status: UInt8 {
        case unreported
        /// The packet or the feedback about it was lost.
        case unknown
        case lost
        case received
    }

    struct Packet {
        var sentAt: MonotonicTime
        var byteCount: Int32
        /// The probe that the packet belongs to; 0 if none.
        var probe: UInt8
        var status: Status
    }

    /// A packet as it is remembered, in 8 bytes.
    struct Place {
        /// Microseconds, rounded up, without the high bits.
        var sentAt: UInt32
        var byteCount: UInt16
        var probe: UInt8
        var status: Status
    }

    /// The most packets that are remembered: at 1200 bytes each, 2 s of 20 Mbit/s. The memory for them is 32 KiB, and
    /// less for a stream of few packets.
    static let capacity = 4096
    private static let age = Interval.seconds(5)

    /// The number of the next packet.
    private(set) var next: Int64 = 0
    /// The bytes sent that the receiver has not reported yet, of the packets remembered.
    private(set) var unreportedBytes = 0
    /// A power of two of places, so that a place is the low bits of the number; empty before the first packet.
    private var slots: [Place] = []
    /// The number of the oldest packet remembered.
    private var oldest: Int64 = 0
    /// The packets before this one have been given up unless they were reported.
    private var givenUpEnd: Int64 = 0
    /// When the newest packet was sent, in microseconds.
    private var newestSentAt: Int64 = 0

    /// Remembers the next packet, of at most 65535 bytes.
    mutating func append(byteCount: Int, probe: UInt8, at now: MonotonicTime) {
        // A packet that is sent at the time of a decision must not seem to be older.
        newestSentAt = (now.nanoseconds + 999) / 1000
        let place = Place(
            sentAt: UInt32(truncatingIfNeeded: newestSentAt), byteCount: UInt16(clamping: byteCount), probe: probe,
            status: .unreported)
        unreportedBytes += Int(place.byteCount)
        if next - oldest == slots.count {
            if slots.isEmpty || slots.count < Self.capacity && now - sentAt(slots[index(oldest)]) < Self.age {
                grow(filledWith: place)
            } else {
                if slots[index(oldest)].status == .unreported { unreportedBytes -= Int(slots[index(oldest)].byteCount) }
                oldest += 1
            }
        }
        slots[index(next)] = place
        next += 1
    }

    /// When the packet was sent: right for those that were sent less than 35 minutes before the newest one.
    private func sentAt(_ place: Place) -> MonotonicTime {
        let difference = Int32(bitPattern: place.sentAt &- UInt32(truncatingIfNeeded: newestSentAt))
        return MonotonicTime(nanoseconds: (newestSentAt + Int64(difference)) * 1000)
    }

    private mutating func grow(filledWith place: Place) {
        let former = slots
        slots = Array(repeating: place, count: max(64, former.count * 2))
        for number in oldest..<next { slots[index(number)] = former[Int(number) & (former.count - 1)] }
    }

    private func index(_ number: Int64) -> Int { Int(number) & (slots.count - 1) }

    /// The full number of the packet that the wire's `number` means: the one nearest to the newest packet.
    func expand(_ number: UInt16) -> Int64 {
        let newest = next - 1
        let difference = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: newest))
        return newest + Int64(difference)
    }

    /// The packet of that number, if it was sent and is still remembered.
    func packet(_ number: Int64) -> Packet? {
        guard number >= oldest, number < next else { return nil }
        let place = slots[index(number)]
        return Packet(
            sentAt: sentAt(place), byteCount: Int32(place.byteCount), probe: place.probe, status: place.status)
    }

    /// Records the receiver's report on a packet, and returns the packet's previous state.
    mutating func report(_ number: Int64, _ status: Status) -> Packet? {
        guard let packet = packet(number) else { return nil }
        // A late packet was reported as lost before; the reverse means nothing.
        guard packet.status != .received, packet.status != status else { return packet }
        if packet.status == .unreported { unreportedBytes -= Int(packet.byteCount) }
        slots[index(number)].status = status
        return packet
    }

    /// Removes the unreported packets before `end` from the unreported bytes: the packets or the feedback about them
    /// were lost.
    mutating func giveUp(before end: Int64) {
        var number = max(givenUpEnd, oldest)
        while number < min(end, next) {
            let place = index(number)
            if slots[place].status == .unreported {
                unreportedBytes -= Int(slots[place].byteCount)
                slots[place].status = .unknown
            }
            number += 1
        }
        givenUpEnd = max(givenUpEnd, number)
    }
}
