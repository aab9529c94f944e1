import CaptureEngine
import CaptureLink
import Glibc
import HostConnection
import LinkTransport
import MediaTypes
import TestScene
import TestSupport
import Testing

/// A host that reads slowly, or not at all.
@Suite("capture and a slow host", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct FlowControlTests {
    private static let size = PictureSize(width: 320, height: 240)
    /// What the kernel takes for a host that doesn't read, where it is asked for as little as there is.
    private static let smallest: Int32 = 4608

    @Test("who reads a byte at a time gets fewer pictures, each of them whole, and the newest in the end")
    func slowReader() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name, sendBuffer: Self.smallest)
        try host.sendHello()
        try host.wait(for: "a picture") { host.counter == 0 }
        let count = host.count
        for tick in 1...60 {
            try window.show(tick: tick)
            poll(nil, 0, 15)
            try host.read(bytes: 60)
        }
        #expect(host.count - count < 30)
        try host.wait(for: "the newest picture") { host.counter == 60 }
        capture.stop()
        try host.wait(for: "the end") { host.hasEnded }
        let numbers = host.units.compactMap { $0.notice?.sequenceNumber }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
        let folder = try TemporaryFolder()
        #expect(try FFmpeg.decode(folder.write("capture.264", host.stream), input: ["-f", "h264"]).messages == "")
    }

    @Test("who stops reading is left, with a reason; who goes on in time is not")
    func stalled() throws {
        let screen = try VirtualScreen(Self.size)
        let noise = try NoiseDrawing(on: screen, seed: 4)
        let timeout = Interval.seconds(1)
        for attempt in 1...5 {
            let (capture, host) = try RunningCapture.pair(display: screen.name, sendBuffer: Self.smallest) {
                $0.readTimeout = timeout
            }
            try host.sendHello()
            let pause = try readSlowly(host, while: noise)
            // Where this test was kept from reading, capture may be right to leave. The other half of its timeout is
            // for capture, which has to be woken each time.
            let isInTime = pause < timeout / 2
            if !isInTime, attempt < 5 {
                capture.stop()
                continue
            }
            try #require(isInTime, "the test itself has left \(pause.milliseconds) ms between two reads")
            #expect(!host.hasEnded && capture.end == nil)
            let end = try eventually("the end") { () throws -> CaptureEnd? in
                // Until the kernel takes nothing more.
                noise.draw()
                return try capture.end?.get()
            }
            #expect(end == .hostGone)
            #expect(capture.lines.contains { $0.contains("the host has read nothing for 1 s") })
            return
        }
    }

    /// Reads all there is at each turn, more slowly than new pictures come and for longer than a second; gives the
    /// longest time between two reads. The kernel asks for more only when it holds hardly anything: less read is no
    /// sign of life.
    private func readSlowly(_ host: ReceivingHost, while noise: NoiseDrawing) throws -> Interval {
        var longest = Interval.zero
        var last = now()
        func readAll() throws {
            try host.read()
            let time = now()
            longest = max(longest, time - last)
            last = time
        }
        try eventually(
            "a picture",
            holds: {
                try readAll()
                return host.count >= 1 || host.hasEnded
            })
        for _ in 0..<18 {
            noise.draw()
            poll(nil, 0, 100)
            try readAll()
        }
        return longest
    }

    @Test("who is left is given a minute to read, if nothing else was configured")
    func usualTimeout() {
        let link = LinkAddress.unix(path: "/nowhere")
        #expect(CaptureConfiguration(link: link).readTimeout == .seconds(60))
        #expect(HostLinkConfiguration(link: link).readTimeout == .seconds(60))
    }

    @Test("a host that hangs on a socket of its own is left, and tried again with a new picture")
    func triedAgain() throws {
        let screen = try VirtualScreen(Self.size)
        let noise = try NoiseDrawing(on: screen, seed: 5)
        let folder = try TemporaryFolder()
        let listener = try SocketListener(path: folder.file("link.sock"))
        defer { listener.close() }
        var configuration = CaptureConfiguration(
            link: .unix(path: folder.file("link.sock")), framesPerSecond: 120,
            bitRate: BitRate(bitsPerSecond: 1_000_000_000))
        configuration.readTimeout = .milliseconds(300)
        let capture = try RunningCapture(configuration, display: screen.name)
        let hanging = try eventually("capture") { try listener.accept() }
        var next: ReceivingHost?
        let host = try eventually("capture again, and a picture", within: .seconds(90)) { () throws -> ReceivingHost? in
            noise.draw()
            // Whoever reads too late here is left as well, and the next one is it.
            if next?.hasEnded != false, let connection = try listener.accept() {
                next = try ReceivingHost(connection)
            }
            try next?.read()
            return next?.units.isEmpty == false ? next : nil
        }
        #expect(host.types(0) == [7, 8, 5])
        #expect(capture.lines.contains { $0.contains("read nothing") })
        hanging.close()
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }

    @Test("what a host asks for while it reads nothing makes nothing pile up, and its last word holds")
    func asking() throws {
        let screen = try VirtualScreen(Self.size)
        let noise = try NoiseDrawing(on: screen, seed: 6)
        let (capture, host) = try RunningCapture.pair(display: screen.name, sendBuffer: Self.smallest)
        try host.sendHello()
        try host.wait(for: "the size") { host.messages.contains { $0.header.kind == .size } }
        for _ in 0..<10 {
            noise.draw()
            poll(nil, 0, 40)
        }
        func sharing() -> [SharingState] {
            host.messages.compactMap { if case .sharing(let state) = $0.body { state } else { nil } }
        }
        #expect(sharing().isEmpty)
        for turn in 1...301 {
            try host.send(.sharerPaused(turn % 2 == 1))
            try host.send(.requestKeyFrame)
            poll(nil, 0, 1)
        }
        let count = host.count
        try host.wait(for: "the last word, and its slate") {
            sharing().last == .paused && host.units.last?.frame.isRandomAccess == true
                && host.units.last?.frame.bytes.count ?? 0 < 4000
        }
        // One may have been on its way when the last was asked for.
        #expect(sharing().count <= 2)
        #expect(host.count - count < 8)
        capture.stop()
    }

    @Test("a sharper picture is made once, of what stands still, and what changes after that is as fine as before")
    func sharpen() throws {
        let screen = try VirtualScreen(Self.size)
        let window = try SceneWindow(display: screen.name, kind: .patches)
        // What keeps the stream alive is coded as usual, and would be taken for what is made sharper.
        let (capture, host) = try RunningCapture.pair(display: screen.name) { $0.keepAlive = .seconds(60) }
        try host.sendHello()
        try window.show(tick: 1)
        try host.wait(for: "tick 1") { host.counter == 1 }
        func qps(from first: Int) -> [UInt8] { host.units[first...].compactMap { $0.notice?.qp } }
        try host.waitForSilence(of: .milliseconds(600))
        #expect(qps(from: 0).allSatisfy { $0 >= 14 })
        let first = host.count
        try host.send(.sharpen)
        try host.wait(for: "a sharper picture") { qps(from: first).last == 10 }
        try host.waitForSilence(of: .milliseconds(600))
        #expect(qps(from: first).allSatisfy { $0 == 10 })
        let second = host.count
        try window.show(tick: 2)
        try host.wait(for: "tick 2") { host.counter == 2 }
        try host.waitForSilence(of: .milliseconds(600))
        #expect(qps(from: second).allSatisfy { $0 >= 14 })
        #expect(host.units.dropFirst().allSatisfy { !$0.frame.isRandomAccess })
        capture.stop()
    }
}
