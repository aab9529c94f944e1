import MediaTypes
import PictureTimeline
import TestSupport
import Testing

@Suite("Which pictures of many viewers are the same")
struct PictureTimelineTests {
    /// A host with a picture every 33 ms, none at exactly that time, and a key frame every three seconds.
    private struct Host {
        static let keyFrameEvery = 90
        private(set) var times: [UInt32] = []

        init(pictures: Int, jitter: UInt32 = 60, seed: UInt64 = 7) {
            var random = SeededRandom(seed: seed)
            for number in 0..<UInt32(pictures) {
                times.append(number * 3000 + (jitter == 0 ? 0 : UInt32.random(in: 0..<jitter, using: &random)))
            }
        }

        func arrival(of number: Int) -> MonotonicTime {
            MonotonicTime(nanoseconds: Int64(times[number]) * 1_000_000_000 / 90_000)
        }

        /// The timestamps of the pictures from the last key frame to `number`, as a viewer that joins there gets them.
        func backlog(upTo number: Int) -> [UInt32] {
            let key = number / Self.keyFrameEvery * Self.keyFrameEvery
            return (key...number).map { times[number] &- UInt32(number - $0) * 90 }
        }
    }

    /// A viewer with its own timestamps: first it gets the pictures since the last key frame, in a burst, and then each
    /// picture as it comes.
    private struct Viewer {
        let offset: UInt32
        let joined: Int
        /// By how much later it joined than the picture `joined` came.
        let delay: Interval
        var timeline = ViewerTimeline()
        /// The pictures that counted.
        var counted = 0

        init(_ offset: UInt32, joined: Int, delay: Interval = .zero) {
            self.offset = offset
            self.joined = joined
            self.delay = delay
        }

        mutating func get(_ time: UInt32, at arrival: MonotonicTime, in table: PictureTable) {
            timeline.notePacket(of: time &+ offset, in: table)
            if timeline.noteWhole(time &+ offset, at: arrival, in: table) { counted += 1 }
        }
    }

    /// Shows the pictures in the order in which they arrive; `late` is by how much later each viewer has one than the
    /// viewer before.
    private func show(
        _ host: Host, to viewers: inout [Viewer], in table: PictureTable, countingFrom start: Int,
        late: Interval = .microseconds(50)
    ) {
        var arrivals: [(viewer: Int, time: UInt32, arrival: MonotonicTime)] = []
        for (place, viewer) in viewers.enumerated() {
            let delay = late * Int64(place)
            let joined = host.arrival(of: viewer.joined) + viewer.delay + delay
            for (step, time) in host.backlog(upTo: viewer.joined).enumerated() {
                arrivals.append((place, time, joined + .microseconds(500) * Int64(step)))
            }
            for number in (viewer.joined + 1)..<host.times.count {
                arrivals.append((place, host.times[number], host.arrival(of: number) + delay))
            }
        }
        let begin = host.arrival(of: start)
        for next in arrivals.sorted(by: { $0.arrival < $1.arrival }) {
            if !table.isCounting, next.arrival >= begin { table.startCounting() }
            viewers[next.viewer].get(next.time, at: next.arrival, in: table)
        }
    }

    @Test("viewers that get what is there at the same time aren't on different timelines", arguments: 0..<40)
    func joins(_ first: Int) {
        let host = Host(pictures: 260, seed: UInt64(first))
        // The next ones join while the first one still gets up to 40 pictures.
        var viewers = (0..<6).map {
            Viewer(UInt32($0) &* 0x9E37_79B9 &+ 0xFFFF_F000, joined: first, delay: .milliseconds(2) * Int64($0))
        }
        let table = PictureTable()
        show(host, to: &viewers, in: table, countingFrom: 160)
        #expect(viewers.allSatisfy { $0.timeline.offset != nil })
        let counted = table.pictures.filter(\.isCounted)
        #expect(counted.count == 100)
        #expect(counted.allSatisfy { $0.whole == viewers.count })
        #expect(viewers.allSatisfy { $0.counted == 100 })
    }

    @Test("pictures at equal intervals are told by their arrival")
    func equalIntervals() {
        let host = Host(pictures: 200, jitter: 0)
        var viewers = (0..<4).map { Viewer(UInt32($0) &* 0x1234_5678, joined: 5 + $0) }
        let table = PictureTable()
        show(host, to: &viewers, in: table, countingFrom: 150, late: .milliseconds(4))
        let counted = table.pictures.filter(\.isCounted)
        #expect(counted.count == 50)
        #expect(counted.allSatisfy { $0.whole == viewers.count })
    }

    @Test("pictures that are repeated to a viewer that has fallen behind are no new ones")
    func repeats() {
        let host = Host(pictures: 200)
        var viewers = [Viewer(0, joined: 3), Viewer(99, joined: 4)]
        let table = PictureTable()
        show(host, to: &viewers, in: table, countingFrom: 100)
        let (last, known) = (host.times[199], table.pictures.count)
        for step in 1...20 {
            viewers[1].get(last + UInt32(step), at: host.arrival(of: 199) + .milliseconds(Int64(step)), in: table)
        }
        #expect(table.pictures.count == known)
        viewers[1].get(last + 3000, at: host.arrival(of: 199) + .milliseconds(33), in: table)
        #expect(table.pictures.count == known + 1)
    }

    @Test("a viewer whose pictures no other one has isn't on the timeline")
    func stranger() {
        let host = Host(pictures: 120, jitter: 900)
        var viewers = [Viewer(0, joined: 3), Viewer(99, joined: 4)]
        let table = PictureTable()
        show(host, to: &viewers, in: table, countingFrom: 100)
        let known = table.pictures.count
        let other = Host(pictures: 120, jitter: 900, seed: 8)
        var stranger = Viewer(5, joined: 0)
        for number in 0..<120 { stranger.get(other.times[number], at: other.arrival(of: number), in: table) }
        #expect(stranger.timeline.offset == nil && stranger.counted == 0)
        #expect(table.pictures.count == known)
    }

    @Test("a picture of which one packet came counts, even if no viewer gets all of it")
    func broken() {
        let host = Host(pictures: 120)
        var viewers = [Viewer(0, joined: 3)]
        let table = PictureTable()
        show(host, to: &viewers, in: table, countingFrom: 100)
        let counted = table.pictures.count(where: \.isCounted)
        viewers[0].timeline.notePacket(of: host.times[119] + 3000, in: table)
        #expect(table.pictures.count(where: \.isCounted) == counted + 1)
        #expect(viewers[0].counted == counted)
        // Another measurement begins without those.
        table.startCounting()
        #expect(!table.pictures.contains { $0.isCounted })
    }
}
