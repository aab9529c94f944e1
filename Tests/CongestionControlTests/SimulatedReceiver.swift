import CongestionControl

/// Notes arrivals and writes transport-wide feedback as libwebrtc does: from the first packet not yet reported, or an
/// earlier one that has come late, to the newest one received.
struct SimulatedReceiver {
    struct Feedback {
        var base: UInt16
        var referenceTime: Int32
        var arrivals: [PacketArrival]
    }

    /// What the receiver's clock is ahead by, in units of 250 µs.
    private static let clockOffset: Int64 = 77_777_777
    private static let farAway = Int64.max

    /// The arrival of each packet, in nanoseconds.
    private var times: [Int64] = []
    private var next = 0
    private var reportedAt: Int64 = 0
    private var feedbackCount = 0

    mutating func note(_ number: Int, at time: Int64) {
        while times.count <= number { times.append(Self.farAway) }
        if time < times[number] { times[number] = time }
    }

    /// The feedback about what has arrived until `now`, if anything has.
    mutating func feedback(at now: Int64) -> Feedback? {
        var first = next
        var number = max(0, next - 100)
        while number < next {
            if times[number] > reportedAt, times[number] <= now {
                first = number
                break
            }
            number += 1
        }
        var end = next
        number = next
        while number < times.count {
            if times[number] <= now { end = number + 1 }
            number += 1
        }
        reportedAt = now
        guard end > first else { return nil }
        var arrivals: [PacketArrival] = []
        arrivals.reserveCapacity(end - first)
        var reference: Int64?
        var last: Int64 = 0
        for number in first..<end {
            guard times[number] <= now else {
                arrivals.append(.notReceived)
                continue
            }
            let units = times[number] / 250_000 + Self.clockOffset
            if reference == nil {
                reference = units / 256
                last = units / 256 * 256
            }
            arrivals.append(.received(delta: Int(units - last)))
            last = units
        }
        next = max(next, end)
        guard let reference else { return nil }
        return Feedback(
            base: UInt16(truncatingIfNeeded: first), referenceTime: Int32(reference & 0xFF_FFFF), arrivals: arrivals)
    }
}
