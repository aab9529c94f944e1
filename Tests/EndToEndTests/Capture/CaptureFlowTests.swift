import BrowserDriver
import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("Capture and a host that doesn't read", .enabled(if: EndToEnd.isPossible))
    struct CaptureFlowTests {
        /// How much the capture may grow, in KiB: x264's buffers grow with the largest frame so far, while the frames
        /// of four seconds that nobody reads would be 10 MB.
        private static let growth = 4096

        @Test(
            "it keeps one picture and no more memory than before, and goes on with whole pictures",
            .timeLimit(.minutes(5)), arguments: [false, true])
        func stall(isOverTCP: Bool) throws {
            let screen = try VirtualScreen(PictureSize(width: 1280, height: 720))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "full"])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            let capture = try LinkedCapture(screen, ["--bitrate", "20M"], isOverTCP: isOverTCP)
            try capture.wait(for: "30 pictures", within: .seconds(90)) { capture.taken.count >= 30 }
            for _ in 0..<3 {
                let count = capture.taken.count { $0.isIDR }
                try capture.send(.requestKeyFrame)
                try capture.wait(for: "an IDR picture") { capture.taken.count { $0.isIDR } > count }
            }
            try capture.read(for: .milliseconds(300))
            let before = try ProcessFigures(capture.processID)
            let stopped = now()
            var most = before.resident
            while now() - stopped < .seconds(4) {
                // A host that hangs only partly may still send requests.
                try capture.send(.requestKeyFrame)
                _ = try? eventually("some time", within: .milliseconds(50)) { false }
                most = max(most, try ProcessFigures(capture.processID).resident)
            }
            print("\(before.resident) KiB resident before, \(most) while the host didn't read")
            #expect(most < before.resident + Self.growth)
            let count = capture.taken.count
            try capture.wait(for: "50 more pictures", within: .seconds(90)) { capture.taken.count >= count + 50 }
            let numbers = capture.taken.map(\.notice.sequenceNumber)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
            // What was in the sockets, and the one picture that waited, are old; after them come new ones.
            let old = capture.taken.filter { $0.time < stopped + .seconds(4) && $0.arrival > stopped + .seconds(4) }
            let oldBytes = old.reduce(0) { $0 + $1.byteCount }
            print("\(old.count) pictures of \(oldBytes) bytes had piled up")
            #expect(isOverTCP || old.count < 30)
            // 4 s of pictures are 10 MB, and the kernel's buffers for TCP grow beyond that.
            #expect(oldBytes < 2_000_000)
            try capture.wait(for: "the figures") { capture.statistics?.heldBack ?? 0 > 0 }
            let after = try ProcessFigures(capture.processID)
            #expect(after.resident < before.resident + Self.growth, "\(after)")
            #expect(after.peak < before.peak + Self.growth, "\(after)")
            #expect(capture.program.stop() == .exited(0))
        }

        @Test(
            "a host that is stopped in its tracks and goes on: whole pictures from the same capture, whose memory hasn't grown",
            .timeLimit(.minutes(5)), .enabled(if: EndToEnd.hasBrowser))
        func frozenHost() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
            let process = try desktop.captureProcessID()
            let before = try ProcessFigures(process)
            desktop.host.freeze()
            let frozen = now()
            var most = before.resident
            while now() - frozen < .seconds(4) {
                _ = try? eventually("some time", within: .milliseconds(100)) { false }
                most = max(most, try ProcessFigures(process).resident)
            }
            desktop.host.thaw()
            print("\(before.resident) KiB resident before, \(most) while the host was stopped")
            #expect(most < before.resident + Self.growth)
            try viewer.expectMotion()
            #expect(desktop.capture?.child.poll() == nil)
            #expect(desktop.capture?.log.contains("capture link lost") == false)
            // Nothing unusable came over the link.
            #expect(!desktop.host.log.contains("could not be used") && !desktop.host.log.contains("link: byte"))
        }
    }
}
