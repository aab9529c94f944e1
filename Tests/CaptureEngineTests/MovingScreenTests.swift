import CaptureEngine
import CaptureLink
import MediaTypes
import TestScene
import TestSupport
import Testing

@Suite("A screen on which much moves", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct MovingScreenTests {
    @Test(
        "looks as it should, picture by picture, and what moves as a whole takes few bytes",
        arguments: [SceneKind.scroll, .flick, .drag])
    func moving(_ kind: SceneKind) throws {
        let size = PictureSize(width: 640, height: 480)
        let screen = try VirtualScreen(size)
        let window = try SceneWindow(display: screen.name, kind: kind)
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.quantizer = 22
            $0.framesPerSecond = 120
        }
        try host.wait(for: "the first picture") { host.picture != nil }
        var worst = 0.0
        var sizes: [Int] = []
        for tick in 1...10 {
            let count = host.count
            try window.show(tick: tick)
            let wanted = Self.luma(ScenePicture(window.scene, tick: tick))
            // The counter, which each picture has, comes with the rest of the paint or right after it.
            try host.wait(for: "tick \(tick)") {
                host.count > count && host.picture.map { Self.difference($0, wanted) < 30 } == true
            }
            worst = max(worst, host.picture.map { Self.difference($0, wanted) } ?? .infinity)
            sizes.append(host.units[count...].map(\.frame.bytes.count).reduce(0, +))
        }
        capture.stop()
        #expect(worst < 30, "a mean squared error")
        // As a whole, half a page of text takes ten times as much. The median, and not the mean: a picture that was
        // taken half-way through the paint costs up to a page, and on a busy machine one or the other is.
        let first = try #require(host.units.first).frame.bytes.count
        let median = sizes.sorted()[sizes.count / 2]
        #expect(median * 8 < first, "\(median) bytes a tick, \(first) the first picture")
        let folder = try TemporaryFolder()
        // The stream has no time stamps; those that FFmpeg 7 makes up are nearer to each other than its output can
        // tell.
        let decoded = try FFmpeg.decode(
            folder.write("moving.264", host.stream), input: ["-f", "h264", "-r", "120"])
        #expect(decoded.messages == "")
    }

    /// In BT.601 with limited range, as in the stream.
    private static func luma(_ picture: ScenePicture) -> [UInt8] {
        (0..<picture.width * picture.height).map { index in
            let (red, green, blue) = (
                Int(picture.bytes[index * 3]), Int(picture.bytes[index * 3 + 1]), Int(picture.bytes[index * 3 + 2])
            )
            return UInt8((66 * red + 129 * green + 25 * blue + 128) >> 8 + 16)
        }
    }

    /// The mean squared error of luma.
    private static func difference(_ picture: I420Picture, _ wanted: [UInt8]) -> Double {
        var sum = 0
        for (seen, wanted) in zip(picture.bytes, wanted) {
            let difference = Int(seen) - Int(wanted)
            sum += difference * difference
        }
        return Double(sum) / Double(wanted.count)
    }
}
