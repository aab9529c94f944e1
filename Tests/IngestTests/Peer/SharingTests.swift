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

@Suite("The sharer's pause")
struct SharingTests {
    /// The host's end of a link, from the socket to the hub.
    private final class Host {
        let folder: TemporaryFolder
        let hub = TrackHub(origin: now())
        let ingest: TrackIngest
        let server: LinkServer
        let states = States()

        final class States: Sendable {
            let all = Mutex<[SourceState]>([])
        }

        init() throws {
            folder = try TemporaryFolder()
            let states = self.states
            ingest = try TrackIngest(hub: hub, log: .silent) { state in states.all.withLock { $0.append(state) } }
            server = try LinkServer(
                at: .unix(path: folder.file("s.sock")), ingest: ingest, sound: TrackHub(origin: now()),
                name: "test host", log: .silent)
        }

        deinit { server.stop() }

        func capture() throws -> TestCapture {
            let capture = try TestCapture(path: folder.file("s.sock"))
            try capture.greet()
            try eventually("the capture", holds: { ingest.hub.sourceState != .waiting })
            return capture
        }

        func waitForState(_ state: SourceState) throws {
            try eventually("\(state)", holds: { ingest.hub.sourceState == state })
        }

        /// Returns the shade that a snapshot shows now.
        func snapshot() throws -> Int? {
            let answers = Answers()
            ingest.snapshot(timeout: .milliseconds(200)) { answers.add($0) }
            try eventually("an answer", holds: { answers.all.count == 1 })
            return answers.all[0]
        }
    }

    @Test("a capture that can pause is told to, and from then on nothing is seen but its slate")
    func capture() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let capture = try host.capture()
        let pictures = try PlainPictures()
        host.hub.changeViewers(by: 1)
        try capture.send(try pictures.next(shade: 50, isIDR: true))
        try eventually("the screen", holds: { reader.take().count == 1 })

        host.ingest.hub.setPaused(true)
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
        #expect(!host.hub.canStart)
        #expect(try host.snapshot() == nil)
        try capture.wait(for: "hold") { $0.contains(.sharerPaused(true)) }
        // These were captured before the capture heard of the hold; one is even an IDR.
        try capture.send(try pictures.next(shade: 60))
        try capture.send(try pictures.next(shade: 70, isIDR: true))
        try capture.send(.sharing(.paused))
        try capture.send(try pictures.next(shade: 80))
        let slate = try pictures.next(shade: 200, isIDR: true)
        let still = try pictures.next(shade: 200)
        try capture.send(slate)
        try capture.send(still)
        var seen: [TrackFrame] = []
        try eventually("the slate") {
            seen += reader.take()
            return seen.count == 2 ? () : nil
        }
        #expect(seen.map(\.coded.bytes) == [slate.bytes, still.bytes])
        #expect(host.hub.cachedFrames.map(\.coded.bytes) == [slate.bytes, still.bytes])
        #expect(abs(try #require(try host.snapshot()) - 200) <= 3)
        #expect(host.ingest.hub.sourceState == .paused(.sharer))

