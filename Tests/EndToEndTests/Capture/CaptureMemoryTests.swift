import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// In ReplayKit, a process like this one may use 50 MB. At 3840x2160, each copy of a picture takes 12 MB.
    @Suite("Capture's memory", .enabled(if: EndToEnd.isPossible))
    struct CaptureMemoryTests {
        /// The limits in KiB for each size: 50, 64 and 80 million bytes.
        private static let limits = [
            1080: [("420", 50_000_000 / 1024), ("444", 64_000_000 / 1024)], 2160: [("420", 80_000_000 / 1024)],
        ]
        /// How much of the released program's code and libraries is resident, in KiB. What debug code takes beyond that
        /// doesn't count; `Tools/bench/capture --memory` measures the released program itself.
        private static let releasedCode = 10_500
        /// What debug code takes besides, because more moves while it encodes a picture, in KiB.
        private static let debugHeap = 1024

        // At 3840x2160, debug code draws the full motion's pictures for a minute; Tools/bench/capture --memory has it.
        @Test(
            "stays below 50 MB at 1920x1080, below 64 MB in 4:4:4, and below 80 MB at 3840x2160, in any scene",
            .timeLimit(.minutes(10)),
            arguments: [("scroll", 1080), ("full", 1080), ("scroll", 2160)])
        func peak(_ kind: String, _ height: Int) throws {
            let screen = try VirtualScreen(PictureSize(width: height * 16 / 9, height: height))
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", kind])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            for (chroma, limit) in try #require(Self.limits[height]) {
                let capture = try LinkedCapture(screen, ["--chroma", chroma])
                // The kernel may let go of code that counted at the peak.
                var code = 0
                func look() throws { code = max(code, try ProcessFigures(capture.processID).code) }
                // Not many pictures: the longer debug code takes for one, the farther the next has moved, and the
                // longer that takes.
                try capture.wait(for: "motion", within: .seconds(120)) { capture.taken.count >= 5 }
                try look()
                // The most memory is needed for an IDR picture in the middle of motion.
                let count = capture.taken.count { $0.isIDR }
                try capture.send(.requestKeyFrame)
                try capture.wait(for: "an IDR picture", within: .seconds(120)) {
                    capture.taken.count { $0.isIDR } > count
                }
                try look()
                // An encoder of its own refines what was coarse.
                scene.freeze()
                let moving = capture.taken.count
                try capture.wait(for: "a picture that is only finer", within: .seconds(120)) {
                    capture.taken[moving...].contains { $0.notice.damage.isEmpty }
                }
                scene.thaw()
                let finer = capture.taken.count
                try capture.wait(for: "motion again", within: .seconds(120)) { capture.taken.count >= finer + 3 }
                try look()
                let figures = try ProcessFigures(capture.processID)
                print("\(kind) in \(chroma), \(height) rows: \(figures)")
                #expect(figures.peak - max(0, code - Self.releasedCode) < limit + Self.debugHeap, "\(figures)")
                #expect(capture.program.stop() == .exited(0))
            }
        }
    }
}
