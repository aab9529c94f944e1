import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import WaylandCapture

@Suite("A session of the desktop portal", .enabled(if: WaylandDesktop.isAvailable), .serialized)
struct PortalSessionTests {
    private static let selected = "select types=1 cursor=4 persist=2 restores="

    private func begin(
        _ desktop: WaylandDesktop, _ sources: PortalSourceTypes = .monitor, token: String? = nil
    ) -> PortalSession {
        PortalSession(sources: sources, restoreToken: token, busAddress: desktop.busAddress)
    }

    /// Waits until the session has ended.
    private func end(of session: PortalSession) throws -> PortalError {
        try eventually("the session's end") {
            session.process()
            if case .ended(let error) = session.state { return error }
            return nil
        }
    }

    @Test("is opened with a stream and a remote, and ends when the desktop closes it")
    func opened() throws {
        let desktop = try WaylandDesktop()
        let session = begin(desktop)
        #expect(session.state == .opening)
        let isOpen = try session.open()
        #expect(isOpen && session.state == .open)
        #expect(session.cursorMode == .metadata)
        #expect(session.streams.count == 1)
        let stream = try #require(session.streams.first)
        #expect(stream.node != 0)
        #expect(stream.size == PictureSize(width: 1280, height: 720))
        #expect(stream.position == PortalStream.Position(x: 0, y: 0))
        #expect(stream.sourceType == .monitor)
        #expect(stream.mappingID == "test")
        #expect(desktop.count(of: Self.selected + "0") == 1)

        if let remote = session.takeRemote() {
            let number = remote.rawValue
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            var status = stat()
            #expect(fstat(number, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFSOCK)
            close(remote.release())
        } else {
            Issue.record("no remote")
        }
        if let second = session.takeRemote() { Issue.record("a second remote, \(second.rawValue)") }

        try desktop.tell("close")
        let error = try end(of: session)
        #expect(error == .closed)
        #expect(session.fileDescriptor == -1 && session.deadline == .distantFuture)
        withExtendedLifetime(desktop) {}
    }

    @Test("gives a token that opens the next one without asking; one that can't be used asks again")
    func restored() throws {
        let desktop = try WaylandDesktop()
        let first = begin(desktop)
        _ = try first.open()
        let token = try #require(first.restoreToken)
        let second = begin(desktop, token: token)
        _ = try second.open()
        #expect(desktop.count(of: Self.selected + "1") == 1)
        let next = try #require(second.restoreToken)

        // A desktop that gives no token.
        try desktop.tell("forget")
        let third = begin(desktop, token: next)
        _ = try third.open()
        #expect(desktop.count(of: Self.selected + "1") == 2)
        #expect(third.restoreToken == nil)

        // One that was never given, and one that the portal takes for an error.
        for token in ["00000000-0000-4000-8000-000000000000", "nothing"] {
            let before = desktop.count(of: Self.selected + "0")
            let asked = begin(desktop, token: token)
            let isOpen = try asked.open()
            #expect(isOpen)
            #expect(desktop.count(of: Self.selected + "0") == before + 1)
        }
    }

    @Test("that isn't opened with a token may be tried again, unless the user has cancelled it")
    func notRestored() throws {
        let desktop = try WaylandDesktop()
        let first = begin(desktop)
        _ = try first.open()
        let token = try #require(first.restoreToken)
        try desktop.tell("answer 2")
        #expect(throws: PortalError.notRestored) { _ = try begin(desktop, token: token).open() }
        #expect(PortalError.notRestored.kind == .unavailable)
        try desktop.tell("answer 1")
        #expect(throws: PortalError.cancelled) { _ = try begin(desktop, token: token).open() }
    }

    @Test("isn't opened if the user cancels or the desktop refuses, and waits for the user as long as the caller does")
    func declined() throws {
        let desktop = try WaylandDesktop()
        try desktop.tell("answer 1")
        #expect(throws: PortalError.cancelled) { _ = try begin(desktop).open() }
        try desktop.tell("answer 2")
        #expect(throws: PortalError.refused) { _ = try begin(desktop).open() }
        #expect(PortalError.cancelled.kind == .declined && PortalError.refused.kind == .declined)

        try desktop.tell("answer 0")
        try desktop.tell("hold")
        let started = desktop.count(of: "start")
        var held: PortalSession? = begin(desktop)
        try eventually(
            "the desktop's question",
            holds: {
                held?.process()
                return desktop.count(of: "start") > started
            })
        #expect(held?.state == .asking)
        let stop = try makePipe()
        defer { close(stop.reading) }
        // The other end of a pipe that was closed can be read.
        close(stop.writing)
        let isOpen = try held?.open(waitingUntil: stop.reading)
        #expect(isOpen == false && held?.state == .asking)
        try desktop.tell("release")
        let isOpenLater = try held?.open()
        #expect(isOpenLater == true)

        // What is released ends at the desktop, too.
        let closed = desktop.count(of: "closed")
        held = nil
        try eventually("the session's end at the desktop", holds: { desktop.count(of: "closed") > closed })
    }

    @Test("ends with the portal, and with the bus")
    func portalGone() throws {
        let desktop = try WaylandDesktop()
        let session = begin(desktop)
        _ = try session.open()
        try desktop.tell("end portal")
        let error = try end(of: session)
        #expect(error == .portalGone && error.endReason == .displayLost)
        withExtendedLifetime(desktop) {}

        let bare = try WaylandDesktop([.portal, .backend])
        try bare.tell("hold")
        let asking = begin(bare)
        try eventually(
            "the desktop's question",
            holds: {
                asking.process()
                return bare.count(of: "start") > 0
            })
        try bare.tell("end bus")
        let other = try end(of: asking)
        #expect(other == .busGone)
        withExtendedLifetime(bare) {}
    }

    @Test("needs a bus, a portal, a backend, and a source that the desktop has")
    func missing() throws {
        let nowhere = PortalSession(sources: .monitor, busAddress: "unix:path=/nonexistent")
        #expect(nowhere.state == .ended(.noBus(code: ENOENT)))
        let empty = try WaylandDesktop([])
        #expect(throws: PortalError.noPortal) { _ = try begin(empty).open() }
        let bare = try WaylandDesktop([.portal])
        #expect(throws: PortalError.noBackend) { _ = try begin(bare).open() }
        let desktop = try WaylandDesktop([.portal, .backend])
        #expect(throws: PortalError.noSuchSource(.virtual, available: [.monitor, .window])) {
            _ = try begin(desktop, .virtual).open()
        }
    }
}
