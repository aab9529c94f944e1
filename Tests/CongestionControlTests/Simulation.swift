import CongestionControl
import MediaTypes
import RTP

/// Senders that share one link, in simulated time, in steps of a millisecond.
struct Simulation {
    /// What a sender believed and did, every 100 ms.
    struct Sample {
        var time: Double
        var estimate: Double
        var pacing: Double
        var queue: Double
        /// The rate sent in the 100 ms before.
        var sent: Double
    }

    struct Picture {
        var madeAt: Double
        /// From being made to the arrival of its last packet, in milliseconds.
        var delay: Double
    }

    private struct Return {
        var flow: Int
        var time: Int64
        var feedback: SimulatedReceiver.Feedback
    }

    private(set) var senders: [SimulatedSender]
    /// For each sender.
    private(set) var samples: [[Sample]]
    private(set) var pictures: [[Picture]]
    private(set) var link: SimulatedLink
    private var receivers: [SimulatedReceiver]
    private var returns: [Return] = []
    private var sentBefore: [Int]
    private let feedbackInterval: Int64
    private let hasTransportFeedback: Bool
    private var now: Int64 = 0

    /// The receivers write feedback each `feedbackInterval` milliseconds, transport-wide or reception reports.
    init(
        link: SimulatedLink.Conditions, senders: [SimulatedSender], feedbackInterval: Int64 = 100,
        hasTransportFeedback: Bool = true, seed: UInt64 = 1
    ) {
        self.hasTransportFeedback = hasTransportFeedback
        self.link = SimulatedLink(link, seed: seed)
        self.senders = senders
        self.feedbackInterval = feedbackInterval * 1_000_000
        receivers = senders.map { _ in SimulatedReceiver() }
        samples = senders.map { _ in [] }
        pictures = senders.map { _ in [] }
        sentBefore = senders.map { _ in 0 }
    }

    mutating func run(seconds: Double) {
        let end = now + Int64(seconds * 1e9)
        let back = Int64(link.conditions.delay * 1e6)
        var arrivals: [SimulatedLink.Arrival] = []
        while now < end {
            now += 1_000_000
            arrivals.removeAll(keepingCapacity: true)
            link.advance(to: now, into: &arrivals)
            for arrival in arrivals {
                if let number = arrival.packet.number {
                    receivers[arrival.packet.flow].note(number, at: arrival.time)
                } else {
                    receivers[arrival.packet.flow].noteReport(sentAt: arrival.packet.sentAt, at: arrival.time)
                }
                if let made = arrival.packet.endsPictureOf {
                    pictures[arrival.packet.flow].append(
                        Picture(madeAt: Double(made) / 1e9, delay: Double(arrival.time - made) / 1e6))
                }
            }
            for flow in senders.indices {
                guard now % feedbackInterval == 0 else { continue }
                let feedback =
                    hasTransportFeedback
                    ? receivers[flow].transportFeedback(at: now) : receivers[flow].receptionReport(at: now)
                if let feedback { returns.append(Return(flow: flow, time: now + back, feedback: feedback)) }
            }
            while let first = returns.first, first.time <= now {
                returns.removeFirst()
                deliver(first)
            }
            for flow in senders.indices { senders[flow].advance(to: now, link: &link) }
            if now % 100_000_000 == 0 { sample() }
        }
    }

    private mutating func deliver(_ item: Return) {
        let time = MonotonicTime(nanoseconds: now)
        switch item.feedback {
        case .transport(let feedback): senders[item.flow].controller.receive(feedback, at: time)
        case .reception(let report, let echo):
            let last = SequenceNumber(UInt16(truncatingIfNeeded: senders[item.flow].number - 1))
            senders[item.flow].controller.receive(
                report, lastSent: last,
                roundTripTime: echo.map { Interval(nanoseconds: now - $0.sentAt - $0.delay) }, at: time)
        }
    }

    private mutating func sample() {
        for flow in senders.indices {
            let plan = senders[flow].plan
            samples[flow].append(
                Sample(
                    time: Double(now) / 1e9, estimate: Double(plan.estimate.bitsPerSecond),
                    pacing: Double(plan.pacingRate.bitsPerSecond), queue: Double(plan.queueingDelay.nanoseconds) / 1e6,
                    sent: Double(senders[flow].sentByteCount - sentBefore[flow]) * 80))
            sentBefore[flow] = senders[flow].sentByteCount
        }
    }
}
