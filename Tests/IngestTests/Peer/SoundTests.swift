import CaptureLink
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import TrackHub

/// A packet of sound of 10 ms, as its source has it.
func packet(_ number: Int, at time: MonotonicTime) -> CodedFrame {
    CodedFrame(
        bytes: [0, 0, 0, 1, 0xF0, UInt8(truncatingIfNeeded: number)], units: [4..<6], isRandomAccess: true,
        captureTime: time, format: TrackFormat(codec: .opus))
}

@Suite("The sound of a link")
struct SoundTests {
    private typealias Host = LinkServerTests.Host

    private func sound(of host: Host) throws -> TestCapture {
        let sound = try TestCapture(path: host.path, stream: MessageHeader.soundStream)
        try sound.greet()
        return sound
    }

    /// The frames of `reader`, once there are as many.
    private func frames(_ count: Int, of reader: TrackReader) throws -> [TrackFrame] {
        var taken: [TrackFrame] = []
        try eventually("\(count) frames") {
            taken += reader.take()
            return taken.count >= count ? () : nil
        }
        return taken
    }

    @Test("a capture of sound serves a hub of its own beside that of the pictures", arguments: [true, false])
    func beside(picturesFirst: Bool) throws {
        let host = try Host()
        let start = now()
        let pictures = try PlainPictures()
        let idr = try pictures.next(shade: 50, isIDR: true)
        var capture: TestCapture?
        func share() throws {
            capture = try TestCapture(path: host.path)
            try capture?.greet()
            try capture?.send(idr)
        }
        if picturesFirst { try share() }
        let sound = try sound(of: host)
        try sound.wait(for: "a pause") { $0.contains(.unwatched) }
        if !picturesFirst { try share() }
        // The host says hello before it knows who has come.
        #expect(sound.streams == [0, 1])

        let reader = host.sound.subscribe {}
        host.sound.changeViewers(by: 1)
        host.sound.requestKeyFrame(now: now())
        try sound.wait(for: "what listeners need") { $0.contains(.watched) }
        #expect(sound.streams.dropFirst().allSatisfy { $0 == 1 })
        try eventually("the time of the packets", holds: { now() - start > .milliseconds(50) })
        let packets = (0..<4).map { packet($0, at: start + .milliseconds(Int64($0) * 10)) }
        for packet in packets { try sound.send(packet) }
        let taken = try frames(4, of: reader)
        #expect(taken.map(\.coded.bytes) == packets.map(\.bytes))
        #expect(taken.map(\.coded.captureTime) == packets.map(\.captureTime))
        #expect(zip(taken, taken.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks == 480 })
        #expect(taken.allSatisfy { $0.format == TrackFormat(codec: .opus) })
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })

        sound.connection.close()
        try eventually("the end of the sound") { if case .gone = host.sound.sourceState { () } else { nil } }
        #expect(host.hub.sourceState == .live)
        try capture?.wait(for: "a pause") { $0.contains(.unwatched) }
        #expect(capture?.received.contains(.watched) == false)
        #expect(capture?.received.contains(.requestKeyFrame) == false)
    }

    @Test("a second capture of sound is turned away, however long the first is silent, and that is logged once")
    func second() throws {
        let host = try Host(silenceTimeout: .milliseconds(200))
        let first = try sound(of: host)
        host.sound.changeViewers(by: 1)
        try first.wait(for: "to be told to run") { $0.contains(.watched) }
        for count in 1...3 {
            let second = try sound(of: host)
            try second.waitForEnd()
            #expect(second.endNotice?.reason == .refused)
            #expect(second.endNotice?.text == "another sound capture is connected to this host")
            // It is asked whether it is still there, and is.
            try first.wait(for: "a ping") { pings(in: $0).count == count }
            let ping = try #require(pings(in: first.received).last)
            try first.send(.pong(ClockEcho(asked: ping, received: now(), sent: now())))
            let told = now()
            try eventually("the timeout", holds: { now() - told > .milliseconds(250) })
        }
        try first.send(packet(1, at: now()))
        try eventually("the first's packet", holds: { host.sound.publishedFrames == 1 })
        #expect(host.logged.count { $0.contains("refused a second audio capture") } == 1)
        // Neither is in the way of pictures.
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try eventually("the capture", holds: { host.hub.sourceState == .live })
    }

    @Test("a capture of sound that doesn't answer makes room for another one")
    func hung() throws {
        let host = try Host(silenceTimeout: .milliseconds(200))
        host.sound.changeViewers(by: 1)
        let first = try sound(of: host)
        try first.wait(for: "to be told to run") { $0.contains(.watched) }
        try eventually("room for another") {
            let other = try sound(of: host)
            try eventually("an answer") {
                try other.read()
                return other.isClosed || other.received.contains(.watched)
            }
            return !other.isClosed
        }
        try first.waitForEnd()
        #expect(first.endNotice?.text == "it didn't respond, and another audio capture has connected")
    }

    @Test("a capture of sound that was started by us and is silent is asked for a sign of life, and told if it hangs")
    func asked() throws {
        let host = try Host(silenceTimeout: .milliseconds(100))
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        let events = Mutex<[LinkWatcher.Event]>([])
        host.server.adopt(descriptor: pair[0], watcher: LinkWatcher { event in events.withLock { $0.append(event) } })
        let sound = TestCapture(
            try SocketConnection.connect(to: .descriptor(pair[1])), stream: MessageHeader.soundStream)
        try sound.greet()
        host.sound.changeViewers(by: 1)
        for count in 1...2 {
            try sound.wait(for: "a ping") { pings(in: $0).count == count }
            guard count == 1, let ping = pings(in: sound.received).last else { break }
            try sound.send(.pong(ClockEcho(asked: ping, received: now(), sent: now())))
        }
        // It doesn't answer the second one.
        try eventually("the report", holds: { events.withLock { $0 } == [.arrived, .silent(.milliseconds(100))] })
    }

    @Test("nothing that was captured before a mute is heard after it, nor anything until the source goes on")
    func muted() throws {
        let host = try Host()
        let sound = try sound(of: host)
        try eventually("the sound", holds: { host.sound.sourceState == .live })
        let reader = host.sound.subscribe {}
        host.sound.changeViewers(by: 1)
        let start = now()
        try sound.send(packet(1, at: start))
        var heard = try frames(1, of: reader)
        // Packets that come faster than their sound lasts have no place on the track.
        try eventually("the time of the packets", holds: { now() - start > .milliseconds(50) })

        host.sound.setPaused(true)
        #expect(host.sound.sourceState == .paused(.sharer))
        #expect(!host.sound.canStart)
        try sound.wait(for: "the mute") { $0.contains(.sharerPaused(true)) }
        // The first was on its way; the second should never come.
        try sound.send(packet(2, at: now()))
        try sound.send(.sharing(.paused))
        try eventually("its answer", holds: { host.sound.takesKeyFrame })
        try sound.send(packet(3, at: now()))
        host.sound.setPaused(false)
        try sound.wait(for: "the end of the mute") { $0.last == .sharerPaused(false) }
        try sound.send(packet(4, at: now()))
        try sound.send(.sharing(.live))
        try sound.send(packet(5, at: now()))
        heard += try frames(1, of: reader)
        #expect(heard.map { $0.coded.bytes.last } == [1, 5])
        #expect(host.sound.sourceState == .live)
    }

    @Test("what the sound says of itself does not concern the pictures of its connection")
    func apart() throws {
        let host = try Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        let encoder = MessageEncoder(epoch: 5, stream: MessageHeader.soundStream)
        let messages: [LinkMessage] = [.size(PictureSize(width: 2, height: 2)), .sharing(.locked)]
        for message in messages { try capture.send(bytes: encoder.encode(message)) }
        try capture.send(try PlainPictures().next(shade: 50, isIDR: true))
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        #expect(host.hub.sourceState == .live)
        #expect(host.sound.sourceState == .paused(.screenLocked))
        #expect(!host.logged.contains { $0.contains("pictures of 2x2") })
    }

    @Test("a replay may bring both, and its sound claims no capture time; another source's sound is not disturbed")
    func replay() throws {
        let host = try Host()
        let encoder = MessageEncoder(epoch: 5, stream: MessageHeader.soundStream)
        func play() throws -> TestCapture {
            let replay = try TestCapture(path: host.path)
            try replay.send(.hello(Hello(role: .replay, name: "replay", processID: 1, makesKeyFrames: false)))
            var bytes: [UInt8] = try replay.bytes(of: PlainPictures().next(shade: 50, isIDR: true))
            for number in 0..<2 {
                let sent = packet(number, at: .zero + .milliseconds(Int64(number) * 10))
                for unit in try encoder.headers(for: sent) { bytes += unit.header + sent.bytes[unit.payload] }
            }
            try replay.send(bytes: bytes)
            return replay
        }
        let reader = host.sound.subscribe {}
        let began = now()
        try eventually("the track to be older than a packet", holds: { now() - began > .milliseconds(20) })
        let replay = try play()
        let taken = try frames(2, of: reader)
        #expect(taken.allSatisfy { $0.coded.captureTime == nil })
        #expect(taken[1].time.ticks - taken[0].time.ticks == 480)
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        replay.connection.close()
        for hub in [host.hub, host.sound] {
            try eventually("its end") { if case .gone = hub.sourceState { () } else { nil } }
        }

        let sound = try sound(of: host)
        try eventually("a sound", holds: { host.sound.sourceState == .live })
        let next = try play()
        try eventually("the picture", holds: { host.hub.publishedFrames == 2 })
        try sound.send(packet(9, at: now()))
        #expect(try frames(1, of: reader).map { $0.coded.bytes.last } == [9])
        next.connection.close()
        try eventually("its end") { if case .gone = host.hub.sourceState { () } else { nil } }
        #expect(host.sound.sourceState == .live)
    }
}

/// The times of the host's pings.
private func pings(in messages: [LinkMessage]) -> [MonotonicTime] {
    messages.compactMap { if case .ping(let time) = $0 { time } else { nil } }
}
