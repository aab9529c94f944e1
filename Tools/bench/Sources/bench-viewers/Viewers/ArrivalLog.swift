import MediaTypes
import RTP

/// The arrivals of one viewer's packets that it hasn't reported yet, by their transport-wide numbers.
struct ArrivalLog {
    /// A report about this many packets fits into a datagram.
    private static let limit: Int64 = 400
    /// The units of a report, in nanoseconds.
    private static let (referenceUnit, deltaUnit): (Int64, Int64) = (64_000_000, 250_000)

    private var arrivals: [(number: Int64, time: MonotonicTime)] = []
    private var highest: Int64?
    /// The highest number that was reported, as received or not.
    private var reported: Int64?
    private var count: UInt8 = 0

    mutating func note(_ number: UInt16, at time: MonotonicTime) {
        var extended = Int64(number)
        if let highest {
            extended = highest + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
        }
        highest = max(highest ?? extended, extended)
        arrivals.append((extended, time))
    }

    /// The next report; nil if nothing is left to report.
    mutating func report(sender: SSRC, media: SSRC) -> TransportFeedback? {
        guard !arrivals.isEmpty else { return nil }
        arrivals.sort { $0.number < $1.number }
        let (first, firstTime) = arrivals[0]
        // Packets lost between two reports are reported too.
        var base = first
        if let reported, reported < first, first - reported < Self.limit / 2 { base = reported + 1 }
        let end = arrivals.firstIndex { $0.number - base >= Self.limit } ?? arrivals.count
        let reference = firstTime.nanoseconds / Self.referenceUnit
        var moment = reference * Self.referenceUnit
        var next = base
        var list: [TransportFeedback.Arrival] = []
        list.reserveCapacity(Int(arrivals[end - 1].number - base) + 1)
        for (number, time) in arrivals[..<end] where number >= next {
            while next < number {
                list.append(.notReceived)
                next += 1
            }
            let delta = Int16(clamping: (time.nanoseconds - moment) / Self.deltaUnit)
            moment += Int64(delta) * Self.deltaUnit
            list.append(.received(delta: delta))
            next += 1
        }
        reported = max(reported ?? next - 1, next - 1)
        arrivals.removeSubrange(..<end)
        defer { count &+= 1 }
        return TransportFeedback(
            sender: sender, media: media, base: UInt16(truncatingIfNeeded: base),
            referenceTime: Int32(truncatingIfNeeded: reference), feedbackCount: count, arrivals: list)
    }
}
