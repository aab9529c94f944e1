import MediaSessions
import MediaTypes
import RTP
import STUN
import Testing
import TrackHub

@testable import WebRTC

@Suite("Key frames for the viewers who join at a server while text scrolls")
struct ServerKeyFrameTests {
    /// A source that scrolls text, the host's encoder of the low layer, a server, and a viewer in the room.
    private final class Scroll {
        let rig: Rig
        let server: RigPeer
        let viewer: RigPeer
        /// How long the source takes for a key frame; nil if it never makes one again.
        var sourceDelay: Interval? = .milliseconds(100)
        /// Whether the screen changes.
        var moves = true
        private var seed: UInt64 = 1
        private var answered = 0
        private var due: MonotonicTime?
        private var lowAnswered: Int?

        init() throws {
            let rig = try Rig()
            self.rig = rig
            server = try rig.joinServer()
            viewer = try rig.join()
            answered = rig.source.keyFrameRequests
            rig.publish { Pictures.idr(30_000, captured: $0) }
            // The second sender report is followed by a key frame.
            run(for: .seconds(3))
        }

        /// Has a viewer join at the server, which asks for a key frame. Returns when.
        func join() -> MonotonicTime {
            server.viewer.requestKeyFrame()
            return rig.now
        }

        func run(for duration: Interval) {
            let end = rig.now + duration
            while rig.now < end {
                step()
                rig.run(for: .milliseconds(20))
            }
        }

        private func step() {
            seed += 1
            if rig.source.lowRate != nil, moves {
                let isKeyFrame = lowAnswered != rig.source.lowKeyFrameRequests
                lowAnswered = rig.source.lowKeyFrameRequests
                let captured = rig.now - .milliseconds(40)
                _ = rig.hub.takeLow(
                    isKeyFrame
                        ? Pictures.idr(20_000, seed: seed, captured: captured)
                        : Pictures.delta(2_000, seed: seed, captured: captured),
                    epoch: 1, number: UInt64(rig.published.count), now: rig.now)
            } else if rig.source.lowRate == nil {
                lowAnswered = nil
            }
            if due == nil, rig.source.keyFrameRequests > answered, let sourceDelay { due = rig.now + sourceDelay }
            let isDue = due.map { rig.now >= $0 } ?? false
            if isDue { (due, answered) = (nil, rig.source.keyFrameRequests) }
            if isDue || moves {
                rig.publish {
                    isDue
                        ? Pictures.idr(30_000, seed: seed, captured: $0)
                        : Pictures.delta(3_000, seed: seed, captured: $0)
                }
            }
            var viewers: [any TrackViewer] = []
            for peer in [server, viewer] {
                if let watched = peer.session.watched { viewers.append(watched) }
            }
            rig.feed.adaptRates(to: viewers, now: rig.now)
        }

        /// The times at which key frames were complete at the server's end since `start`.
        func keyFrames(since start: MonotonicTime) -> [MonotonicTime] {
            server.viewer.pictures.filter { $0.unit.nalUnits.contains { $0.first == 0x65 } && $0.time >= start }
                .map(\.time)
        }

        /// How long the viewer who joined at `time` waited for a key frame, in milliseconds; nil if it got none.
        func wait(since time: MonotonicTime) -> Int64? {
            keyFrames(since: time).first.map { ($0 - time).milliseconds }
        }

        /// Has two viewers join 300 ms apart, and runs for 500 ms after the second join. Returns how long a viewer
        /// waited for a key frame, at most, in milliseconds; `.max` if one got none.
        func longestWaitOfTwoJoins() -> Int64 {
            let first = join()
            run(for: .milliseconds(300))
            let second = join()
            run(for: .milliseconds(500))
            return max(wait(since: first) ?? .max, wait(since: second) ?? .max)
        }
    }