        host.ingest.hub.setPaused(false)
        try capture.wait(for: "hold's end") { $0.contains(.sharerPaused(false)) }
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
        try capture.send(.sharing(.live))
        let screen = try pictures.next(shade: 90, isIDR: true)
        try capture.send(screen)
        try eventually("the screen") {
            seen += reader.take()
            return seen.last?.coded.bytes == screen.bytes ? () : nil
        }
        #expect(host.states.all.withLock { $0 } == [.live, .paused(.sharer), .live])
    }

    @Test("a capture that comes, or comes back, while the host holds is told at once and not seen")
    func newcomer() throws {
        let host = try Host()
        host.ingest.hub.setPaused(true)
        #expect(host.ingest.hub.sourceState == .waiting)
        let capture = try host.capture()
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
        try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        try capture.wait(for: "hold") { $0.contains(.sharerPaused(true)) }
        capture.connection.close()
        try eventually("its end") { if case .gone = host.ingest.hub.sourceState { () } else { nil } }
        #expect(host.hub.publishedFrames == 0)

        let next = try host.capture()
        try next.wait(for: "hold") { $0.contains(.sharerPaused(true)) }
        try next.send(.sharing(.paused))
        try next.send(try PlainPictures().next(shade: 200, isIDR: true))
        try eventually("its slate", holds: { host.hub.publishedFrames == 1 })
        try host.waitForState(.paused(.sharer))
    }

    @Test("what a capture says of itself is its state, with its reason")
    func itself() throws {
        let host = try Host()
        let capture = try host.capture()
        let pictures = try PlainPictures()
        try capture.send(try pictures.next(shade: 50, isIDR: true))
        try eventually("the screen", holds: { host.hub.publishedFrames == 1 })
        try capture.send(.sharing(.locked))
        try host.waitForState(.paused(.screenLocked))
        #expect(!host.hub.canStart)
        #expect(try host.snapshot() == nil)
        try capture.send(try pictures.next(shade: 200, isIDR: true))
        try eventually("the slate", holds: { host.hub.publishedFrames == 2 })
        for (said, state) in [
            (SharingState.windowHidden, SourceState.paused(.windowHidden)), (.paused, .paused(.sharer)), (.live, .live),
        ] {
            try capture.send(.sharing(said))
            try host.waitForState(state)
        }
    }

    @Test("a capture that goes on by itself while the host holds is told again, and not seen")
    func contradiction() throws {
        let host = try Host()
        let capture = try host.capture()
        host.ingest.hub.setPaused(true)
        try capture.send(.sharing(.paused))
        try capture.wait(for: "hold") { $0.contains(.sharerPaused(true)) }
        try capture.send(.sharing(.live))
        try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        try capture.wait(for: "hold again") { $0.filter { $0 == .sharerPaused(true) }.count == 2 }
        #expect(host.hub.publishedFrames == 0)
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
    }

    @Test("the same wish pauses and goes on, also after a pause at the source")
    func toggle() throws {
        let host = try Host()
        let capture = try host.capture()
        host.ingest.hub.setPaused(!host.ingest.hub.isPausedBySharer)
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
        host.ingest.hub.setPaused(!host.ingest.hub.isPausedBySharer)
        #expect(host.ingest.hub.sourceState == .live)
        try capture.send(.sharing(.paused))
        try host.waitForState(.paused(.sharer))
        host.ingest.hub.setPaused(!host.ingest.hub.isPausedBySharer)
        try capture.wait(for: "hold's end") { $0.last { $0.kind == .sharerPaused } == .sharerPaused(false) }
        try capture.send(.sharing(.locked))
        try host.waitForState(.paused(.screenLocked))
        host.ingest.hub.setPaused(!host.ingest.hub.isPausedBySharer)
        #expect(host.ingest.hub.sourceState == .paused(.sharer))
    }

    @Test("a source that can't pause is held back, and goes on with what it shows by then")
    func legacy() throws {
        let hub = TrackHub(origin: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        let reader = hub.subscribe {}
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 0, arrival: now())
        #expect(reader.take().count == 1)
        ingest.hub.setPaused(true)
        ingest.deliver(try pictures.next(shade: 60), epoch: 0, arrival: now())
        ingest.deliver(try pictures.next(shade: 70, isIDR: true), epoch: 0, arrival: now())
        ingest.deliver(try pictures.next(shade: 150), epoch: 0, arrival: now())
        hub.requestKeyFrame(now: now())
        let answers = Answers()
        ingest.snapshot(timeout: .seconds(5)) { answers.add($0) }
        #expect(answers.all == [nil])
        #expect(reader.take().isEmpty && !hub.canStart)
        #expect(ingest.hub.sourceState == .paused(.sharer))

        ingest.hub.setPaused(false)
        #expect(ingest.hub.sourceState == .live)
        var seen: [TrackFrame] = []
        try eventually("the host's own IDR") {
            seen += reader.take()
            return seen.isEmpty ? nil : ()
        }
        #expect(seen[0].coded.isRandomAccess)
        ingest.snapshot(timeout: .seconds(5)) { answers.add($0) }
        try eventually("a snapshot", holds: { answers.all.count == 2 })
        #expect(abs(try #require(answers.all[1]) - 150) <= 3)
    }

    @Test("an application's track is asked for an IDR to go on with")
    func custom() throws {
        let hub = TrackHub(origin: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        let pictures = try PlainPictures()
        ingest.deliver(try pictures.next(shade: 50, isIDR: true), epoch: 1, arrival: now())
        ingest.hub.setPaused(true)
        hub.requestKeyFrame(now: now())
        #expect(source.idrs == 0)
        ingest.hub.setPaused(false)
        #expect(source.idrs == 1)
        ingest.deliver(try pictures.next(shade: 60), epoch: 1, arrival: now())
        #expect(hub.publishedFrames == 1)
        ingest.deliver(try pictures.next(shade: 70, isIDR: true), epoch: 1, arrival: now())
        #expect(hub.publishedFrames == 2)
    }

    @Test("the pointer goes out of sight while the sharer pauses, and comes back where it is by then")
    func pointer() throws {
        let reports = Mutex<[PointerReport]>([])
        let ingest = try TrackIngest(hub: TrackHub(origin: now()), log: .silent) { _ in
        } onPointer: { report in
            reports.withLock { $0.append(report) }
        }
        let source = AskedSource()
        #expect(ingest.attach(source))
        func position(_ x: Int) -> PointerReport {
            .position(PointerPosition(x: x, y: 0, isVisible: true), of: PictureSize(width: 64, height: 48))
        }
        ingest.hub.report(position(1), from: source)
        ingest.hub.setPaused(true)
        ingest.hub.report(position(2), from: source)
        ingest.hub.report(position(3), from: source)
        ingest.hub.setPaused(false)
        ingest.hub.report(position(4), from: source)
        #expect(reports.withLock { $0.dropFirst() } == [position(1), .lost, position(3), position(4)])
    }

    @Test("however threads get in each other's way, source and viewers hear the same last word")
    func lastWord() throws {
        final class Holding: PictureSource {
            let makesKeyFrames = true
            let held = Mutex(false)
            func setSharerPaused(_ isPaused: Bool) { held.withLock { $0 = isPaused } }
        }
        let hub = TrackHub(origin: now())
        let last = Mutex(SourceState.waiting)
        let ingest = try TrackIngest(hub: hub, log: .silent) { state in last.withLock { $0 = state } }
        let source = Holding()
        #expect(ingest.attach(source))
        let threads = (0..<4).compactMap { index in
            NamedThread("sharer \(index)") {
                for turn in 0..<500 { ingest.hub.setPaused((turn + index).isMultiple(of: 2)) }
            }
        }
        for thread in threads { thread.join() }
        let isPaused = ingest.hub.sourceState == .paused(.sharer)
        #expect(source.held.withLock { $0 } == isPaused)
        #expect(last.withLock { $0 } == ingest.hub.sourceState)
    }
}
