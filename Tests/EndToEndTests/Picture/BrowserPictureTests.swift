import BrowserDriver
import CaptureLink
import H264
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Chromium and FFmpeg see what was drawn.
    @Suite("The picture", .enabled(if: EndToEnd.isPossible))
    struct BrowserPictureTests {
        @Test(
            "the page in Chromium shows the moving counter and the colours that were drawn, and so does the snapshot",
            .enabled(if: EndToEnd.hasBrowser), .timeLimit(.minutes(5)))
        func page() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion(by: 20)
            let picture = try #require(try viewer.picture())
            #expect(picture.width == 640 && picture.height == 480)
            expectPatches(in: picture, "Chromium's picture")
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")

            let file = desktop.folder.file("screen.png")
            let snapshot = try RunningProgram("screenrelay", ["snapshot", desktop.link, "-o", file])
            #expect(snapshot.child.wait(within: .seconds(10)) == .exited(0), "\(snapshot.log)")
            let decoded = try FFmpeg.decode(file)
            let saved = try #require(
                ScenePicture(bytes: decoded.bytes, width: 640, height: 480), "\(decoded.messages)")
            expectPatches(in: saved, "the snapshot")
            #expect(PatchScene.counterValue(in: saved) != nil)
        }

        @Test(
            "FFmpeg decodes what capture writes to the link without a word, and sees the colours that were drawn",
            .enabled(if: FFmpeg.isAvailable), .timeLimit(.minutes(5)))
        func link() throws {
            let folder = try TemporaryFolder()
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "patches"])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            let path = folder.file("s.sock")
            let listener = try TestSocket(listeningAt: path)
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "unix:" + path, "--display", screen.name])
            let socket = try listener.accepted()
            let hello = Hello(role: .host, name: "test", processID: 0, makesKeyFrames: true)
            try socket.send(MessageEncoder(epoch: 0).encode(.hello(hello)))

            var decoder = MessageDecoder()
            var stream: [UInt8] = []
            var ends = 0
            try eventually("60 pictures of capture", within: .seconds(90)) {
                guard let bytes = socket.receive() else {
                    throw ProgramEnded(status: .exited(-1), log: capture.log)
                }
                decoder.push(bytes)
                while let message = try decoder.next() {
                    guard case .unit(let unit) = message.body else { continue }
                    stream += unit
                    if message.header.flags.contains(.endOfFrame) { ends += 1 }
                }
                return ends >= 60 ? () : nil
            }
            let decoded = try FFmpeg.decode(try folder.write("link.264", stream), input: ["-f", "h264"])
            #expect(decoded.status?.isSuccess == true)
            #expect(decoded.messages.isEmpty, "\(decoded.messages)")
            let size = 640 * 480 * 3
            #expect(decoded.bytes.count >= 60 * size)
            let pictures = stride(from: 0, to: decoded.bytes.count - size + 1, by: size).compactMap {
                ScenePicture(bytes: Array(decoded.bytes[$0..<$0 + size]), width: 640, height: 480)
            }
            let counters = pictures.compactMap(PatchScene.counterValue(in:))
            #expect(counters.count == pictures.count, "a picture without its counter")
            #expect(zip(counters, counters.dropFirst()).allSatisfy { $0 <= $1 }, "\(counters)")
            #expect(Set(counters).count >= 30, "\(counters)")
            for (index, picture) in pictures.enumerated() where index % 20 == 19 {
                expectPatches(in: picture, "FFmpeg's picture \(index)")
            }
        }

        @Test(
            "a link with a wrong token gets the page's refusal, once and for good", .enabled(if: EndToEnd.hasBrowser),
            .timeLimit(.minutes(5)))
        func wrongToken() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let end: Character = desktop.link.hasSuffix("A") ? "B" : "A"
            let viewer = try ViewerPage(String(desktop.link.dropLast()) + String(end), in: browser)
            try viewer.page.waitUntil("window.screenRelay.phase === 'failed'")
            try viewer.page.settle(for: .seconds(2))
            #expect(try viewer.page.evaluate("window.screenRelay.phase").string == "failed")
            let words = try viewer.page.evaluate("window.screenRelay.error").string
            #expect(words == "This invite link does not work.")
            #expect(try viewer.page.evaluate("document.body.innerText").string?.contains(words ?? "?") == true)
            #expect(try viewer.reconnects() == 0)
            #expect(
                try viewer.page.evaluate("connections.every((one) => one.connectionState === 'closed')").bool == true)
        }
    }
}
