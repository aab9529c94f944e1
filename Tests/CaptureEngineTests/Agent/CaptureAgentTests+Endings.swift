import CaptureLink
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

/// How a link or capture ends, and what goes on after that.
extension CaptureAgentTests {
    @Test("the host may come later, go, and come again: each time the first picture is an IDR picture")
    func reconnect() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let folder = try TemporaryFolder()
        let path = folder.file("link.sock")
        let capture = try RunningCapture(CaptureConfiguration(link: .unix(path: path)), display: screen.name)
        var epochs = Set<UInt64>()
        for _ in 0..<2 {
            let listener = try SocketListener(path: path)
            let connection = try eventually("capture") { try listener.accept() }
            let host = try ReceivingHost(connection)
            try host.wait(for: "a picture") { host.count >= 1 }
            #expect(host.types(0) == [7, 8, 5])
            epochs.formUnion(host.units.map(\.epoch))
            connection.close()
            listener.close()
        }
        // The same start of capture, the same clock.
        #expect(epochs.count == 1)
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }

    @Test("the end of a handed-down socket ends capture in good order")
    func hostGone() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        host.connection.close()
        #expect(try eventually("the end") { try capture.end?.get() } == .hostGone)
    }

    @Test("garbage from the host ends the link, and nothing else happens")
    func garbage() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "a picture") { host.count >= 1 }
        try host.connection.enqueue(header: [UInt8](repeating: 0xA5, count: 100))
        #expect(try eventually("the end") { try capture.end?.get() } == .hostGone)
    }

    @Test("a display that ends is told to the host")
    func displayGone() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.sendHello()
        try host.wait(for: "the size") { host.messages.contains { $0.header.kind == .size } }
        screen.close()
        try host.wait(for: "the end") { host.hasEnded }
        guard case .end(let notice) = host.messages.last?.body else {
            Issue.record("no end message")
            return
        }
        #expect(notice.reason == .displayLost)
        #expect(notice.text.contains(screen.name))
        let result = try eventually("the end") { capture.end }
        #expect(throws: CaptureError.self) { try result.get() }
    }

    @Test("a screen that is too large to encode ends capture with words that say what helps, and that does")
    func tooLarge() throws {
        let screen = try VirtualScreen(PictureSize(width: 16_400, height: 40))
        let (capture, _) = try RunningCapture.pair(display: screen.name)
        let result = try eventually("the end") { capture.end }
        let error = #expect(throws: CaptureError.self) { try result.get() }
        #expect(error?.description.contains("16400x40") == true && error?.description.contains("--scale") == true)
        let (smaller, host) = try RunningCapture.pair(display: screen.name) { $0.scale = .percent(50) }
        try host.wait(for: "a picture") { host.picture?.size == PictureSize(width: 8200, height: 20) }
        smaller.stop()
    }
}
