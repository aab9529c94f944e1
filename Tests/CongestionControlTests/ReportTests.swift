import CongestionControl
import MediaTypes
import RTP
import TestSupport
import Testing

private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1_000_000)) }

/// A path without transport-wide feedback, with the reports that the test makes up: 10 packets are sent each 100 ms.
private struct ReportedPath {
    private(set) var controller: CongestionController
    private(set) var second: Int64 = 0
    private var sent = 0
    private var covered = 0

    init(initial: BitRate, roundTrip: Interval? = nil) {
        controller = CongestionController(
            limits: .init(initial: initial), probes: false, roundTripTime: roundTrip, at: .zero)
    }

    func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (second * 1000 + milliseconds) * 1_000_000)
    }

    /// Sends for some seconds, each of which ends with a report.
    ///
    /// - Parameters:
    ///   - covers: the part of a second's packets that the report covers.
    ///   - waited: how many tenths of a second the report waits to be read. It covers nothing that is sent meanwhile.
    mutating func run(
        _ seconds: Int, rate: BitRate, loss: UInt8 = 0, roundTrip: Interval? = .milliseconds(40), covers: Double = 1,
        waited: Int = 0
    ) {
        for _ in 0..<seconds {
            for tenth in Int64(0)..<10 {
                for _ in 0..<10 {
                    controller.packetSent(byteCount: rate.bitsPerSecond / 800, at: time(tenth * 100))
                    sent += 1
                }
            }
            second += 1
            covered += Int(100 * covers)
            let number = UInt32(covered - 10 * waited - 1)
            let report = ReceptionReport(
                ssrc: SSRC(2), fractionLost: loss, highestSequenceNumber: number,
                lastSenderReport: roundTrip == nil ? 0 : UInt32(second))
            controller.receive(
                report, lastSent: SequenceNumber(UInt16(truncatingIfNeeded: sent - 1)), roundTripTime: roundTrip,
                arrival: time(Int64(waited) * -100), at: time(0))
        }
    }

    mutating func receive(remb: BitRate) { controller.receive(remb: remb, at: time(0)) }

    var estimate: BitRate { mutating get { controller.plan(waiting: 0, at: time(0)).estimate } }
    var queueingDelay: Interval { mutating get { controller.plan(waiting: 0, at: time(0)).queueingDelay } }
}

@Suite("Without transport-wide feedback, reception reports decide")
struct ReportTests {
    @Test("on fifty links the estimate is right within 10 s, and stays so")
    func fiftyLinks() {
        for seed in UInt64(1)...50 {
            let simulation = runWithReports(seededLink(seed), seconds: 20, seed: seed)
            #expect(secondMeans(simulation.shares(10..<20)).allSatisfy { $0 >= 0.4 }, "seed \(seed)")
            #expect(mean(simulation.shares(10..<20)) >= 0.7, "seed \(seed)")
            #expect(longest(over: 1.5, in: simulation.shares(10..<20)) <= 2, "seed \(seed)")
        }
    }

    @Test("random loss keeps most of the rate", arguments: [0.01, 0.05, 0.1])
    func randomLoss(loss: Double) {
        for rate in [5e5, 2e6, 8e6] {
            let simulation = runWithReports(.init(rate: rate, loss: loss), seconds: 25, seed: 5)
            #expect((simulation.shares(5..<25).min() ?? 0) >= 0.4)
            #expect(simulation.sentRate(5..<25) >= 0.75 * rate)
        }
    }

    @Test("two flows share a link, neither with less than a quarter", arguments: [0.0, 10])
    func twoFlows(secondAt: Double) {
        let limits = CongestionController.Limits(initial: megabits(20))
        for seed in UInt64(1)...2 {
            var simulation = Simulation(
                link: .init(rate: 2e6),
                senders: [
                    SimulatedSender(flow: 0, source: .init(), limits: limits, probes: false, seed: seed),
                    SimulatedSender(
                        flow: 1, start: Int64(secondAt * 1e9), source: .init(), limits: limits, probes: false,
                        seed: seed + 100),
                ], feedbackInterval: 1000, hasTransportFeedback: false, seed: seed)
            simulation.run(seconds: 60)
            let first = simulation.sentRate(30..<60, flow: 0)
            let second = simulation.sentRate(30..<60, flow: 1)
            #expect((0.25...0.75).contains(second / (first + second)), "seed \(seed)")
            #expect(first + second > 0.75 * 2e6, "seed \(seed)")
        }
    }

