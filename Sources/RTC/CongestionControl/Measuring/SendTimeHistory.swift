import MediaTypes

/// The history of sent packets, by transport-wide sequence number: media, retransmissions and padding alike.
///
/// It holds the last ``capacity`` packets and forgets older ones, reported or not. The numbers are 16 bits on the wire
/// and 64 bits in here.
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

    /// The number of packets remembered: at 1200 bytes each, 2 s of 20 Mbit/s. The memory for them is 64 KiB.
    static let capacity = 4096

    /// The number of the next packet.
    private(set) var next: Int64 = 0
    /// The bytes sent that the receiver has not reported yet, of the packets remembered.
    private(set) var unreportedBytes = 0
    private var slots: [Packet] = []
    /// The packets before this one have been given up unless they were reported.
    private var givenUpEnd: Int64 = 0

    /// Remembers the next packet.
    mutating func append(byteCount: Int, probe: UInt16, at now: MonotonicTime) {
        let packet = Packet(
            sentAt: now, byteCount: Int32(clamping: max(byteCount, 0)), probe: probe, status: .unreported)
        unreportedBytes += Int(packet.byteCount)
        if slots.count < Self.capacity {
            slots.append(packet)
        } else {
            let index = Int(next & Int64(Self.capacity - 1))
            if slots[index].status == .unreported { unreportedBytes -= Int(slots[index].byteCount) }
            slots[index] = packet
        }
        next += 1
    }

    /// The full number of the packet that the wire's `number` means: the one nearest to the newest packet.
    func expand(_ number: UInt16) -> Int64 {
        let newest = next - 1
        let difference = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: newest))
        return newest + Int64(difference)
    }

    /// The packet of that number, if it was sent and is still remembered.
    func packet(_ number: Int64) -> Packet? {
        guard number >= 0, number < next, number >= next - Int64(Self.capacity) else { return nil }
        return slots[Int(number & Int64(Self.capacity - 1))]
    }

    /// Records the receiver's report on a packet, and returns the packet's previous state.
    mutating func report(_ number: Int64, _ status: Status) -> Packet? {
        guard let packet = packet(number) else { return nil }
        // A late packet was reported as lost before; the reverse means nothing.
        guard packet.status != .received, packet.status != status else { return packet }
        if packet.status == .unreported { unreportedBytes -= Int(packet.byteCount) }
        slots[Int(number & Int64(Self.capacity - 1))].status = status
        return packet
    }

    /// Removes the unreported packets before `end` from the unreported bytes: the packets or the feedback about them
    /// were lost.
    mutating func giveUp(before end: Int64) {
        var number = max(givenUpEnd, next - Int64(Self.capacity), 0)
        while number < min(end, next) {
            let index = Int(number & Int64(Self.capacity - 1))
            if slots[index].status == .unreported {
                unreportedBytes -= Int(slots[index].byteCount)
                slots[index].status = .unknown
            }
            number += 1
        }
        givenUpEnd = max(givenUpEnd, number)
    }
}
