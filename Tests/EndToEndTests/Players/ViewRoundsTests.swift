import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Many runs of `screenrelay view` at one host.
    @Suite("view, opened and closed", .enabled(if: EndToEnd.isPossible))
    struct ViewRoundsTests {
        /// `Tools/soak view` asks for more.
        private static let count =
            getenv("SCREENRELAY_VIEWS").flatMap { Int(String(cString: $0)) }.map { max(20, min($0, 100_000)) } ?? 20
        /// How many run at the same time.
        private static let atOnce = 4
        /// The most memory that a run may have of its own at its end, without code that it shares with others, in KiB.
        private static let maxOwn = 64 * 1024

        @Test(
            "leaves nothing behind in the host: no memory, no descriptor, no session; and none grows",
            .timeLimit(.minutes(60)))
        func rounds() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"], size: PictureSize(width: 320, height: 240))
            defer { desktop.stop() }
            // The first ones fill what is kept for good: pools, caches, and the memory that the allocator holds.
            let warmUp = max(Self.atOnce, Self.count / 10)
            let early = try run(warmUp, at: desktop, expectsViewers: true)
            let before = try desktop.figuresUnwatched()
            let late = try run(Self.count - warmUp, at: desktop)
            let after = try desktop.figuresUnwatched()
            #expect(after.resident - before.resident < 8 * 1024, "\(before), then \(after)")
            #expect(after.descriptors <= before.descriptors, "\(before), then \(after)")
            #expect(max(early, late) < Self.maxOwn)
            print(
                "views: \(Self.count); the host after \(warmUp): \(before); at the end: \(after); a run at its end: "
                    + "at most \(early) KiB of its own, then \(late)")
        }

        /// Runs `count` viewers, each until it has shown pictures, and returns the most memory of its own that one had
        /// at its end, in KiB. With `expectsViewers`, the host must have counted them.
        private func run(_ count: Int, at desktop: SharedDesktop, expectsViewers: Bool = false) throws -> Int {
            var most = 0
            for start in stride(from: 0, to: count, by: Self.atOnce) {
                let viewers = try (start..<min(start + Self.atOnce, count)).map { _ in
                    try RunningProgram("screenrelay", ["view", "--no-window", "--stats", "json", desktop.link])
                }
                for viewer in viewers { try waitForPictures(viewer) }
                if expectsViewers {
                    try eventually("the host's viewers", holds: { try desktop.viewerCount() == viewers.count })
                }
                for viewer in viewers {
                    let figures = try ProcessFigures(viewer.child.processID)
                    most = max(most, figures.resident - figures.code - figures.shared)
                    viewer.child.terminate(SIGTERM)
                }
                for viewer in viewers {
                    #expect(viewer.child.wait(within: .seconds(30)) == .exited(0), "\(viewer.log)")
                }
            }
            return most
        }
    }
}