    struct Fall: Sendable {
        var low: Double
        var queue: Double
        /// What the source sends at most.
        var most: Double
    }

    static let falls = [5e5, 3e5].flatMap { low in
        [100.0, 300, 1000].flatMap { queue in [1e9, 1.5e6].map { Fall(low: low, queue: queue, most: $0) } }
    }

    @Test("a link that falls from 4 Mbit/s is found within 5 s, and one that comes back within 12 s", arguments: falls)
    func fallAndRise(fall: Fall) {
        let simulation = runWithReports(
            .init(rate: 4e6, changes: [(10, fall.low), (22, 4e6)], queue: fall.queue), seconds: 40,
            source: .init(most: fall.most), seed: 3)
        let fallen = secondMeans(simulation.shares(15..<22))
        #expect(fallen.allSatisfy { (0.6...1.6).contains($0) })
        #expect(simulation.delay95(15..<22) <= 500)
        #expect(simulation.sentRate(34..<40) >= 0.8 * min(4e6, fall.most))
    }

    @Test("loss alone keeps the rate, whether the source obeys or not, and loss with a queue cuts it")
    func lossAndQueue() {
        var path = ReportedPath(initial: megabits(2))
        path.run(12, rate: megabits(2), loss: 26)
        #expect(path.estimate >= megabits(2))
        path.run(2, rate: path.estimate, loss: 26)
        let before = path.estimate.bitsPerSecond
        path.run(3, rate: path.estimate, loss: 26, roundTrip: .milliseconds(340))
        #expect(path.estimate.bitsPerSecond <= before * 9 / 10)
    }

    @Test("without a round trip, heavy loss cuts the rate")
    func lossOnly() {
        var path = ReportedPath(initial: megabits(2))
        path.run(12, rate: megabits(2), loss: 128, roundTrip: nil)
        #expect(path.estimate < megabits(1.3))
    }

    @Test("a still screen says nothing, whatever it loses, and neither does typing on a path that others fill")
    func fewPackets() {
        var path = ReportedPath(initial: megabits(20))
        path.run(60, rate: megabits(0.05), loss: 64)
        path.run(60, rate: megabits(0.05), roundTrip: .milliseconds(240))
        #expect(path.estimate == megabits(20))
    }

    @Test("loss from a still screen doesn't lower the estimate, even while its peer answers late")
    func fewPacketsAndLateAnswers() {
        var path = ReportedPath(initial: megabits(20))
        path.run(10, rate: megabits(0.05))
        path.run(5, rate: megabits(0.05), loss: 64, roundTrip: .milliseconds(240))
        #expect(path.estimate == megabits(20))
    }

    @Test("packets that no report covers show a queue, though sender reports are lost in it")
    func outstandingPackets() {
        var path = ReportedPath(initial: megabits(2))
        path.run(3, rate: megabits(2))
        let before = path.estimate
        path.run(4, rate: megabits(2), roundTrip: nil, covers: 0.5)
        #expect(path.estimate.bitsPerSecond < before.bitsPerSecond * 6 / 10)
    }

    @Test("the round trip before the first report shows a queue that is full by then", arguments: [true, false])
    func fullFromTheStart(isKnown: Bool) {
        var path = ReportedPath(initial: megabits(20), roundTrip: isKnown ? .milliseconds(30) : nil)
        path.run(4, rate: megabits(0.6), loss: 85, roundTrip: .milliseconds(200))
        #expect((path.estimate < megabits(0.45)) == isKnown)
    }

