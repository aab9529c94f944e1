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

@Suite("The link's server")
struct LinkServerTests {

    @Test("a capture is greeted, told whether anybody watches, and its pictures reach the hub bit for bit")
    func capture() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "hello and pause") { messages in
            guard case .hello(let hello)? = messages.first else { return false }
            return hello.role == .host && hello.name == "test host" && messages.contains(.unwatched)
        }
        host.hub.changeViewers(by: 1)
        host.hub.requestKeyFrame(now: now())
        reader.report(PathReport(targets: [BitRate(bitsPerSecond: 900_000)]), now: now())
        try capture.wait(for: "what viewers need") { messages in
            messages.contains(.watched) && messages.contains(.requestKeyFrame)
                && messages.contains(.bitRate(BitRate(bitsPerSecond: 900_000)))
        }
        let pictures = try PlainPictures()
        let units = [try pictures.next(shade: 50, isIDR: true), try pictures.next(shade: 70)]
        for unit in units { try capture.send(unit) }
        var taken: [TrackFrame] = []
        try eventually("two units") {
            taken += reader.take()
            return taken.count == 2 ? () : nil
        }
        #expect(taken.map(\.coded.bytes) == units.map(\.bytes))
        #expect(taken.map(\.coded.captureTime) == units.map(\.captureTime))
    }

    @Test("a capture's lines in the log are cut at 200 characters and limited in number")
    func lineBudget() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        let name = String(repeating: "x", count: 200)
        try capture.send(.hello(Hello(role: .capture, name: name, processID: 1, makesKeyFrames: true)))
        for width in 1...300 { try capture.send(.size(PictureSize(width: 2 * width, height: 100))) }
        let other = try TestCapture(path: host.path)
        try other.greet()
        try other.wait(for: "word that the first one has come") { messages in
            messages.contains { if case .end = $0 { true } else { false } }
        }
        let lines = host.logged
        #expect(lines.allSatisfy { $0.count <= "warning: ".count + 200 })
        #expect(lines.contains { $0.contains("link: capture xxx") })
        #expect((1..<100).contains(lines.count { $0.contains("link: pictures of") }))
    }

    @Test(
        "a legacy sender's pictures come through, and it is sent nothing but the greeting",
        arguments: [
            HeaderFormat.legacy40, .legacy16,
        ])
    func legacy(_ form: HeaderFormat) throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let sender = try TestCapture(path: host.path, form: form)
        let pictures = try PlainPictures()
        let units = [try pictures.next(shade: 50, isIDR: true), try pictures.next(shade: 70)]
        for unit in units { try sender.send(unit) }
        var taken: [TrackFrame] = []
        try eventually("two units, the last one by time") {
            taken += reader.take()
            return taken.count == 2 ? () : nil
        }
        #expect(taken.map(\.coded.bytes) == units.map(\.bytes))
        host.hub.changeViewers(by: 1)
        host.server.stop()
        try sender.waitForEnd()
        #expect(sender.received.map(\.kind) == [.hello])
        try host.waitForLog("a legacy sender")
    }

    @Test("a second capture is told that there is one, though it is still writing, and the first goes on")
    func second() throws {
        let host = try Host()
        let first = try TestCapture(path: host.path)
        try first.greet()
        try eventually("the first", holds: { host.ingest.hub.sourceState == .live })
        let second = try TestCapture(path: host.path)
        let pictures = try PlainPictures()
        let idr = try pictures.next(shade: 50, isIDR: true)
        // This is larger than what a socket takes at once. The host reads on for a moment, and then closes.
        do {
            for _ in 0..<2000 { try second.send(idr) }
        } catch SocketError.closed {}
        try second.waitForEnd()
        #expect(second.endNotice?.reason == .refused)
        #expect(second.endNotice?.text.contains("another capture") == true)
        try first.send(idr)
        try eventually("the first's picture", holds: { host.hub.publishedFrames == 1 })
        #expect(host.ingest.hub.sourceState == .live)
    }

    @Test(
        "a host, or a peer of no version, is no source, and is told so",
        arguments: [(Hello.Role.host, UInt16(1)), (.capture, 0)])
    func noSource(role: Hello.Role, version: UInt16) throws {
        let host = try Host()
        let peer = try TestCapture(path: host.path)
        try peer.send(
            .hello(Hello(role: role, name: "not a capture", processID: 1, makesKeyFrames: true, version: version)))
        try peer.wait(for: "the end, with its reason") { messages in
            messages.contains { message in
                guard case .end(let notice) = message else { return false }
                return notice.reason == (role == .host ? .protocolError : .versionMismatch)
            }
        }
        #expect(host.ingest.hub.sourceState == .waiting)
    }

    @Test("a capture that hangs makes way for another, a paused one does not")
    func hanging() throws {
        let host = try Host(silenceTimeout: .milliseconds(200))
        let hanging = try TestCapture(path: host.path)
        try hanging.greet()
        try hanging.wait(for: "pause") { $0.contains(.unwatched) }
        let started = now()
        try eventually("the timeout", holds: { now() - started > .milliseconds(300) })
        let early = try TestCapture(path: host.path)
        try early.greet()
        try early.waitForEnd()
        host.hub.changeViewers(by: 1)
        try hanging.wait(for: "resume") { $0.contains(.watched) }
        let resumed = now()
        try eventually("the timeout", holds: { now() - resumed > .milliseconds(300) })
        let next = try TestCapture(path: host.path)
        try next.greet()
        try next.wait(for: "resume") { $0.contains(.watched) }
        try hanging.wait(for: "the end") { messages in
            messages.contains { if case .end = $0 { true } else { false } }
        }
        #expect(host.ingest.hub.sourceState == .live)
    }

    @Test("who has started a capture is told that it came, its size, and once that it hangs; and says why it ends")
    func watched() throws {
        let host = try Host(silenceTimeout: .milliseconds(200))
        let pair = try LinkSocketPair()
        let events = Mutex<[LinkWatcher.Event]>([])
        let watcher = LinkWatcher { event in events.withLock { $0.append(event) } }
        host.server.adopt(descriptor: fcntl(pair.connection.descriptor, F_DUPFD_CLOEXEC, 3), watcher: watcher)
        let encoder = MessageEncoder(epoch: 1)
        func send(_ message: LinkMessage) {
            let bytes = encoder.encode(message)
            #expect(write(pair.childDescriptor, bytes, bytes.count) == bytes.count)
        }
        send(.hello(Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)))
        send(.size(PictureSize(width: 64, height: 48)))
        let size = LinkWatcher.Event.size(PictureSize(width: 64, height: 48))
        try eventually("the arrival", holds: { events.withLock { $0 } == [.arrived, size] })
        // Nobody wants anything from it, so it may be silent.
        let arrived = now()
        try eventually("the timeout", holds: { now() - arrived > .milliseconds(300) })
        #expect(events.withLock { $0.count } == 2)
        host.hub.changeViewers(by: 1)
        try eventually("a word of its silence", holds: { events.withLock { $0.last } == .silent(.milliseconds(200)) })
        let told = now()
        try eventually("the timeout", holds: { now() - told > .milliseconds(300) })
        #expect(events.withLock { $0.count } == 3)
        watcher.explainEnd("it was ended")
        pair.closeChild()
        try host.waitForLog("link: capture is gone: it was ended")
        guard case .gone(_, "it was ended") = host.ingest.hub.sourceState else {
            Issue.record("\(host.ingest.hub.sourceState)")
            return
        }
    }

    @Test("a replay's pictures are placed by arrival and claim no capture time")
    func replay() throws {
        let host = try Host()
        let reader = host.hub.subscribe {}
        let peer = try TestCapture(path: host.path)
        try peer.send(.hello(Hello(role: .replay, name: "replay", processID: 1, makesKeyFrames: false)))
        try peer.send(try PlainPictures().next(shade: 50, isIDR: true))
        var taken: [TrackFrame] = []
        try eventually("a unit") {
            taken += reader.take()
            return taken.isEmpty ? nil : ()
        }
        #expect(taken[0].coded.captureTime == nil)
    }

    @Test("what a capture says at its end is what viewers are told")
    func reason() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.send(.end(EndNotice(reason: .displayLost, text: "the X server is gone")))
        capture.connection.close()
        try eventually("the capture's end") {
            if case .gone(_, "the X server is gone") = host.ingest.hub.sourceState { return () }
            return nil
        }
    }

    @Test("a socket that was handed over serves as well")
    func adopted() throws {
        let host = try Host()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        host.server.adopt(descriptor: ends[0])
        let capture = TestCapture(try SocketConnection.connect(to: .descriptor(ends[1])))
        try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        try eventually("a picture", holds: { host.hub.publishedFrames == 1 })
    }

    @Test("a capture of pictures on this machine gets no pings: its clock is the host's")
    func noPings() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "the first order") { $0.contains(.unwatched) }
        host.hub.changeViewers(by: 1)
        host.hub.requestKeyFrame(now: now())
        // Orders are sent behind the pings that are due.
        try capture.wait(for: "more orders") { $0.contains(.watched) && $0.contains(.requestKeyFrame) }
        #expect(!capture.received.contains { if case .ping = $0 { true } else { false } })
    }

    @Test("at its end connections are closed and the socket file is gone; stopping again does nothing")
    func stop() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try eventually("the capture", holds: { host.ingest.hub.sourceState == .live })
        host.server.stop()
        host.server.stop()
        try capture.waitForEnd()
        #expect(capture.endNotice?.reason == .stopped)
        #expect(access(host.path, F_OK) != 0)
    }

    @Test("whatever comes, the server goes on: mutated streams, one after the other")
    func mutations() throws {
        let host = try Host()
        let pictures = try PlainPictures()
        var random = SeededRandom(seed: 38)
        var valid: [UInt8] = []
        let template = try TestCapture(path: host.path)
        for index in 0..<6 { valid += try template.bytes(of: pictures.next(shade: 60, isIDR: index % 3 == 0)) }
        template.connection.close()
        for _ in 0..<150 {
            let capture = try eventually("room in the listener's queue") { try? TestCapture(path: host.path) }
            // The host may have ended the link by then.
            try? capture.send(bytes: random.mutation(of: valid))
            capture.connection.close()
        }
        try eventually("the last one's end", holds: { host.ingest.hub.sourceState != .live })
        let reader = host.hub.subscribe {}
        _ = reader.take()
        let idr = try PlainPictures().next(shade: 170, isIDR: true)
        try eventually("a good capture's picture") {
            // The capture is turned away while the host has not yet seen the end of the previous one.
            let capture = try TestCapture(path: host.path)
            try? capture.send(idr)
            return try? eventually("it in the hub", within: .milliseconds(200)) {
                reader.take().contains { $0.coded.bytes == idr.bytes } ? () : nil
            }
        }
    }
}
