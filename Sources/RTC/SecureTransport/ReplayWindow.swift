/// The index of an RTP packet (RFC 3711 section 3.3.1): the number of times its sequence number has rolled over, then
/// the sequence number.
///
///     +----------------------------+-----------------+
///     | roll-over counter, 32 bits | number, 16 bits |
///     +----------------------------+-----------------+
enum PacketIndex {
    /// The first invalid index: one key protects no more packets than this (RFC 3711 section 9.2).
    static let limit: UInt64 = 1 << 48

    /// The most likely index of a packet with `sequenceNumber`: of the non-negative indices with this number, the one
    /// closest to the `newest` index so far. The first packet's roll-over counter is 0.
    static func estimate(_ sequenceNumber: UInt16, newest: UInt64?) -> UInt64 {
        guard let newest else { return UInt64(sequenceNumber) }
        let half: UInt16 = 0x8000
        let last = UInt16(truncatingIfNeeded: newest)
        var rollOvers = newest >> 16
        if last < half {
            if rollOvers > 0, sequenceNumber > last + half { rollOvers -= 1 }
        } else if sequenceNumber < last - half {
            rollOvers += 1
        }
        return rollOvers << 16 | UInt64(sequenceNumber)
    }
}

/// A record of which of a source's latest packets have been received (RFC 3711 section 3.3.2), so that each is accepted
/// only once.
struct ReplayWindow {
    /// Packets at least this much older than the newest one are rejected, because the window no longer covers them.
    static let size: UInt64 = 1_024

    /// The highest index received.
    private(set) var newest: UInt64?
    /// One bit for each index, in a ring: the bit of index `i` is at `i` modulo `size`.
    private var bits = InlineArray<16, UInt64>(repeating: 0)

    /// Whether a packet with this index can be accepted: it has not been received, and it is not too old to tell.
    func admits(_ index: UInt64) -> Bool {
        guard let newest, index <= newest else { return true }
        return newest - index < Self.size && bits[Self.word(index)] & Self.bit(index) == 0
    }

    /// Records a packet that was authenticated and that the window admits.
    mutating func note(_ index: UInt64) {
        if let newest, index > newest {
            if index - newest >= Self.size {
                bits = InlineArray(repeating: 0)
            } else {
                for missing in newest + 1..<index { bits[Self.word(missing)] &= ~Self.bit(missing) }
            }
        }
        bits[Self.word(index)] |= Self.bit(index)
        newest = max(newest ?? index, index)
    }

    private static func word(_ index: UInt64) -> Int { Int(index % size / 64) }
    private static func bit(_ index: UInt64) -> UInt64 { 1 << (index % 64) }
}
