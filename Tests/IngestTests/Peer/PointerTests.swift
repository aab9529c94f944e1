import CaptureLink
import Ingest
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@Suite("The pointer on its way through the host")
struct PointerTests {
    /// The reports about the pointer, in order.
    final class Reports: Sendable {
        private let reports = Mutex<[PointerReport]>([])
        func add(_ report: PointerReport) { reports.withLock { $0.append(report) } }
        var all: [PointerReport] { reports.withLock { $0 } }
    }

    /// The host's end of a link, which keeps the reports about the pointer.
    final class Host {
        let folder: TemporaryFolder
        let hub = TrackHub(origin: now())
        let reports = Reports()
        let ingest: TrackIngest
        let server: LinkServer
        var path: String { folder.file("s.sock") }

        init() throws {
            folder = try TemporaryFolder()
            let reports = self.reports
            ingest = try TrackIngest(hub: hub, log: .silent, onPointer: { reports.add($0) })
            server = try LinkServer(
                at: .unix(path: folder.file("s.sock")), ingest: ingest, sound: TrackHub(origin: now()),
                name: "test host", log: .silent)
        }

        deinit { server.stop() }

        func wait(for expected: [PointerReport]) throws {
            do {
                try eventually("the reports", holds: { reports.all == expected })
            } catch {
                Issue.record("\(reports.all) instead of \(expected)")
            }
        }
    }

    private let shape = CursorImage(
        size: PictureSize(width: 1, height: 2), hotX: 0, hotY: 1, pixels: [0xFF00_0000, 0xFFFF_FFFF])

    private func greet(_ capture: TestCapture, tellsPointer: Bool) throws {
        try capture.send(
            .hello(Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true, tellsPointer: tellsPointer)))
    }

    @Test("shape, place and the size they belong to are handed on, and no longer hold when the source goes")
    func handedOn() throws {
        let host = try Host()
        let shape = try #require(self.shape)
        let capture = try TestCapture(path: host.path)
        try greet(capture, tellsPointer: true)
        try capture.send(.pointerShape(shape))
        let place = PointerPosition(x: 5, y: -6, isVisible: true)
        try capture.send(.pointerPosition(place))
        try capture.send(.size(PictureSize(width: 640, height: 480)))
        try capture.send(.pointerPosition(place))
        var expected: [PointerReport] = [
            .ability(tellsPointer: true), .shape(shape), .position(place, of: nil),
            .position(place, of: PictureSize(width: 640, height: 480)),
        ]
        try host.wait(for: expected)
        capture.connection.close()
        expected.append(.lost)
        try host.wait(for: expected)
    }

    @Test("a new epoch, and a message of another stream, leave nothing of the pointer before")
    func newEpoch() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try greet(capture, tellsPointer: true)
        let place = PointerPosition(x: 1, y: 1, isVisible: true)
        try capture.send(.pointerPosition(place))
        try capture.send(bytes: MessageEncoder(epoch: 99, stream: 3).encode(.pointerPosition(place)))
        try capture.send(bytes: MessageEncoder(epoch: 100).encode(.statistics(CaptureStatistics())))
        try capture.send(bytes: MessageEncoder(epoch: 100).encode(.pointerPosition(place)))
        try host.wait(for: [
            .ability(tellsPointer: true), .position(place, of: nil), .lost, .position(place, of: nil),
        ])
    }

    @Test("a capture that tells the pointer hears the mode when it connects and at each change; another one never does")
    func mode() throws {
        let host = try Host()
        host.ingest.hub.setPointerMode(.apart)
        let capture = try TestCapture(path: host.path)
        try greet(capture, tellsPointer: true)
        try capture.wait(for: "the mode") { $0.contains(.pointerMode(.apart)) }
        host.ingest.hub.setPointerMode(.drawn)
        try capture.wait(for: "the mode") { $0.contains(.pointerMode(.drawn)) }
        capture.connection.close()
        try eventually("its end", holds: { host.ingest.hub.sourceState != .live })

        let plain = try TestCapture(path: host.path)
        try greet(plain, tellsPointer: false)
        try plain.wait(for: "the pause") { $0.contains(.unwatched) }
        host.ingest.hub.setPointerMode(.apart)
        host.hub.changeViewers(by: 1)
        try plain.wait(for: "the word after it") { $0.contains(.watched) }
        #expect(!plain.received.contains { $0.kind == .pointerMode })
    }

    @Test("the first picture, and each that differs from the one before, says whether the pointer is drawn in it")
    func flags() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let capture = try TestCapture(path: host.path)
        try greet(capture, tellsPointer: true)
        let pictures = try PlainPictures()
        let flags: [Bool?] = [false, false, true, nil, false]
        for (index, flag) in flags.enumerated() {
            if let flag {
                let damage = PixelRectangle(x: 0, y: 0, width: 64, height: 48)
                try capture.send(
                    .picture(
                        PictureNotice(sequenceNumber: UInt64(index), damage: damage, isPointerDrawn: flag)))
            }
            try capture.send(try pictures.next(shade: UInt8(50 + index), isIDR: index == 0))
        }
        try host.wait(for: [
            .ability(tellsPointer: true), .pictures(areDrawn: false), .pictures(areDrawn: true),
            .pictures(areDrawn: false),
        ])
        #expect(reader.take().map(\.coded.isPointerDrawn) == [false, false, true, true, false])
    }

    @Test("a picture that the host's own encoder makes has the pointer where the source's picture had it")
    func hostEncoder() throws {
        let hub = TrackHub(origin: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        #expect(ingest.attach(AskedSource(makesKeyFrames: false)))
        var unit = try PlainPictures().next(shade: 80, isIDR: true)
        unit.attachment = .pointerLeftOut
        ingest.deliver(unit, epoch: 1, arrival: now())
        let reader = hub.subscribe {}
        _ = reader.take()
        hub.requestKeyFrame(now: now())
        var units: [TrackFrame] = []
        try eventually("the host's picture") {
            units += reader.take()
            return units.isEmpty ? nil : ()
        }
        #expect(units.first?.coded.isRandomAccess == true && units.first?.coded.isPointerDrawn == false)
    }
}
