import BrowserDriver
import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("A screen that changes", .enabled(if: EndToEnd.isPossible))
    struct CaptureSizeTests {
        private static let largest = PictureSize(width: 800, height: 600)

        @Test(
            "200 sizes and monitors that come and go: each picture decodes, nothing restarts, nothing is left over",
            .timeLimit(.minutes(5)))
        func sizes() throws {
            let screen = try VirtualScreen(Self.largest)
            let client = try DisplayClient(screen.name)
            let capture = try LinkedCapture(screen)
            var random = SeededRandom(seed: 200)
            try capture.wait(for: "the first picture") { capture.pictureSize == Self.largest }

            func change(_ count: Int) throws {
                for round in 1...count {
                    let isLast = round == count
                    let size =
                        isLast
                        ? Self.largest
                        : PictureSize(
                            width: Int.random(in: 100...800, using: &random),
                            height: Int.random(in: 80...600, using: &random))
                    client.setMonitor(
                        "M\(round % 4)", PixelRectangle(x: 0, y: 0, width: size.width / 2, height: size.height))
                    try screen.resize(to: size)
                    client.fill(
                        PixelRectangle(x: 0, y: 0, width: size.width, height: size.height),
                        color: UInt32.random(in: 0...0xFFFFFF, using: &random))
                    if round % 3 == 0 { client.deleteMonitor("M\((round + 1) % 4)") }
                    // Some changes follow right after the previous one.
                    if round % 8 == 0, !isLast { continue }
                    try capture.wait(for: "a picture of \(size)") {
                        capture.pictureSize == size.even && capture.size == size
                    }
                }
            }
            let process = capture.processID
            try change(30)
            try capture.settle()
            let warm = try ProcessFigures(process)
            try change(200)
            try capture.settle()
            let after = try ProcessFigures(process)
            print("200 changes of size: \(warm), then \(after)")
            #expect(after.descriptors == warm.descriptors)
            #expect(after.shared <= warm.shared)
            #expect(after.resident - warm.resident < 4096, "\(warm), then \(after)")
            #expect(try sharedSegments(of: [process]).isEmpty)
            #expect(capture.program.child.poll() == nil)
            #expect(capture.end == nil)
            let numbers = capture.taken.map(\.notice.sequenceNumber)
            #expect(numbers.indices.dropFirst().allSatisfy { numbers[$0] == numbers[$0 - 1] + 1 })
            #expect(capture.program.stop() == .exited(0))
        }

        @Test(
            "pages follow the size without connecting again", .enabled(if: EndToEnd.hasBrowser),
            .timeLimit(.minutes(5)))
        func page() throws {
            let desktop = try SharedDesktop(size: Self.largest)
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            for (width, height) in [(500, 300), (302, 400), (800, 600), (162, 122), (640, 480)] {
                try desktop.screen.resize(to: PictureSize(width: width, height: height))
                let video = "document.querySelector('video')"
                try viewer.page.waitUntil(
                    "\(video).videoWidth === \(width) && \(video).videoHeight === \(height)")
            }
            #expect(try viewer.reconnects() == 0)
            #expect(try viewer.page.evaluate("window.connections.length").int == 1)
            #expect(desktop.host.captureProcessIDs.count == 1)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}