    @Test("the round trip before the first report proves no queue later, nor with little loss")
    func otherPathThanTheHandshakes() {
        var path = ReportedPath(initial: megabits(20), roundTrip: .milliseconds(30))
        path.run(25, rate: megabits(2), roundTrip: .milliseconds(180))
        path.run(2, rate: megabits(2), loss: 85, roundTrip: .milliseconds(180))
        path.run(4, rate: megabits(2), roundTrip: .milliseconds(180))
        #expect(path.estimate > megabits(10))
        path = ReportedPath(initial: megabits(0.8), roundTrip: .milliseconds(30))
        for _ in 0..<20 {
            path.run(1, rate: megabits(0.6), loss: 13, roundTrip: .milliseconds(500))
            #expect(path.estimate >= megabits(0.8))
        }
    }

    @Test("after a queue, only more packets that arrive show within a minute that the link carries far more")
    func limit() {
        var path = ReportedPath(initial: megabits(0.4))
        path.run(2, rate: megabits(0.4))
        path.run(2, rate: megabits(0.4), roundTrip: .milliseconds(240))
        let full = path
        path.run(50, rate: megabits(0.36))
        #expect(path.estimate <= megabits(0.55))
        path.run(30, rate: megabits(0.36))
        #expect(path.estimate > megabits(0.55))
        path = full
        for _ in 0..<10 { path.run(1, rate: path.estimate) }
        #expect(path.estimate > megabits(1))
    }

    @Test("packets that were sent while a report waited to be read show no queue, and no fault of the report")
    func unreadReports() {
        var path = ReportedPath(initial: megabits(2))
        path.run(3, rate: megabits(2), roundTrip: .milliseconds(10))
        path.run(8, rate: megabits(2), roundTrip: .milliseconds(10), waited: 2)
        #expect(path.estimate >= megabits(2))
        #expect(path.queueingDelay == .zero)
        #expect(path.controller.reportFault == nil)
    }

    @Test("a peer's REMB is an upper bound once as much is sent, and no more")
    func rembLimit() {
        var path = ReportedPath(initial: megabits(2))
        path.run(2, rate: megabits(0.1))
        path.receive(remb: megabits(0.7))
        #expect(path.estimate == megabits(2), "so little is sent that the peer can't know more")
        path.run(2, rate: megabits(1))
        path.receive(remb: megabits(0.7))
        #expect(path.estimate == megabits(0.7))
        path.receive(remb: megabits(9))
        #expect(path.estimate >= megabits(2))
        path.receive(remb: megabits(0.7))
        #expect(path.estimate == megabits(0.7))
        path.receive(remb: megabits(0))
        #expect(path.estimate >= megabits(2), "0 takes it back, as mediasoup does")
    }

    @Test("reports made up by a hostile peer neither trap nor leave the bounds")
    func hostileReports() {
        var random = SeededRandom(seed: 15)
        var controller = CongestionController(probes: false, at: .zero)
        for step in Int64(1)..<3000 {
            let now = MonotonicTime(nanoseconds: step * 70_000_000)
            controller.packetSent(byteCount: Int.random(in: 0..<1500, using: &random), at: now)
            let report = ReceptionReport(
                ssrc: SSRC(UInt32.random(in: 1...2, using: &random)),
                fractionLost: UInt8.random(in: 0 ... .max, using: &random),
                highestSequenceNumber: UInt32.random(in: 0 ... .max, using: &random) >> (step % 2 == 0 ? 20 : 0),
                lastSenderReport: UInt32.random(in: 0...3, using: &random))
            controller.receive(
                report, lastSent: SequenceNumber(UInt16.random(in: 0 ... .max, using: &random)),
                roundTripTime: Interval(nanoseconds: Int64.random(in: 0..<60_000_000_000, using: &random)), at: now)
            controller.receive(
                remb: BitRate(bitsPerSecond: Int.random(in: .min ... .max, using: &random)), at: now)
            let plan = controller.plan(waiting: 0, at: now)
            #expect((100_000...100_000_000).contains(plan.estimate.bitsPerSecond))
            #expect(plan.pacingRate.bitsPerSecond > 0)
            #expect(plan.queueingDelay >= .zero)
        }
    }
}
