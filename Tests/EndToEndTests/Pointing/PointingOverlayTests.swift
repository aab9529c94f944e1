import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// A viewer that points, as the sharer sees it on its own screen.
    @Suite(
        "Pointing on the sharer's own screen",
        .enabled(if: EndToEnd.isPossible && PythonClient.isAvailable && FFmpeg.isAvailable))
    struct PointingOverlayTests {
        /// The colour of this name's dots.
        private static let name = "Cid"
        private static let color = SceneColor(0xF9, 0x06, 0xCC)
        private static let middle = (x: 320, y: 240)

        private func isColored(_ color: SceneColor) -> Bool {
            let parts = [(color.red, Self.color.red), (color.green, Self.color.green), (color.blue, Self.color.blue)]
            return parts.allSatisfy { abs(Int($0) - Int($1)) < 60 }
        }

        /// Whether the room's picture has the dot's colour in the middle.
        private func isColored(_ picture: ScenePicture) -> Bool {
            let index = Self.middle.y * picture.rowBytes + Self.middle.x * picture.bytesPerPixel
            let bytes = picture.bytes
            return isColored(SceneColor(bytes[index], bytes[index + 1], bytes[index + 2]))
        }

        @Test("dots and lines are on the screen, but in no snapshot, until pointing is forbidden or the viewer leaves")
        func overlay() throws {
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let client = try DisplayClient(desktop.screen.name)
            func isShown() -> Bool { client.color(at: Self.middle) == 0xF9_06CC }
            #expect(try !isShown() && !isColored(LinkSnapshot(of: desktop.link).picture))
            func show(_ viewer: PythonClient) throws {
                try eventually("the line on the screen") {
                    try viewer.tell("point {\"x\":0.5,\"y\":0.5,\"path\":[null,[0.4,0.5],[0.6,0.5]]}")
                    return try? eventually("it", within: .milliseconds(500)) { isShown() ? () : nil }
                }
            }
            var viewer: PythonClient? = try PythonClient("guest", in: .rtc, [desktop.link, Self.name])
            try viewer?.event("joined")
            for _ in 0..<3 {
                // A busy machine may take so long that the line has gone.
                let picture = try eventually("a snapshot while the line is shown") {
                    try show(#require(viewer))
                    let picture = try LinkSnapshot(of: desktop.link).picture
                    return isShown() ? picture : nil
                }
                #expect(!isColored(picture))
            }
            func allow(_ word: String) throws {
                let words = ["screenrelay", "pointing", word, "--pid", "\(desktop.host.child.processID)"]
                #expect(try CommandLineRun(words).status == .exited(0))
            }
            try allow("off")
            try eventually("the screen without the line", holds: { !isShown() })
            try allow("on")
            try show(#require(viewer))
            viewer = nil
            try eventually("the screen without the viewer", holds: { !isShown() })
        }
    }
}
