import MediaTypes

/// The rate of the narrowest link, as the packets of single pictures show it: they are sent faster than the link
/// carries them, and arrive one behind the other, however little is sent on average.
///
/// So a source that never fills the link shows its end nevertheless. If packets arrive as they were sent, the link may
/// carry anything. While jitter makes trains uneven, what they showed before holds for some seconds.
struct PacketTrainEstimator {
    private struct Train {
        var endedAt: MonotonicTime
        /// All but the first packet's.
        var byteCount: Int
        /// From the first packet to the last, in nanoseconds: as they were sent, and as they arrived.
        var sentTime: Int64
        var arrivalTime: Int64
    }

    /// Packets that are sent further apart than this beyond their pace belong to different trains.
    private static let gap = Interval.milliseconds(6)
    private static let fewestPackets = 3
    private static let count = 8...16
    private static let lifetime = Interval.seconds(3)
    /// The link has spread the packets if they took so much longer to arrive than to be sent.
    private static let spread = 1.15
    /// The shortest time in which all trains together arrive, in nanoseconds: arrivals are told in steps of 250 µs.
    private static let shortest = 20e6
    /// The standard error of the rate, as a share of it. Jitter makes some trains shorter and others longer, and then
    /// they say nothing.
    private static let error = 0.03
    /// How long the rate that trains have shown holds while they say nothing.
    private static let memory = Interval.seconds(5)

    private var trains: [Train] = []
    /// What trains have shown last.
    private var known: (rate: Double, at: MonotonicTime)?
    private var present: Train?
    private var packets = 0
    private var number: Int64 = -1
    private var lastArrival = ReceiverTime(nanoseconds: 0)

    /// Adds a packet that arrived, and was sent at a pace of `rate` bits per second at least.
    mutating func add(_ packet: SendTimeHistory.Packet, _ number: Int64, rate: Double, at time: ReceiverTime) {
        defer {
            self.number = number
            lastArrival = time
        }
        let gap = Self.gap + Interval(nanoseconds: Int64(min(Double(packet.byteCount) * 8e9 / rate, 1e9)))
        if var train = present, number == self.number + 1, packet.sentAt - train.endedAt <= gap {
            train.byteCount += Int(packet.byteCount)
            train.sentTime &+= (packet.sentAt - train.endedAt).nanoseconds
            train.arrivalTime &+= time.nanoseconds &- lastArrival.nanoseconds
            train.endedAt = packet.sentAt
            present = train
            packets += 1
            return
        }
        if let present, packets >= Self.fewestPackets {
            if trains.count == Self.count.upperBound { trains.removeFirst() }
            trains.append(present)
        }
        present = Train(endedAt: packet.sentAt, byteCount: 0, sentTime: 0, arrivalTime: 0)
        packets = 1
    }

    /// Forgets what trains have shown before: a probe has shown that the link carries more. The trains of the last
    /// seconds, if they are even, still outrank it.
    mutating func forget() { known = nil }

    /// The link's rate in bits per second; nil if nothing shows it, or has lately.
    mutating func rate(at now: MonotonicTime) -> Double? {
        var (bytes, sent, arrived, count) = (0.0, 0.0, 0.0, 0)
        for train in trains where now - train.endedAt < Self.lifetime {
            bytes += Double(train.byteCount)
            sent += Double(train.sentTime)
            arrived += Double(train.arrivalTime)
            count += 1
        }
        if count >= Self.count.lowerBound {
            if arrived <= max(Self.shortest, sent * Self.spread) {
                known = nil
            } else if unevenness(of: arrived / bytes, at: now) < Self.error * arrived {
                known = (bytes * 8e9 / arrived, trains.last?.endedAt ?? now)
            }
        }
        return known.flatMap { now - $0.at < Self.memory ? $0.rate : nil }
    }

    /// How far the trains are from taking `time` nanoseconds for each byte, all together.
    private func unevenness(of time: Double, at now: MonotonicTime) -> Double {
        var squares = 0.0
        for train in trains where now - train.endedAt < Self.lifetime {
            let difference = Double(train.arrivalTime) - time * Double(train.byteCount)
            squares += difference * difference
        }
        return squares.squareRoot()
    }
}
