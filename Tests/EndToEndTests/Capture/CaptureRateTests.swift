import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// Pairs of rates, of a screen on which everything moves.
    @Suite("The rates that a capture may choose between", .enabled(if: EndToEnd.isPossible))
    struct CaptureRateTests {
        private let screen: VirtualScreen
        private let scene: RunningProgram

        init() throws {
            screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "full"])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            self.scene = scene
        }

        /// The frames of the last `time`, by the times at which they were captured.
        private func latest(_ time: Interval, of capture: LinkedCapture) -> [LinkedCapture.Taken] {
            guard let last = capture.taken.last else { return [] }
            return capture.taken.filter { $0.time > last.time - time }
        }

        /// Megabits per second in the last two seconds.
        private func rate(of capture: LinkedCapture) -> Double {
            Double(latest(.seconds(2), of: capture).reduce(0) { $0 + $1.byteCount }) * 8 / 2e6
        }

        @Test("--bitrate 500k-4M starts at 500 kbit/s, and rises once the viewers' paths have carried more")
        func initialBitRate() throws {
            let capture = try LinkedCapture(screen, ["--bitrate", "500k-4M"])
            try capture.wait(for: "four seconds of frames") {
                guard let first = capture.taken.first, let last = capture.taken.last else { return false }
                return last.time - first.time > .seconds(4)
            }
            #expect(rate(of: capture) < 0.65)
            try capture.send(.carried(BitRate(bitsPerSecond: 4_000_000)))
            try capture.wait(for: "more than before") { rate(of: capture) > 1.5 }
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("--fps 27-30 has at least 15 % more frames than --fps 30 on a slow path")
        func minFrameRate() throws {
            func count(_ capture: LinkedCapture) -> Int { latest(.seconds(5), of: capture).count }
            func hasRun(_ capture: LinkedCapture) -> Bool {
                guard let first = capture.taken.first, let last = capture.taken.last else { return false }
                return last.time - first.time > .seconds(7)
            }
            let plain = try LinkedCapture(screen, ["--bitrate", "400k", "--fps", "30"])
            try plain.wait(for: "seven seconds of frames") { hasRun(plain) }
            plain.program.stop()
            let capture = try LinkedCapture(screen, ["--bitrate", "400k", "--fps", "27-30"])
            // A busy machine may be slower for a while.
            try capture.wait(for: "five seconds of more frames") {
                hasRun(capture) && count(capture) * 100 >= count(plain) * 115
            }
            capture.program.stop()
        }
    }
}
