import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Several media threads")
struct MediaThreadGroupTests {
    private let hub = TrackHub(origin: now())
    private let source = RecordingSource()
    private let server: MediaServer

    init() throws {
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        configuration.threadCount = 3
        server = try MediaServer(configuration, log: .silent)
        hub.connect(source: source)
    }

    private var address: TransportAddress { TransportAddress(ipv4: 127, 0, 0, 1, port: server.port) }

    private func viewers(_ count: Int) throws -> [SocketViewer] {
        try (0..<count).map { _ in try SocketViewer(of: server, watching: hub, at: address) }
    }

    private func loop(of viewer: SocketViewer) -> Int { server.group.loop(of: viewer.id) }

    private func show(_ unit: CodedFrame, to viewers: [SocketViewer]) throws {
        hub.publish(unit, epoch: 1, arrival: now())
        try eventually("the picture at all viewers") {
            viewers.forEach { $0.pump() }
            return viewers.allSatisfy { $0.shows(unit) }
        }
    }

    @Test("viewers are spread evenly, all get pictures, statistics count all of them, and stopping ends all sessions")
    func spread() throws {
        let viewers = try viewers(12)
        let counts = (0..<3).map { loop in viewers.count { self.loop(of: $0) == loop } }
        #expect(counts == [4, 4, 4])
        for viewer in viewers { try viewer.connect() }
        try show(Pictures.idr(60_000, captured: now()), to: viewers)
        for seed in UInt64(1)...5 { try show(Pictures.delta(3_000, seed: seed, captured: now()), to: viewers) }
        #expect(viewers.allSatisfy { $0.viewer.pictures.count == 6 && $0.viewer.strangeDatagrams == 0 })
        try eventually("statistics of all viewers") {
            viewers.forEach { $0.pump() }
            return server.statistics.count { $0.isConnected && $0.framesSent >= 6 } == 12
        }
        #expect(server.totals.framesSent >= 72 && hub.viewers == 12)
        let threads = server.threadStatistics
        #expect(threads.map(\.sessions) == [4, 4, 4] && threads.allSatisfy { $0.totals.framesSent >= 24 })
        for viewer in viewers { #expect(server.statistics(of: viewer.id)?.id == viewer.id) }

        server.stop()
        #expect(viewers.allSatisfy { $0.end == "the host is ending" })
        #expect(hub.viewers == 0 && server.statistics.isEmpty)
        try eventually("the goodbyes") {
            viewers.forEach { $0.pump() }
            return viewers.allSatisfy(\.viewer.hasEnded)
        }
    }

    @Test("a viewer takes the place of one that has left")
    func places() throws {
        defer { server.stop() }
        let before = try viewers(12)
        let left = try #require(before.last { loop(of: $0) == 1 })
        server.close(left.id)
        try eventually("the end") { left.end != nil }
        let next = try viewers(1)[0]
        #expect(loop(of: next) == 1)
        #expect(!before.contains { $0.id == next.id })
    }

    @Test("viewers that move to other ports amid pictures miss none, whatever thread their session belongs to")
    func moving() throws {
        defer { server.stop() }
        let viewers = try viewers(3)
        #expect(Set(viewers.map { loop(of: $0) }) == [0, 1, 2])
        for viewer in viewers { try viewer.connect() }
        let first = Pictures.idr(20_000, captured: now())
        try show(first, to: viewers)
        var contents = [first.contents]
        var nextPicture = now()
        func publish() {
            let unit = Pictures.delta(3_000, seed: UInt64(contents.count), captured: now())
            contents.append(unit.contents)
            hub.publish(unit, epoch: 1, arrival: now())
            nextPicture = now() + .milliseconds(33)
        }
        func takeTurn() {
            if now() >= nextPicture { publish() }
            viewers.forEach { $0.pump() }
        }
        // The sockets that viewers have left stay open: another viewer's session couldn't have such a port yet.
        var left: [any ViewerSocket] = []
        for _ in 1...5 {
            for viewer in viewers {
                // This one is on its way to the port that the viewer leaves.
                publish()
                left.append(viewer.socket)
                try viewer.move()
                viewer.viewer.check()
                let (requests, published) = (viewer.viewer.hostRequests, contents.count)
                try eventually("a request at the new port") {
                    takeTurn()
                    return viewer.viewer.hostRequests > requests
                }
                try eventually("a picture at the new port, and those before it") {
                    takeTurn()
                    return viewer.viewer.pictures.count > published
                }
            }
        }
        try eventually("all pictures at all viewers") {
            viewers.forEach { $0.pump() }
            return viewers.allSatisfy { $0.viewer.pictures.count >= contents.count }
        }
        for viewer in viewers {
            let isWhole = viewer.viewer.pictures.map { $0.unit.nalUnits } == contents
            #expect(isWhole && viewer.end == nil && viewer.viewer.strangeDatagrams == 0)
            #expect(viewer.viewer.sentNacks > 0, "nothing was on its way while it moved")
        }
    }

    @Test("viewers over TCP are served by the threads of their sessions, and go on over other connections")
    func connections() throws {
        defer { server.stop() }
        var viewers: [SocketViewer] = []
        for _ in 0..<3 {
            let socket = try StreamSocket(to: server.port)
            viewers.append(try SocketViewer(of: server, watching: hub, at: address, by: socket))
            try viewers.last?.connect()
        }
        #expect(Set(viewers.map { loop(of: $0) }) == [0, 1, 2])
        try show(Pictures.idr(100_000, captured: now()), to: viewers)
        try eventually("the transport in the statistics") {
            viewers.forEach { $0.pump() }
            return server.statistics.count { $0.transport == .tcp } == 3
        }
        for viewer in viewers {
            (viewer.socket as? StreamSocket)?.end()
            viewer.move(to: try StreamSocket(to: server.port))
            viewer.viewer.check()
            let requests = viewer.viewer.hostRequests
            try eventually("a request over the new connection") {
                viewers.forEach { $0.pump() }
                return viewer.viewer.hostRequests > requests
            }
        }
        for seed in UInt64(1)...10 { try show(Pictures.delta(9_000, seed: seed, captured: now()), to: viewers) }
        #expect(viewers.allSatisfy { $0.end == nil && $0.viewer.strangeDatagrams == 0 })
    }

    @Test(
        "an address that one thread's session has validated is no other's until that session has ended",
        arguments: [0, 1, 2])
    func validatedAddress(holding: Int) throws {
        defer { server.stop() }
        let viewers = try viewers(3)
        let first = try #require(viewers.first { loop(of: $0) == holding })
        try first.connect()
        try show(Pictures.idr(20_000, captured: now()), to: [first])
        for intruder in viewers where intruder.id != first.id {
            // As if it had written the first one's address into its datagram.
            var foreign = intruder.viewer.checkRequest()
            foreign.transaction = 4711 + intruder.id.rawValue
            func isAnswered() -> Bool {
                let number = withUnsafeBytes(of: foreign.transaction.bigEndian) { Array($0) }
                return first.viewer.replies.contains { Array($0.transactionID.bytes.suffix(8)) == number }
            }
            first.send(foreign.bytes)
            // The thread of its session handles this check after that one.
            intruder.viewer.check()
            try eventually("an answer at its own address") {
                intruder.pump()
                return !intruder.viewer.replies.isEmpty
            }
            try show(Pictures.delta(5_000, seed: intruder.id.rawValue, captured: now()), to: [first])
            #expect(!isAnswered() && first.viewer.strangeDatagrams == 0)
        }
        first.viewer.close()
        first.pump()
        try eventually("the first one's end") { first.end != nil }
        let next = try #require(viewers.first { $0.id != first.id })
        let replies = first.viewer.replies.count
        try eventually("an answer to another one's check") {
            first.send(next.viewer.checkRequest().bytes)
            first.pump()
            return first.viewer.replies.count > replies
        }
    }

    @Test("viewers of whole pictures are spread as well")
    func wholePictures() throws {
        defer { server.stop() }
        let frame = Pictures.idr(8_000, captured: now())
        hub.publish(frame, epoch: 1, arrival: now())
        let seen = Seen()
        let ids = try (0..<3).map { _ in
            try server.openFrames(
                of: WatchedSource(video: hub), for: "192.0.2.1",
                sink: { picture in seen.pictures.withLock { $0.append(picture.bytes) } }, soundSink: { _ in },
                onEnd: { _ in })
        }
        #expect(Set(ids.map { server.group.loop(of: $0) }) == [0, 1, 2])
        try eventually("the picture at all viewers") {
            seen.pictures.withLock { $0.count { $0 == frame.bytes } } == 3
        }
        #expect(hub.viewers == 3)
    }

    private final class Seen: Sendable {
        let pictures = Mutex<[[UInt8]]>([])
    }

    @Test("the low layer is encoded once for all threads, at a rate for all of its viewers, until the last one leaves")
    func lowLayer() {
        defer { server.stop() }
        let hub = TrackHub(origin: now())
        let encoder = Encoder()
        hub.connect(encoder)
        let feeds = (0..<2).map { _ in TrackFeed(hub: hub, wake: {}) }
        let lows = feeds.map { feed in
            feed.sessionCount = 1
            return feed.subscribeLow(at: BitRate(bitsPerSecond: 1_000_000), now: now())
        }
        lows[1].lowerRate(to: BitRate(bitsPerSecond: 400_000), now: now())
        for (feed, low) in zip(feeds, lows) {
            low.sessionCount = 0
            _ = feed.update(now: now())
        }
        #expect(encoder.rates.withLock { $0 } == [850_000, 340_000, nil])
    }

    private final class Encoder: TrackObserver {
        let rates = Mutex<[Int?]>([])

        func perform(_ action: TrackAction) {
            if case .encodeLow(let rate) = action { rates.withLock { $0.append(rate?.bitsPerSecond) } }
        }
    }

    @Test("a session's identifier and its name in checks lead to its thread, and other names to none")
    func names() throws {
        defer { server.stop() }
        let group = server.group
        var identifiers: Set<MediaSessionID> = []
        for loop in 0..<3 {
            for number in UInt64(1)...3 {
                let id = group.identifier(ofSession: number, in: loop)
                #expect(group.loop(of: id) == loop)
                identifiers.insert(id)
            }
            let check = CheckRequest(username: group.ufragPrefix(of: loop) + "bc+/:peer", password: "password")
            #expect(group.loop(of: try STUNMessage(parsing: check.bytes)) == loop)
        }
        #expect(identifiers.count == 9)
        for name in ["D123:peer", "nobody:peer", ":peer", "4"] {
            let check = CheckRequest(username: name, password: "password")
            #expect(group.loop(of: try STUNMessage(parsing: check.bytes)) == nil)
        }
        let single = try #require(LoopGroup(count: 1))
        #expect(single.identifier(ofSession: 7, in: 0).rawValue == 7 && single.addresses == nil)
    }

    @Test("a few sessions are all in the first loop, and further ones in that with the least work")
    func fewSessions() throws {
        defer { server.stop() }
        let group = try #require(LoopGroup(count: 3, sessionsAlone: 4))
        var loops: [Int] = []
        for _ in 0..<12 {
            loops.append(group.loopForNewSession(now: now()))
            group.loops[loops[loops.count - 1]].changeSessionCount(by: 1)
        }
        #expect(loops.prefix(4).allSatisfy { $0 == LoopGroup.first })
        #expect(group.loops.dropFirst().allSatisfy { $0.sessionCount == 4 })
    }

    @Test("one or two processors have one thread, and no machine has more than eight; a quota counts as processors")
    func threadCount() {
        defer { server.stop() }
        #expect([1, 2, 3, 8, 64].map(LoopGroup.count(forProcessors:)) == [1, 1, 3, 8, 8])
        #expect((1...8).contains(LoopGroup.usualCount(within: nil)))
        #expect(LoopGroup.usualCount(within: 1) == 1 && LoopGroup.usualCount(within: 2) == 1)
    }
}
