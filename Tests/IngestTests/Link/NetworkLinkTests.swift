import CaptureLink
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@Suite("The link's server over TCP")
struct NetworkLinkTests {
    /// The host's end of a link, on a port of this machine.
    final class Host {
        let hub = TrackHub(origin: now())
        let ingest: TrackIngest
        let server: LinkServer
        let address: LinkAddress
        private let lines: Lines

        final class Lines: Sendable {
            let all = Mutex<[String]>([])
        }

        init(
            at place: LinkAddress = .tcp(host: "127.0.0.1", port: 0), token: LinkToken? = nil,
            legacySenders: [AddressRange] = []
        ) throws {
            let lines = Lines()
            self.lines = lines
            let log = EventLog { level, line in lines.all.withLock { $0.append("\(level): \(line)") } }
            ingest = try TrackIngest(hub: hub, log: log)
            server = try LinkServer(
                at: place,
                admission: LinkAdmission(token: token, legacySenders: legacySenders), ingest: ingest,
                sound: TrackHub(origin: now()), name: "test host",
                log: log)
            address = try #require(server.address)
        }

        deinit { server.stop() }

        func count(of text: String) -> Int { lines.all.withLock { $0.count { $0.contains(text) } } }

        func waitForLog(_ text: String) throws {
            try eventually("'\(text)' in the log", holds: { count(of: text) > 0 })
        }
    }

    static let token = LinkToken(Array("a token of some length".utf8))

    func capture(_ host: Host) throws -> TestCapture {
        TestCapture(try SocketConnection.connect(to: host.address))
    }

    /// Answers pings as a capture whose clock is `ahead` of ours, and returns when the first of them was asked.
    private func answer(_ capture: TestCapture, pings: Int, ahead: Interval) throws -> MonotonicTime {
        var answered = 0
        var first: MonotonicTime?
        var seen = 0
        try capture.wait(for: "\(pings) pings") { messages in
            for message in messages[seen...] {
                if case .ping(let asked) = message {
                    answered += 1
                    first = first ?? asked
                    let time = now() + ahead
                    try? capture.send(.pong(ClockEcho(asked: asked, received: time, sent: time)))
                }
            }
            seen = messages.count
            return answered >= pings
        }
        return try #require(first)
    }

    @Test(
        "times of a capture whose clock is another land on ours, and a stream's times never run back",
        arguments: [Interval.seconds(-50_000), .seconds(4), .zero, .seconds(900_000)])
    func shiftedClock(ahead: Interval) throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let capture = try capture(host)
        let pictures = try PlainPictures()
        // Until the capture's clock is known, its pictures have no capture time.
        let early = try pictures.next(shade: 50, isIDR: true)
        try capture.send(early.withCaptureTime(now() + ahead))
        try eventually("the first picture", holds: { host.hub.publishedFrames == 1 })
        try capture.greet()
        let asked = try answer(capture, pings: 3, ahead: ahead)
        let timing = try eventually("the host to know") { host.ingest.hub.source?.timing }
        #expect(timing.roundTrip >= .zero)
        // The clock is known to within half of a round trip, and no round trip took longer than all of them together.
        let doubt = Interval(nanoseconds: (now() - asked).nanoseconds / 2)
        let fault = timing.clockOffset - ahead
        #expect(fault <= doubt && fault >= .zero - doubt, "\(fault) of \(doubt)")

        var taken: [MonotonicTime] = []
        for shade in [60, 70, 80] as [UInt8] {
            let time = now()
            taken.append(time)
            try capture.send(try pictures.next(shade: shade).withCaptureTime(time + ahead))
        }
        var units: [TrackFrame] = []
        try eventually("four pictures") {
            units += reader.take()
            return units.count == 4 ? () : nil
        }
        #expect(units[0].coded.captureTime == nil)
        for (unit, time) in zip(units.dropFirst(), taken) {
            let known = try #require(unit.coded.captureTime)
            let off = known - time
            #expect(off <= doubt && off >= .zero - doubt, "\(off) of \(doubt)")
        }
        for (one, next) in zip(units, units.dropFirst()) { #expect(one.time.ticks < next.time.ticks) }
        try host.waitForLog("there and back, its clock is ours")
    }

    @Test("a capture that answers pings with nonsense has no times, and goes on")
    func nonsense() throws {
        let host = try Host()
        let capture = try capture(host)
        try capture.greet()
        try capture.wait(for: "a ping") { $0.contains { if case .ping = $0 { true } else { false } } }
        for message in capture.received {
            guard case .ping(let asked) = message else { continue }
            try capture.send(.pong(ClockEcho(asked: asked + .seconds(1), received: .zero, sent: .zero)))
            try capture.send(.pong(ClockEcho(asked: asked, received: .distantFuture, sent: .zero)))
            try capture.send(
                .pong(ClockEcho(asked: asked, received: .zero, sent: MonotonicTime(nanoseconds: .min))))
        }
        try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        #expect(host.ingest.hub.source?.timing == nil)
    }

