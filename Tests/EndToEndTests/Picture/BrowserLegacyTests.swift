import BrowserDriver
import Glibc
import H264
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The sender of the original ReplayKit demo, played by the test: a recorded stream with headers that we make.
    @Suite("A legacy sender", .enabled(if: EndToEnd.hasBrowser && FFmpeg.isAvailable))
    struct BrowserLegacyTests {
        private static let stream = TestStreams.desktop
        private static let size = PictureSize(width: 1280, height: 720)

        @Test(
            "is seen by who is there, by who joins after its last byte, and by snapshot", .timeLimit(.minutes(5)),
            arguments: [40, 16])
        func legacy(headerBytes: Int) throws {
            let last = try lastPicture()
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram.host("unix:" + path, ["--log", "debug"])
            let link = try host.printedLink()
            let browser = try Browser.shared()
            let early = try ViewerPage(link, in: browser)
            try early.page.waitUntil("window.connections.length && connections[0].connectionState === 'connected'")

            let socket = try TestSocket(path: path)
            let bytes = try Self.stream.bytes()
            for unit in AnnexB.nalUnits(in: bytes) {
                let payload = AnnexB.startCode + bytes[unit]
                try socket.send(Self.header(payload.count, of: headerBytes) + payload)
                poll(nil, 0, 20)
            }
            socket.close()
            try host.waitForLog("legacy")
            try early.waitUntilPlaying()
            try expectLast(last, on: early, "who was there")

            let late = try ViewerPage(link, in: browser)
            try late.waitUntilPlaying()
            try expectLast(last, on: late, "who came late")
            #expect(try early.reconnects() == 0)
            #expect(try late.reconnects() == 0)

            let file = folder.file("last.png")
            let snapshot = try RunningProgram("screenrelay", ["snapshot", link, "-o", file])
            #expect(snapshot.child.wait(within: .seconds(10)) == .exited(0), "\(snapshot.log)")
            let decoded = try FFmpeg.decode(file, to: "gray")
            #expect(psnr(decoded.bytes, last) >= 30, "the snapshot")
        }

        /// The marker and the length; everything else is zero, as the demo leaves it.
        private static func header(_ length: Int, of count: Int) -> [UInt8] {
            var header = [UInt8](repeating: 0, count: count)
            header[0] = UInt8(ascii: "&")
            for place in 0..<8 { header[8 + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
            return header
        }

        /// The brightness of the stream's last picture, as FFmpeg decodes it.
        private func lastPicture() throws -> [UInt8] {
            let decoded = try FFmpeg.decode(Self.stream.path, to: "gray", input: ["-f", "h264"])
            return Array(decoded.bytes.suffix(Self.size.width * Self.size.height))
        }

        /// Expects the stream's last picture in the page's video. Chromium may interpret its colours in its own way.
        private func expectLast(_ last: [UInt8], on viewer: ViewerPage, _ who: String) throws {
            var best = 0.0
            do {
                try eventually(
                    "the last picture on the page of \(who)", within: .seconds(10),
                    holds: {
                        guard let picture = try viewer.picture(), picture.width == Self.size.width else { return false }
                        best = max(best, psnr(brightness(of: picture), last))
                        return best >= 28
                    })
            } catch {
                Issue.record("\(error): \(best) dB at best")
            }
        }

        private func brightness(of picture: ScenePicture) -> [UInt8] {
            stride(from: 0, to: picture.bytes.count - 3, by: 4).map { index in
                let (red, green, blue) = (
                    Int(picture.bytes[index]), Int(picture.bytes[index + 1]), Int(picture.bytes[index + 2])
                )
                return UInt8(clamping: (299 * red + 587 * green + 114 * blue) / 1000)
            }
        }
    }
}

/// Returns the peak signal-to-noise ratio of two pictures of one plane, in dB; 0 if their sizes differ.
func psnr(_ one: [UInt8], _ other: [UInt8]) -> Double {
    guard one.count == other.count, !one.isEmpty else { return 0 }
    var sum = 0
    for (left, right) in zip(one, other) { sum += (Int(left) - Int(right)) * (Int(left) - Int(right)) }
    return sum == 0 ? 100 : 10 * log10(255 * 255 * Double(one.count) / Double(sum))
}
