import CaptureLink
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// In ReplayKit a process like this one has 50 MB.
    @Suite("Capture's memory", .enabled(if: EndToEnd.isPossible))
    struct CaptureMemoryTests {
        /// In KiB: 50 million bytes, and 64 MiB.
        private static let limit = 50_000_000 / 1024
        private static let limitIn444 = 64 * 1024

        @Test(
            "stays below 50 MB at 1920x1080, and below 64 MB in 4:4:4, with segments and in any scene",
            .timeLimit(.minutes(1)),
            arguments: [("scroll", "420"), ("full", "420"), ("full", "444")])
        func peak(_ kind: String, _ chroma: String) throws {
            let screen = try VirtualScreen(PictureSize(width: 1920, height: 1080))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", kind])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            let capture = try LinkedCapture(screen, ["--chroma", chroma])
            try capture.wait(for: "20 pictures", within: .seconds(20)) { capture.taken.count >= 20 }
            // An IDR picture under way is when the most is needed.
            try capture.send(.requestIDR)
            let count = capture.taken.count { $0.isIDR }
            try capture.wait(for: "an IDR picture") { capture.taken.count { $0.isIDR } > count }
            try capture.read(for: .milliseconds(500))
            let figures = try ProcessFigures(capture.processID)
            print("\(kind) in \(chroma): \(figures)")
            #expect(figures.peak < (chroma == "444" ? Self.limitIn444 : Self.limit), "\(figures)")
        }
    }
}
