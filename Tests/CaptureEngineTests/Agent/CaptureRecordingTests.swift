import CaptureEngine
import CaptureLink
import MediaTypes
import Recording
import RecordingFiles
import TestScene
import TestSupport
import Testing

@Suite("capture that records", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct CaptureRecordingTests {
    @Test("what the host gets is in the file, byte for byte, also while the host wants nothing")
    func records() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let folder = try TemporaryFolder()
        let path = folder.file("capture.srr")
        let (capture, host) = try RunningCapture.pair(display: screen.name) { $0.recording = path }
        try host.sendHello()
        try host.wait(for: "the size") { host.messages.contains { $0.body == .size(screen.size) } }
        try host.send(.unwatched)
        for tick in 1...5 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick), though the host has paused") { host.counter == tick }
        }
        capture.stop()
        try host.wait(for: "the end") { host.hasEnded }
        try eventually("capture's own end", holds: { capture.end != nil })

        let file = try RecordedFile(path: path)
        var recorded: [LinkBytes] = []
        while let item = try file.next() {
            if case .message(let message, .toHost) = item.content { recorded.append(message) }
        }
        #expect(file.fault == nil)
        #expect(file.hasEnd)
        #expect(recorded.map(\.header.kind).prefix(2) == [.hello, .size])
        let units = recorded.filter { $0.header.kind == .unit }
        let sent = host.messages.filter { $0.header.kind == .unit }
        #expect(units.map(\.header) == sent.map(\.header))
        #expect(
            units.map { Array($0.payload) } == sent.map { if case .unit(let bytes) = $0.body { bytes } else { [] } })
    }

    @Test("while pictures change, an IDR picture comes when the last is old; a screen that stands still gets none")
    func keyFrames() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let folder = try TemporaryFolder()
        let period = Interval.milliseconds(300)
        let (capture, host) = try RunningCapture.pair(display: screen.name, keyFramePeriod: period) {
            $0.recording = folder.file("capture.srr")
            $0.keepAlive = .milliseconds(50)
        }
        try host.sendHello()
        func idrs() -> Int { host.units.count { $0.frame.isRandomAccess } }
        var tick = 0
        try eventually("four IDR pictures of a moving screen") {
            tick += 1
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
            return idrs() >= 4
        }
        // What the last change asked for comes with the next picture.
        func stills() -> Int { host.units.reversed().prefix { $0.notice?.damage.isEmpty == true }.count }
        try host.wait(for: "pictures that show no change") { stills() >= 2 }
        let before = idrs()
        // As many as come in several periods.
        try host.wait(for: "more of them") { stills() >= 30 }
        #expect(idrs() == before)
        capture.stop()
        try eventually("capture's own end", holds: { capture.end != nil })
        let file = try RecordedFile(path: folder.file("capture.srr"))
        var keyFrames = 0
        while let item = try file.next() {
            guard case .message(let message, .toHost) = item.content else { continue }
            if message.unit?.first.map({ $0 & 31 }) == 5 { keyFrames += 1 }
        }
        #expect(keyFrames >= 4)
    }

    @Test("behind a gap in the recording an IDR picture is made, which the recording goes on with")
    func gap() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let noise = try NoiseDrawing(on: screen, seed: 1)
        let file = try StalledFile()
        defer { file.close() }
        let (capture, host) = try RunningCapture.pair(display: screen.name, recordingLimit: 300_000) {
            $0.recording = file.path
            // What stands still would be made finer otherwise: pictures come only where the noise has changed.
            $0.qp = 30
        }
        try host.sendHello()
        try host.wait(for: "the first picture") { host.count > 0 }
        func isIDR(_ index: Int) -> Bool { host.types(index).contains(5) }
        func showNoise(_ what: String) throws {
            let count = host.count
            noise.draw()
            try host.wait(for: what) { host.count > count }
        }
        // Several times what pipe and queue take.
        var sent = 0
        while sent < 1_000_000 {
            try showNoise("a picture that finds no room")
            sent += host.units[host.count - 1].frame.bytes.count
        }
        try host.waitForSilence()

        let before = host.count
        try eventually("the end of the gap") {
            file.read()
            try showNoise("a picture that may end the gap")
            return capture.lines.contains { $0.contains("the disk is too slow") }
        }
        try host.wait(for: "the IDR picture") { (before..<host.count).contains(where: isIDR) }
        capture.stop()
        try eventually("capture's own end") {
            file.read()
            try host.read()
            return capture.end != nil
        }
        file.read()

        var reading = RecordingReader()
        reading.push(file.bytes[...])
        var items: [RecordedItem] = []
        while let item = reading.next() { items.append(item) }
        let gap = try #require(items.lastIndex { if case .gap = $0.content { true } else { false } })
        // The picture that found room again, and the IDR picture that this asked for.
        var notices = 0
        var hasIDR = false
        for case .message(let message, .toHost) in items[gap...].map(\.content) where !hasIDR {
            if message.header.kind == .picture { notices += 1 }
            hasIDR = message.header.kind == .unit && message.payload.dropFirst(4).first.map { $0 & 31 } == 5
        }
        #expect(hasIDR && notices <= 2)
    }

    @Test("the pointer stays in the pictures while they are recorded, and then gets to viewers as the host wants it")
    func pointer() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let file = try StalledFile()
        let (capture, host) = try RunningCapture.pair(display: screen.name, recordingLimit: 1 << 20) {
            $0.recording = file.path
        }
        try host.sendHello()
        try host.wait(for: "a picture with a notice") { host.units.last?.notice != nil }
        try host.send(.pointerMode(.apart))
        func idrs() -> Int { host.units.count { $0.frame.isRandomAccess } }
        let before = idrs()
        try host.send(.requestKeyFrame)
        try host.wait(for: "what was taken after the host's wish") { idrs() > before }
        #expect(host.units.last?.notice?.isPointerDrawn == true)
        func hasPosition() -> Bool { host.messages.contains { $0.header.kind == .pointerPosition } }
        #expect(!hasPosition())
        file.close()
        var tick = 0
        try eventually("a picture without the pointer, and its place") {
            tick += 1
            try window.show(tick: tick)
            try host.read(for: .milliseconds(20))
            return host.units.last?.notice?.isPointerDrawn == false && hasPosition()
        }
        capture.stop()
    }

    @Test("a file that is there already is an error by name, and is left as it is")
    func exists() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let folder = try TemporaryFolder()
        let path = try folder.write("there", [1, 2, 3])
        let (capture, _) = try RunningCapture.pair(display: screen.name) { $0.recording = path }
        let end = try eventually("its end") { capture.end }
        guard case .failure(.recording(.exists(path))) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(try fileBytes(path) == [1, 2, 3])
    }
}
