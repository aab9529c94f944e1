import TestSupport

/// A packet on its way through a ``SimulatedLink``.
struct SimulatedPacket {
    var flow: Int
    /// Nil for a sender report.
    var number: Int?
    var byteCount: Int
    var sentAt: Int64
    /// The picture that it ends, if it is a picture's last packet, as the time at which that was made.
    var endsPictureOf: Int64?
}

/// A narrow hop with a queue, and the path around it. Times are nanoseconds since the start.
struct SimulatedLink {
    struct Conditions {
        /// The rate in bits per second from the start on, and the changes of it.
        var rate: Double
        var changes: [(at: Double, rate: Double)] = []
        /// The delay of the path in one direction, in milliseconds.
        var delay = 20.0
        /// What the queue holds, in milliseconds of the present rate.
        var queue = 300.0
        /// The fraction of packets lost by chance behind the narrow hop.
        var loss = 0.0
        /// The mean length of a burst of losses (Gilbert and Elliott); 1 means that losses are independent.
        var burst = 1.0
        /// Up to this many milliseconds are added to or taken from each packet's delay, from this time in seconds on.
        var jitter = 0.0
        var jitterStart = 0.0
        /// The milliseconds within which packets have the same jitter.
        var jitterLength = 0.0
        /// Whether packets keep their order in spite of jitter.
        var keepsOrder = true
        /// The fraction of packets that arrive 30 ms later than their turn.
        var reordered = 0.0
        /// The fraction of packets that arrive twice.
        var duplicated = 0.0

        /// The rate at `time` nanoseconds.
        func rate(at time: Int64) -> Double {
            var result = rate
            for change in changes where Double(time) >= change.at * 1e9 { result = change.rate }
            return result
        }
    }

    struct Arrival {
        var packet: SimulatedPacket
        var time: Int64
    }

    let conditions: Conditions
    private var random: SeededRandom
    private var queue: [SimulatedPacket] = []
    private var head = 0
    private(set) var queuedByteCount = 0
    /// The time at which the packet at the head of the queue has left.
    private var departure: Int64 = 0
    private var lastArrival: Int64 = 0
    private var isBad = false
    private var jitter = 0.0
    private var jitterEnd: Int64 = 0

    init(_ conditions: Conditions, seed: UInt64) {
        self.conditions = conditions
        random = SeededRandom(seed: seed)
    }

    /// A packet comes to the narrow hop. A full queue drops it.
    mutating func send(_ packet: SimulatedPacket, at now: Int64) {
        let rate = conditions.rate(at: now)
        let room = max(Int(rate * conditions.queue / 8000), 3000)
        guard queuedByteCount + packet.byteCount <= room else { return }
        if head == queue.count { departure = now + Int64(Double(packet.byteCount) * 8e9 / rate) }
        queue.append(packet)
        queuedByteCount += packet.byteCount
    }

    /// Moves the packets that leave the queue until `now` into `arrivals`, with the times at which they arrive.
    mutating func advance(to now: Int64, into arrivals: inout [Arrival]) {
        while head < queue.count, departure <= now {
            let packet = queue[head]
            head += 1
            queuedByteCount -= packet.byteCount
            arrive(packet, into: &arrivals)
            if head < queue.count {
                let rate = conditions.rate(at: departure)
                departure += Int64(Double(queue[head].byteCount) * 8e9 / rate)
            } else {
                queue.removeAll(keepingCapacity: true)
                head = 0
            }
        }
    }

    private mutating func arrive(_ packet: SimulatedPacket, into arrivals: inout [Arrival]) {
        if isLost() { return }
        var time = departure + Int64(conditions.delay * 1e6)
        if conditions.jitter > 0 {
            if departure >= jitterEnd {
                jitterEnd = departure + Int64(conditions.jitterLength * 1e6)
                jitter = (chance() * 2 - 1) * conditions.jitter
            }
            if Double(departure) >= conditions.jitterStart * 1e9 { time += Int64(jitter * 1e6) }
            if conditions.keepsOrder { time = max(time, lastArrival + 1000) }
            lastArrival = time
        }
        if conditions.reordered > 0, chance() < conditions.reordered { time += 30_000_000 }
        arrivals.append(Arrival(packet: packet, time: time))
        if conditions.duplicated > 0, chance() < conditions.duplicated {
            arrivals.append(Arrival(packet: packet, time: time + 1_000_000))
        }
    }

    private mutating func isLost() -> Bool {
        guard conditions.loss > 0 else { return false }
        guard conditions.burst > 1 else { return chance() < conditions.loss }
        // All packets of the bad state are lost; its mean length is the burst, and its share of the time the loss.
        let leaveBad = 1 / conditions.burst
        isBad = isBad ? chance() >= leaveBad : chance() < leaveBad * conditions.loss / (1 - conditions.loss)
        return isBad
    }

    /// A number from 0 to 1.
    private mutating func chance() -> Double { Double(random.next() >> 11) / 9_007_199_254_740_992 }
}
