import CaptureAgent
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
        try host.send(.pause)
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
        let units = recorded.filter { $0.header.kind == .nalUnit }
        let sent = host.messages.filter { $0.header.kind == .nalUnit }
        #expect(units.map(\.header) == sent.map(\.header))
        #expect(
            units.map { Array($0.payload) } == sent.map { if case .nalUnit(let bytes) = $0.body { bytes } else { [] } })
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