    @Test("a capture that proves first that it has the token is taken, whatever else it sends after that")
    func rightToken() throws {
        let host = try Host(token: Self.token)
        let capture = try capture(host)
        let token = try #require(Self.token).bytes
        try capture.prove(token)
        #expect(capture.received.contains { if case .hello = $0 { true } else { false } })
        // This is larger than what a capture that has not proved the token may send.
        let picture = try PlainPictures(size: PictureSize(width: 640, height: 480)).next(shade: 50, isIDR: true)
        try capture.send(picture)
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        // A second answer means nothing.
        try capture.answer(with: Array("another token, of some length".utf8))
        try capture.greet()
        try host.waitForLog("capture test")
    }

    @Test("without it, or with another, it is told why and is no source", arguments: 0...7)
    func wrongToken(way: Int) throws {
        let host = try Host(token: Self.token)
        let capture = try capture(host)
        switch way {
        case 0: try capture.answer(with: Array("a token of some lengtH".utf8))
        case 1: try capture.greet()
        case 2: try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        case 3:
            // A message of a kind that the host doesn't know.
            var unknown = MessageEncoder(epoch: 99).encode(.requestKeyFrame)
            unknown[1] = 31
            try capture.send(bytes: unknown)
        case 4: try capture.answer(with: [UInt8](repeating: 0, count: 4096))
        // The code that the host itself would send.
        case 5: try capture.answer(with: try #require(Self.token).bytes, as: .host)
        case 6:
            // A message of an earlier version's capture, which sent the token itself.
            var shown = try MessageEncoder(epoch: 99).unitHeader(
                payloadCount: try #require(Self.token).bytes.count, captureTime: nil, endsFrame: false)
            shown[1] = 10
            try capture.send(bytes: shown + (try #require(Self.token).bytes))
        default:
            // An answer to the challenge of another connection.
            let other = try self.capture(host)
            let nonce = try other.answer(with: try #require(Self.token).bytes)
            let code = LinkProof.code(
                of: .capture, token: try #require(Self.token).bytes, hostNonce: nonce, captureNonce: nonce)
            try capture.send(.answer(nonce: nonce, code: code))
        }
        try capture.waitForEnd()
        #expect(capture.endNotice?.reason == .unauthorised)
        #expect(capture.endNotice?.text == HostCheck.refusal)
        #expect(host.ingest.hub.sourceState == .waiting)
        #expect(host.hub.publishedFrames == 0)
        try host.waitForLog("127.0.0.1 is refused: it has not proved that it has the capture key")
    }

    @Test("a legacy sender, which can't prove anything, is taken where it may be, and nobody else without a proof")
    func legacySender() throws {
        let ranges = ["192.0.2.0/24", "127.0.0.0/8"].compactMap { AddressRange($0) }
        // This is larger than what a peer that has not proved the token may send otherwise.
        let picture = try PlainPictures(size: PictureSize(width: 640, height: 480)).next(shade: 50, isIDR: true)
        for form in [HeaderFormat.legacy40, .legacy16] {
            for isThere in [true, false] {
                let host = try Host(token: Self.token, legacySenders: isThere ? ranges : Array(ranges.dropLast()))
                let sender = TestCapture(try SocketConnection.connect(to: host.address), form: form)
                try sender.send(picture)
                if isThere {
                    try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
                } else {
                    try sender.waitForEnd()
                    try host.waitForLog("127.0.0.1 is refused")
                    #expect(host.hub.publishedFrames == 0)
                }
            }
        }
        let host = try Host(token: Self.token, legacySenders: ranges)
        for message in [true, false] {
            let capture = try capture(host)
            if message { try capture.greet() } else { try capture.send(picture) }
            try capture.waitForEnd()
            #expect(capture.endNotice?.reason == .unauthorised)
        }
        #expect(host.hub.publishedFrames == 0)
    }

    @Test("an answer that a host has not asked for means nothing to it")
    func unwantedAnswer() throws {
        let host = try Host()
        let capture = try capture(host)
        let bytes = [UInt8](repeating: 1, count: 32)
        try capture.send(.answer(nonce: bytes, code: bytes))
        #expect(host.ingest.hub.sourceState == .waiting)
        try capture.greet()
        try eventually("it to be taken", holds: { host.ingest.hub.sourceState == .live })
    }

    @Test("a second capture is told that there is one, and the first goes on; pings go to the first alone")
    func second() throws {
        let host = try Host()
        let first = try capture(host)
        try first.greet()
        try first.wait(for: "a ping") { $0.contains { if case .ping = $0 { true } else { false } } }
        let second = try capture(host)
        try second.greet()
        try second.waitForEnd()
        #expect(second.endNotice?.reason == .refused)
        #expect(!second.received.contains { if case .ping = $0 { true } else { false } })
        try first.send(try PlainPictures().next(shade: 50, isIDR: true))
        try eventually("the first's picture", holds: { host.hub.publishedFrames == 1 })
        #expect(host.ingest.hub.sourceState == .live)
    }
}