    @Test("two viewers who join 300 ms apart get one within 0.5 s; the room's viewers get none of the host's")
    func twoJoins() throws {
        let scroll = try Scroll()
        let rig = scroll.rig
        let (asked, start) = (rig.source.keyFrameRequests, rig.now)
        #expect(scroll.longestWaitOfTwoJoins() <= 500)
        #expect(rig.source.keyFrameRequests == asked + 1 && rig.source.lowRate != nil)
        // With the source's next key frame, for which it is asked once, the server gets the source's frames again.
        scroll.run(for: .seconds(3))
        #expect(rig.source.keyFrameRequests == asked + 2 && rig.source.lowRate == nil)
        #expect(scroll.keyFrames(since: start).count == 3)
        rig.run(for: .milliseconds(100))
        let contents = rig.published.map(\.contents)
        #expect(scroll.viewer.wholePictures == contents)
        #expect(scroll.server.wholePictures.suffix(20) == contents.suffix(20))
        #expect(scroll.server.session.statistics.getsLowLayer == false)
        // All frames are in one RTP stream, whether the source or the host has encoded them.
        let media = scroll.server.mediaPackets.map(\.rtp.header)
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.sequenceNumber.distance(to: $1.sequenceNumber) == 1 })
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.timestamp.distance(to: $1.timestamp) >= 0 })
        // The source's rate is for others too, so it is the same all the time.
        #expect(rig.source.rates.isEmpty)
        #expect(rig.feed.low?.history.count == 0, "the host's frames are not kept")
    }

    @Test("a server that leaves while it gets the host's frames ends the host's encoder")
    func leaving() throws {
        let scroll = try Scroll()
        let rig = scroll.rig
        _ = scroll.join()
        scroll.run(for: .milliseconds(300))
        _ = scroll.join()
        scroll.run(for: .milliseconds(200))
        #expect(rig.source.lowRate != nil)
        scroll.server.session.close(now: rig.now)
        scroll.server.session.watched?.leave()
        scroll.run(for: .milliseconds(100))
        #expect(rig.source.lowRate == nil && rig.feed.low?.sessionCount == 0)
    }

    @Test("however many join one after the other, each gets one within 0.5 s, and the source is asked every 2 s")
    func burst() throws {
        let scroll = try Scroll()
        let (asked, start) = (scroll.rig.source.keyFrameRequests, scroll.rig.now)
        var joins: [MonotonicTime] = []
        for _ in 0..<30 {
            joins.append(scroll.join())
            scroll.run(for: .milliseconds(100))
        }
        scroll.run(for: .seconds(3))
        for join in joins { #expect(scroll.wait(since: join) ?? .max <= 500) }
        #expect((2...3).contains(scroll.rig.source.keyFrameRequests - asked))
        #expect(scroll.keyFrames(since: start).count <= 15)
        #expect(scroll.rig.source.lowRate == nil)
    }

    @Test("where the source is slow or hangs, a viewer who joins gets the host's key frame")
    func hangingSource() throws {
        let scroll = try Scroll()
        scroll.sourceDelay = nil
        let join = scroll.join()
        scroll.run(for: .seconds(1))
        #expect(scroll.wait(since: join) ?? .max <= 500)
        let count = scroll.viewer.wholePictures.count
        scroll.sourceDelay = .milliseconds(100)
        scroll.run(for: .seconds(1))
        #expect(scroll.rig.source.lowRate == nil && scroll.viewer.wholePictures.count > count)
    }

    @Test("a still screen's viewers get one from the cache, which neither encoder makes")
    func stillScreen() throws {
        let scroll = try Scroll()
        let rig = scroll.rig
        rig.publish { Pictures.idr(30_000, seed: 99, captured: $0) }
        scroll.moves = false
        scroll.run(for: .seconds(3))
        let asked = rig.source.keyFrameRequests
        #expect(scroll.longestWaitOfTwoJoins() <= 500)
        #expect(rig.source.keyFrameRequests == asked && rig.source.lowRate == nil)
    }

    @Test("a viewer on a narrow path, who gets the low layer already, gets no key frames for the server")
    func narrowViewer() throws {
        let scroll = try Scroll()
        let rig = scroll.rig
        let report = PathReport(targets: [BitRate(bitsPerSecond: 500_000)])
        let reader = rig.hub.subscribe(to: .low, report: report) {}
        reader.report(report, now: rig.now)
        scroll.run(for: .milliseconds(200))
        let (asked, lowAsked) = (rig.source.keyFrameRequests, rig.source.lowKeyFrameRequests)
        let first = scroll.join()
        scroll.run(for: .milliseconds(300))
        _ = scroll.join()
        scroll.run(for: .seconds(3))
        #expect(scroll.wait(since: first) ?? .max <= 500)
        #expect(rig.source.lowKeyFrameRequests == lowAsked && rig.source.keyFrameRequests == asked + 2)
        #expect(scroll.keyFrames(since: first).count == 2)
        withExtendedLifetime(reader) {}
    }
}
