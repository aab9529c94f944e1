import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestScene
import TestSupport
import Testing
import Threading
import X11Capture

@testable import CaptureEngine

@Suite("capture", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct CaptureAgentTests {
    @Test("what is drawn arrives, in its colours, as a stream that FFmpeg decodes without a word")
    func stream() throws {
        let screen = try VirtualScreen(PictureSize(width: 639, height: 481))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "the first picture") { host.counter == 0 }
        for tick in 1...10 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
        }
        capture.stop()
        try host.wait(for: "the end") { host.hasEnded }
        #expect(host.types(0) == [7, 8, 5])
        #expect((1..<host.count).allSatisfy { host.types($0).allSatisfy { $0 == 1 } })

        let folder = try TemporaryFolder()
        let path = try folder.write("capture.264", host.stream)
        let decoded = try FFmpeg.decode(path, input: ["-f", "h264"])
        #expect(decoded.messages == "")
        let (width, height) = (640, 482)
        #expect(decoded.bytes.count == host.count * width * height * 3)
        let last = try #require(
            ScenePicture(bytes: Array(decoded.bytes.suffix(width * height * 3)), width: width, height: height))
        for (index, patch) in PatchScene.patches.enumerated() {
            let seen = try #require(PatchScene.color(ofPatch: index, in: last))
            let differences = [
                Int(seen.red) - Int(patch.color.red), Int(seen.green) - Int(patch.color.green),
                Int(seen.blue) - Int(patch.color.blue),
            ]
            #expect(differences.allSatisfy { abs($0) <= 8 }, "\(patch.name): \(seen)")
        }
    }

    @Test("only NAL units are sent before the host's hello, and hello, size and notices from then on")
    func hello() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        #expect(host.messages.allSatisfy { $0.header.kind == .unit })
        try host.sendHello()
        try host.wait(for: "the size") { host.messages.contains { $0.body == .size(screen.size) } }
        for tick in 1...3 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
        }
        let hellos = host.messages.compactMap { message in
            if case .hello(let hello) = message.body { hello } else { nil }
        }
        #expect(hellos.map(\.role) == [.capture])
        #expect(hellos.first?.makesKeyFrames == true)
        let notices = host.units.compactMap(\.notice)
        let first = try #require(notices.first).sequenceNumber
        #expect(notices.map(\.sequenceNumber) == (0..<UInt64(notices.count)).map { first + $0 })
        #expect(notices.last.map { $0.damage.y > 100 && $0.damage.height < 140 } == true)
        let epochs = Set(host.messages.map(\.header.epoch))
        #expect(epochs.count == 1 && !epochs.contains(0))
        let times = host.units.compactMap(\.frame.captureTime)
        #expect(times.count == host.count && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        capture.stop()
        try host.wait(for: "the end") { host.hasEnded }
        guard case .end(let notice) = host.messages.last?.body else {
            Issue.record("no end message")
            return
        }
        #expect(notice.reason == .stopped)
        #expect(try eventually("the result") { try capture.end?.get() } == .stopped)
    }

    @Test("a legacy sender sends headers with nothing but the length, whatever the host says")
    func legacy() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.isLegacy = true
            $0.keepAlive = .milliseconds(100)
        }
        try host.sendHello()
        try host.wait(for: "some messages") { host.messages.count >= 6 }
        #expect(host.messages.allSatisfy { $0.form == .legacy40 && $0.header.kind == .unit })
        #expect(host.messages.allSatisfy { $0.header.captureTime == nil && $0.header.epoch == 0 })
        capture.stop()
        try host.wait(for: "the end") { host.hasEnded }
    }

    @Test("an IDR picture comes when asked for, also of a still screen")
    func requestKeyFrame() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        try host.send(.requestKeyFrame)
        func idrs() -> [Int] { host.units.indices.filter { host.units[$0].frame.isRandomAccess } }
        try host.wait(for: "an IDR picture") { idrs().count == 2 }
        #expect(host.types(try #require(idrs().last)) == [7, 8, 5])
        try host.read(for: .milliseconds(150))
        #expect(idrs().count == 2)
        capture.stop()
    }

    @Test("nothing is sent while paused, and one picture with all of it at once on resuming")
    func pause() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name) { $0.keepAlive = .milliseconds(100) }
        try host.wait(for: "a picture") { host.counter == 0 }
        try host.send(.unwatched)
        try host.waitForSilence()
        let count = host.count
        for tick in 1...5 { try window.show(tick: tick) }
        try host.read(for: .milliseconds(300))
        #expect(host.count == count)
        try host.send(.watched)
        try host.wait(for: "a picture") { host.count > count }
        #expect(host.counter == 5)
        // And without anything having changed.
        try host.send(.unwatched)
        try host.waitForSilence()
        let second = host.count
        try host.send(.watched)
        try host.wait(for: "a picture") { host.count > second }
        #expect(host.units.dropFirst().allSatisfy { !$0.frame.isRandomAccess })
        capture.stop()
    }

    @Test("a still screen is sent again now and then, and costs next to nothing")
    func keepAlive() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name) { $0.keepAlive = .milliseconds(200) }
        try host.wait(for: "pictures") { host.count >= 5 }
        let times = host.units.compactMap(\.frame.captureTime)
        for (before, after) in zip(times, times.dropFirst()) { #expect(after - before >= .milliseconds(190)) }
        // What was coded coarsely is made better first.
        #expect(host.units[4].frame.bytes.count < 200)
        capture.stop()
    }

    @Test("a host that doesn't read for a while gets the newest picture after that, not all those between")
    func backPressure() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name, sendBuffer: 4608)
        try host.wait(for: "a picture") { host.counter == 0 }
        let count = host.count
        for tick in 1...60 {
            try window.show(tick: tick)
            _ = try? eventually("some time", within: .milliseconds(15)) { false }
        }
        try host.wait(for: "the newest picture") { host.counter == 60 }
        #expect(host.count - count < 20)
        let folder = try TemporaryFolder()
        #expect(try FFmpeg.decode(folder.write("capture.264", host.stream), input: ["-f", "h264"]).messages == "")
        capture.stop()
    }

    @Test("a slower frame rate is followed")
    func frameRate() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        try host.send(.frameRate(FrameRate(framesPerSecond: 10)))
        for tick in 1...60 {
            try window.show(tick: tick)
            try host.read(for: .milliseconds(15))
        }
        try host.wait(for: "the newest picture") { host.counter == 60 }
        // The first ones may have been taken before the message came.
        let times = host.units.compactMap(\.frame.captureTime).dropFirst(3)
        let begin = try #require(times.first)
        let end = try #require(times.last)
        // On a beat of a little less than a period, where a picture may be late but not early: of all the times between
        // them at most one is cut short.
        let spacing = PictureSchedule(period: .milliseconds(100), keepAlive: .seconds(1)).spacing
        #expect(end - begin >= spacing * Int64(times.count - 2))
        #expect(host.units.dropFirst().allSatisfy { !$0.frame.isRandomAccess })
        capture.stop()
    }

    @Test("a lower bit rate is followed, and a higher one up to what the user allowed, without IDR pictures for that")
    func bitRate() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let noise = try NoiseDrawing(on: screen, seed: 300_000)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        /// The bits a second of eight pictures of noise, after five in which the rate control may settle. So short a
        /// time may take in what a pause of the machine had saved up: what limits it here are ratios, far from what
        /// noise would take without a limit (tens of megabits a second).
        func rate() throws -> Double {
            let first = host.count
            while host.count < first + 13 {
                noise.draw()
                let count = host.count
                try host.wait(for: "the next picture") { host.count > count }
            }
            let units = host.units[(first + 5)..<(first + 13)].map(\.frame)
            let begin = try #require(units.first?.captureTime)
            let end = try #require(units.last?.captureTime)
            return Double(8 * units.dropLast().map(\.bytes.count).reduce(0, +)) / (end - begin).seconds
        }
        let before = try rate()
        let count = host.count
        #expect(before < 6_000_000)
        try host.send(.bitRate(BitRate(bitsPerSecond: 300_000)))
        let after = try rate()
        #expect(after < 450_000 && after * 3 < before, "\(before) bit/s at first, then \(after)")
        // However much the viewers' paths carry, what the user allowed stays the most.
        let raised = host.count
        try host.send(.bitRate(BitRate(bitsPerSecond: 1_000_000_000)))
        let most = try rate()
        #expect(most < 6_000_000, "\(before) bit/s at first, \(most) with all the room there is")
        let keyFrames = host.units.enumerated().filter { $0.element.frame.isRandomAccess }.map(\.offset)
        // A picture of noise may be so much too large for the lower rate that it is coded again, as a key frame: after
        // a pause of a busy machine, the rate control expects too little of it. The rate itself needs none.
        let later = keyFrames.filter { $0 >= count }
        #expect(
            later.count <= 1 && later.allSatisfy { $0 < raised },
            "\(keyFrames) of \(host.units.count) pictures, lowered at \(count), raised at \(raised)")
        capture.stop()
    }

    @Test("what doesn't come to rest is sharpened for a minute at most")
    func sharpening() throws {
        let pair = try LinkSocketPair()
        defer { pair.connection.close() }
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let paint = Paint()
        let agent = try CaptureAgent(
            CaptureConfiguration(link: .descriptor(descriptor)), signals: AgentSignals(stopDescriptor: -1),
            log: .silent, openScreen: { PaintedScreen(paint) })
        #expect(try agent.link.connectIfDue(now()))
        let time = MonotonicTime.zero + .seconds(1000)
        agent.sharpen(time)
        #expect(agent.sharpensUntil == time + .seconds(60))

        agent.demandKeyFrame()
        agent.sharpen(now() - .seconds(30))
        _ = try agent.takePictureIfDue()
        #expect(agent.sharpensUntil != nil && agent.pipeline?.coder.minQP == 10)
        agent.sharpen(now() - .seconds(60))
        _ = try agent.takePictureIfDue()
        #expect(agent.sharpensUntil == nil && agent.pipeline?.coder.minQP == 14)
    }

    @Test("another size of the screen is another stream on the same link")
    func resize() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.sendHello()
        try host.wait(for: "a picture and the size") {
            host.count >= 1 && host.messages.contains { $0.header.kind == .size }
        }
        let smaller = PictureSize(width: 500, height: 302)
        try screen.resize(to: smaller)
        try host.wait(for: "a picture of the new size") { host.picture?.size == smaller }
        #expect(host.messages.contains { $0.body == .size(smaller) })
        #expect(host.units.last { $0.frame.isRandomAccess }.map { $0.frame.units.count } == 3)
        capture.stop()
    }
}
