import MediaTypes

/// The rate of the narrowest link, as the packets of single pictures show it: they are sent faster than the link
/// carries them, and arrive one behind the other, however little is sent on average.
///
/// So even a source that never fills the link shows the link's rate. If packets arrive as they were sent, the link may
/// carry anything. While jitter makes trains uneven, the rate that they showed before holds for some seconds.
struct PacketTrainEstimator {
    private struct Train {
        var endedAt: MonotonicTime
        /// All but the first packet's.
        var byteCount: Int
        /// From the first packet to the last: as they were sent, and as they arrived.
        var sentTime: Interval
        var arrivalTime: Interval
    }

    /// Packets that are sent further apart than this beyond their pace belong to different trains.
    private static let gap = Interval.milliseconds(6)
    /// No more than this, however slow the path is.
    private static let maxGap = Interval.seconds(1)
    private static let minPacketCount = 3
    private static let count = 8...16
    private static let lifetime = Interval.seconds(3)
    /// The link has spread the packets if they took so much longer to arrive than to be sent.
    private static let spread = 1.15
    /// The shortest time in which all trains together arrive: arrivals are reported in steps of 250 µs.
    private static let minArrivalTime = Interval.milliseconds(20)
    /// The standard error of the rate, as a share of it. Jitter makes some trains shorter and others longer, and then
    /// they show nothing.
    private static let error = 0.03
    /// How long the rate that trains have shown holds while they show nothing.
    private static let memory = Interval.seconds(5)

    private var trains: [Train] = []
    /// The rate that trains have shown last.
    private var known: (rate: BitRate, at: MonotonicTime)?
    private var present: Train?
    private var packets = 0
    private var number: Int64 = -1
    private var lastArrival = ReceiverTime(nanoseconds: 0)

    /// Adds a packet that arrived, and was sent at a pace of `rate` at least.
    mutating func add(_ packet: SendTimeHistory.Packet, _ number: Int64, rate: BitRate, at time: ReceiverTime) {
        defer {
            self.number = number
            lastArrival = time
        }
        let gap = Self.gap + min(rate.time(for: Int(packet.byteCount)), Self.maxGap)
        if var train = present, number == self.number + 1, packet.sentAt - train.endedAt <= gap {
            train.byteCount += Int(packet.byteCount)
            train.sentTime = train.sentTime + (packet.sentAt - train.endedAt)
            train.arrivalTime = train.arrivalTime + (time - lastArrival)
            train.endedAt = packet.sentAt
            present = train
            packets += 1
            return
        }
        if let present, packets >= Self.minPacketCount {
            if trains.count == Self.count.upperBound { trains.removeFirst() }
            trains.append(present)
        }
        present = Train(endedAt: packet.sentAt, byteCount: 0, sentTime: .zero, arrivalTime: .zero)
        packets = 1
    }

    /// Forgets what trains have shown before: a probe has shown that the link carries more. The trains of the last
    /// seconds, if they are even, still outrank it.
    mutating func forget() { known = nil }

    /// The link's rate; nil if nothing shows it, or has lately.
    mutating func rate(at now: MonotonicTime) -> BitRate? {
        var (bytes, sent, arrived, count) = (0.0, Interval.zero, Interval.zero, 0)
        for train in trains where now - train.endedAt < Self.lifetime {
            bytes += Double(train.byteCount)
            sent = sent + train.sentTime
            arrived = arrived + train.arrivalTime
            count += 1
        }
        if count >= Self.count.lowerBound {
            if arrived <= max(Self.minArrivalTime, sent.scaled(by: Self.spread)) {
                known = nil
            } else if unevenness(of: arrived.seconds / bytes, at: now) < Self.error * arrived.seconds {
                known = (BitRate(bytes, in: arrived), trains.last?.endedAt ?? now)
            }
        }
        return known.flatMap { now - $0.at < Self.memory ? $0.rate : nil }
    }

    /// How far the trains are from taking `time` for each byte, all together. Both are in seconds.
    private func unevenness(of time: Double, at now: MonotonicTime) -> Double {
        var squares = 0.0
        for train in trains where now - train.endedAt < Self.lifetime {
            let difference = train.arrivalTime.seconds - time * Double(train.byteCount)
            squares += difference * difference
        }
        return squares.squareRoot()
    }
}
