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
        var probe: UInt16
        var status: Status
    }

    /// The most packets that are remembered: at 1200 bytes each, 2 s of 20 Mbit/s. The memory for them is 64 KiB, and
    /// less for a stream of few packets.
    static let capacity = 4096
    private static let age = Interval.seconds(5)

    /// The number of the next packet.
    private(set) var next: Int64 = 0
    /// The bytes sent that the receiver has not reported yet, of the packets remembered.
    private(set) var unreportedBytes = 0
    /// A power of two of places, so that a place is the low bits of the number; empty before the first packet.
    private var slots: [Packet] = []
    /// The number of the oldest packet remembered.
    private var oldest: Int64 = 0
    /// The packets before this one have been given up unless they were reported.
    private var givenUpEnd: Int64 = 0

    /// Remembers the next packet.
    mutating func append(byteCount: Int, probe: UInt16, at now: MonotonicTime) {
        let packet = Packet(
            sentAt: now, byteCount: Int32(clamping: max(byteCount, 0)), probe: probe, status: .unreported)
        unreportedBytes += Int(packet.byteCount)
        if next - oldest == slots.count {
            if slots.isEmpty || slots.count < Self.capacity && now - slots[index(oldest)].sentAt < Self.age {
                grow(filledWith: packet)
            } else {
                if slots[index(oldest)].status == .unreported { unreportedBytes -= Int(slots[index(oldest)].byteCount) }
                oldest += 1
            }
        }
        slots[index(next)] = packet
        next += 1
    }

    private mutating func grow(filledWith packet: Packet) {
        let former = slots
        slots = Array(repeating: packet, count: max(64, former.count * 2))
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
        return slots[index(number)]
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
