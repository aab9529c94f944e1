import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import Testing
import TrackHub

@testable import WebRTC

/// A path of 40 ms round trip, whose peer sends feedback every 50 ms, from a source that sends packets evenly.
private struct GrowingPath {
    var path = PathControl(hasTransportFeedback: true, roundTripTime: .milliseconds(40), now: .zero)
    /// What the narrowest link carries.
    let capacity: BitRate
    private(set) var fillers = 0
    private(set) var maxQueue = Interval.zero
    private var milliseconds: Int64 = 0
    private var number: UInt16 = 0
    private var freeAt = MonotonicTime.zero
    private var arrivals: [(number: UInt16, time: MonotonicTime)] = []
    private var waiting = 0.0

    init(capacity: BitRate) { self.capacity = capacity }

    private var now: MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private mutating func send() {
        arrivals.append((path.nextNumber ?? 0, .zero))
        path.sent(byteCount: 1156, isPaced: true, now: now)
        freeAt = max(freeAt, now) + Interval(nanoseconds: 1200 * 8_000_000_000 / Int64(capacity.bitsPerSecond))
        arrivals[arrivals.count - 1].time = freeAt + .milliseconds(20)
        maxQueue = max(maxQueue, freeAt - now)
    }

    /// Sends `rate` for some seconds, which is all that the source may send if `usesItsRate` says so.
    mutating func run(_ seconds: Int64, rate: BitRate, usesItsRate: Bool) {
        for _ in 0..<seconds * 1000 {
            milliseconds += 1
            path.makePlan(waiting: 0, usesItsRate: usesItsRate, now: now)
            waiting += Double(rate.bitsPerSecond) / 9_600_000
            while waiting >= 1, path.tryConsume(byteCount: 1156, now: now) {
                send()
                waiting -= 1
            }
            while path.canPad, path.plan.probe != nil, path.tryConsume(byteCount: 1156, now: now) {
                send()
                fillers += 1
                path.continueProbe(now: now)
            }
            if milliseconds % 50 == 0 { report() }
        }
    }

    private mutating func report() {
        let arrived = arrivals.prefix { $0.time <= now - .milliseconds(20) }
        guard let first = arrived.first else { return }
        var last = first.time.nanoseconds / 64_000_000 * 256
        let feedback = TransportFeedback(
            sender: SSRC(1), media: SSRC(2), base: first.number, referenceTime: Int32(last / 256), feedbackCount: 0,
            arrivals: arrived.map {
                let quarters = $0.time.nanoseconds / 250_000
                defer { last = quarters }
                return .received(delta: Int16(clamping: quarters - last))
            })
        arrivals.removeFirst(arrived.count)
        path.take(feedback, arrival: now, now: now)
    }

    var carried: Double { Double(path.carriedBitRate.bitsPerSecond) / 1e6 }
}

@Suite("A rate that rises with the paths")
struct GrowthTests {
    private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1e6)) }

    @Test(
        "a uniform video at full rate is probed with packets of no other use, and shows a wide path within two seconds")
    func widePath() {
        var path = GrowingPath(capacity: megabits(1000))
        #expect(path.carried == 0)
        path.run(2, rate: megabits(4), usesItsRate: true)
        #expect(path.carried > 12)
        #expect(path.fillers > 0)
    }

    @Test("a source that doesn't use its rate is not probed, and a still screen sends nothing")
    func rest() {
        var path = GrowingPath(capacity: megabits(1000))
        path.run(5, rate: megabits(0.3), usesItsRate: false)
        path.run(5, rate: megabits(0), usesItsRate: false)
        #expect(path.fillers == 0)
        #expect(path.carried < 1)
    }

    @Test("a path that carries little more is found to carry that, and is probed less and less often")
    func narrowPath() {
        var path = GrowingPath(capacity: megabits(5))
        path.run(20, rate: megabits(4), usesItsRate: true)
        // A quarter more is tried, since the source has not shown the end yet.
        #expect((4...6.3).contains(path.carried))
        let before = path.fillers
        path.run(20, rate: megabits(4), usesItsRate: true)
        #expect(path.fillers - before <= max(before, 60))
        #expect(path.maxQueue < .milliseconds(300))
    }

    @Test("what half of the viewers' paths have carried is told to the source, and no longer when they have left")
    func told() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        for index in UInt64(0)..<150 {
            rig.publish { Pictures.delta(20_000, seed: index, captured: $0) }
            rig.run(for: .milliseconds(33))
            guard index % 30 == 29 else { continue }
            peer.viewer.reportReception(now: rig.now)
            rig.run(for: .milliseconds(10))
            rig.feed.adaptRates(to: peer.session.watched.map { [$0] } ?? [], now: rig.now)
        }
        // It sends 4.8 Mbit/s, and a quarter more is expected to fit.
        #expect((5_000_000...7_000_000).contains(try #require(rig.source.carried.last).bitsPerSecond))
        rig.feed.sessionCount = 0
        _ = rig.feed.update(now: rig.now)
        #expect(rig.source.carried.last?.bitsPerSecond == 0)
    }

    @Test("a peer that promises transport-wide feedback and sends none is not taken to carry less than others")
    func brokenPromise() throws {
        let rig = try Rig()
        let peer = try rig.join(hasTransportNumbers: true)
        rig.publish { Pictures.idr(20_000, captured: $0) }
        for index in UInt64(0)..<150 {
            rig.publish { Pictures.delta(2_500, seed: index, captured: $0) }
            rig.run(for: .milliseconds(33))
            if index % 30 == 29 { peer.viewer.reportReception(now: rig.now) }
        }
        #expect(peer.session.targetBitRate == .highest)
        #expect(rig.feed.low == nil)
    }

    @Test("what is wrong with a viewer's reports is logged once, and stands in its statistics")
    func fault() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        var news: [String] = []
        for index in UInt64(0)..<300 {
            rig.publish { Pictures.delta(2_500, seed: index, captured: $0) }
            rig.run(for: .milliseconds(33))
            guard index % 30 == 29 else { continue }
            peer.viewer.send(
                .receiverReport(
                    ReceiverReport(
                        ssrc: SSRC(1),
                        receptionReports: [
                            ReceptionReport(ssrc: peer.viewer.settings.media, highestSequenceNumber: 0)
                        ])))
            rig.run(for: .milliseconds(10))
            news += peer.session.watched?.takeNews() ?? []
        }
        #expect(news.count == 1)
        #expect(news.first?.contains("sequence number 0") == true)
        #expect(peer.session.statistics.reportFault?.contains("sequence number 0") == true)
        #expect(peer.session.targetBitRate == .highest)
    }
}
