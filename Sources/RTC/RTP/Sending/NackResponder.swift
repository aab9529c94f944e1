public import MediaTypes

/// Decides which of the packets that a peer reports as lost are retransmitted. To keep a peer from making us flood its
/// address, a packet is retransmitted at most once in half a round trip, and all retransmissions together stay within a
/// budget and within the path's room.
public struct NackResponder: Sendable {
    /// How many bytes may be retransmitted per second, in addition to as many bytes as media was sent in that second.
    public static let allowance = 256 << 10
    /// The minimum interval between two retransmissions of the same packet.
    public static let minSpacing = Interval.milliseconds(10)

    /// The number of bytes that the path can carry now. More would only be lost again; the peer requests it again.
    public var pathRoom = Int.max

    private var media = OneSecondSum()
    private var resent = OneSecondSum()
    /// When the last request for a packet was answered, for those that would be answered too soon again.
    private var answeredAt: [SequenceNumber: MonotonicTime] = [:]

    /// A responder that has not been asked yet.
    public init() {}

    /// Counts `byteCount` bytes of media sent for the first time, which raise the budget for a second.
    public mutating func noteMediaSent(byteCount: Int, at now: MonotonicTime) {
        media.add(byteCount, at: now)
    }

    /// Counts `byteCount` bytes sent again as a probe, without a request; they reduce the budget for a second.
    public mutating func noteProbeSent(byteCount: Int, at now: MonotonicTime) {
        resent.add(byteCount, at: now)
    }

    /// The packets of `sent` to retransmit now, in the order requested.
    ///
    /// - Parameter roundTripTime: the last measured round-trip time; nil before the first measurement, which counts as
    ///   100 ms.
    public mutating func answer(
        _ sequenceNumbers: [SequenceNumber], from sent: RTPPacketHistory, roundTripTime: Interval?,
        at now: MonotonicTime
    ) -> [SentPacket] {
        // A peer asks again after a round trip, but jitter brings its request sooner.
        let spacing = max((roundTripTime ?? .milliseconds(100)) / 2, Self.minSpacing)
        answeredAt = answeredAt.filter { now - $0.value < spacing }
        var room = min(media.sum(at: now) + Self.allowance - resent.sum(at: now), pathRoom)
        var packets: [SentPacket] = []
        for number in sequenceNumbers {
            guard answeredAt[number] == nil, let packet = sent.packet(number), packet.byteCount <= room else {
                continue
            }
            room -= packet.byteCount
            pathRoom -= packet.byteCount
            resent.add(packet.byteCount, at: now)
            answeredAt[number] = now
            packets.append(packet)
        }
        return packets
    }
}

extension RTPStream {
    /// The packets of this stream to retransmit for `nack`, as `responder` decides; empty if `nack` is about another
    /// stream.
    public func answer(
        _ nack: GenericNack, by responder: inout NackResponder, roundTripTime: Interval?, at now: MonotonicTime
    ) -> [SentPacket] {
        guard nack.media == configuration.ssrc else { return [] }
        return responder.answer(nack.sequenceNumbers, from: sent, roundTripTime: roundTripTime, at: now)
    }
}

/// A sum over the last second, kept in ten steps of 100 ms.
public struct OneSecondSum: Sendable {
    private var steps = InlineArray<10, Int>(repeating: 0)
    private var current: Int64 = 0

    /// A sum of nothing.
    public init() {}

    /// Adds `amount`, which counts for a second from `now` on.
    public mutating func add(_ amount: Int, at now: MonotonicTime) {
        advance(to: now)
        steps[Int(current % 10)] += amount
    }

    /// The sum of the amounts added in the last second.
    public mutating func sum(at now: MonotonicTime) -> Int {
        advance(to: now)
        var sum = 0
        for index in steps.indices { sum += steps[index] }
        return sum
    }

    private mutating func advance(to now: MonotonicTime) {
        let step = max(now.nanoseconds, 0) / 100_000_000
        guard step > current else { return }
        for passed in 0..<min(step - current, 10) { steps[Int((step - passed) % 10)] = 0 }
        current = step
    }
}
