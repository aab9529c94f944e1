import CaptureEngine
import CaptureLink
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing
import VideoDecoding

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
            $0.qp = 22
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

    @Test(
        "a program that paints all of the screen without a pause never tears a picture",
        arguments: [nil, PictureScale.percent(60)])
    func untorn(_ scale: PictureScale?) throws {
        let size = PictureSize(width: 1280, height: 720)
        let screen = try VirtualScreen(size)
        let client = try DisplayClient(screen.name)
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.scale = scale
            $0.qp = 24
            $0.framesPerSecond = 120
        }
        // One shade of grey covers the screen, and then another.
        var random = SeededRandom(seed: 45)
        try host.wait(for: "pictures") {
            let shade = UInt32.random(in: 0..<16, using: &random) * 0x101010
            client.fill(PixelRectangle(x: 0, y: 0, width: size.width, height: size.height), color: shade)
            // The pauses are shorter than a picture takes, or longer.
            poll(nil, 0, Int32.random(in: 0..<4, using: &random))
            return host.count >= 60
        }
        capture.stop()
        let decoder = try H264Decoder()
        var torn = 0
        for unit in host.units {
            for picture in try decoder.decode(unit.frame) {
                let (width, height) = (picture.size.width, picture.size.height)
                let rows = stride(from: 0, to: height, by: 4).map { picture.bytes[$0 * width + width / 4] }
                if (rows.max() ?? 0) - (rows.min() ?? 0) > 6 { torn += 1 }
            }
        }
        #expect(torn == 0, "of \(host.count) pictures")
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
