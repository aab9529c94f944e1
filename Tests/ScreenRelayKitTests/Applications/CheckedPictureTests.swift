import BrowserDriver
import MediaTypes
import TestSupport
import Testing
import VideoDecoding
import X264Encoding

@testable import ScreenRelayKit

/// A browser checks its pictures against samples of what they should be, and finds those that aren't.
@Suite("Pictures that a browser checks", .enabled(if: Browser.isAvailable))
struct CheckedPictureTests {
    private static let size = PictureSize(width: 320, height: 240)

    /// A stream of a page of noise that a bright bar moves over, and how it looks decoded.
    private struct Stream {
        let encoder: X264Encoder
        let decoder: H264Decoder
        let ground: [UInt8]
        var count = 0

        /// `damaged` rows at the bottom of the first picture differ from those of the right stream.
        init(damaged: Int = 0) throws {
            encoder = try X264Encoder(
                X264Configuration(size: size, framesPerSecond: 30, rate: .ceiling(BitRate(bitsPerSecond: 4_000_000))))
            decoder = try H264Decoder()
            var random = SeededRandom(seed: 13)
            var ground = (0..<size.width * size.height).map { _ in UInt8.random(in: 60...200, using: &random) }
            for place in (size.height - damaged) * size.width..<ground.count { ground[place] = 230 - ground[place] / 2 }
            self.ground = ground
        }

        /// The next frame, and its picture.
        mutating func next(isKeyFrame: Bool = false) throws -> (frame: CodedFrame, picture: I420Picture) {
            var luma = ground
            for row in 0..<20 {
                for column in 0..<size.width { luma[(count % 60 + row) * size.width + column] = 235 }
            }
            count += 1
            let picture = I420Picture(
                size: size, bytes: luma + [UInt8](repeating: 128, count: luma.count / 2), isFullRange: false,
                matrix: .bt601, captureTime: now())
            let frame = try encoder.accessUnit(
                of: picture, forceIDR: isKeyFrame, qp: 30, time: MediaTime(ticks: Int64(count) * 3000))
            return (frame, try #require(try decoder.decode(frame).first))
        }
    }

    @Test("are found right, and damaged once one refers to a picture other than the encoder's", .timeLimit(.minutes(5)))
    func wrongReference() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(track))
        var right = try Stream()
        track.write(try right.next(isKeyFrame: true).frame)
        let page = try Browser.shared().newPage()
        try page.checkPictures()
        try page.keepConnections()
        try page.navigate(host.link)
        // The host's own encoder makes the first key frame, since the track makes none. Its pictures aren't checked.
        try page.waitUntil("window.screenRelay?.phase === 'playing'")
        track.write(try right.next(isKeyFrame: true).frame)
        var index = SampleIndex.beforeFirst
        /// Writes frames until so many more pictures are checked, each with the samples of its own picture or, if
        /// there is one, of the right one. Returns what the browser found of them.
        func check(_ wanted: Int, _ stream: inout Stream, against other: Bool) throws -> CheckedPictures {
            let before = try found(in: page)
            return try eventually("\(wanted) checked pictures", within: .seconds(90)) {
                var (frame, picture) = try stream.next()
                if other {
                    picture = try right.next().picture
                    index = index.next(isKeyFrame: true)
                    frame.check = PictureCheck(PictureSamples(of: picture, at: index))
                }
                track.write(frame)
                try page.settle(for: .milliseconds(50))
                let now = try found(in: page)
                guard now.count >= before.count + wanted else { return nil }
                return CheckedPictures(count: now.count - before.count, damage: now.damage - before.damage)
            }
        }
        let first = try check(3, &right, against: false)
        #expect(first.damage < 0.001, "\(first)")

        // From here on, the viewer has another reference in the lowest sixth: its later frames decode without a word.
        var wrong = try Stream(damaged: Self.size.height / 6)
        right = try Stream()
        _ = try right.next(isKeyFrame: true)
        track.write(try wrong.next(isKeyFrame: true).frame)
        let second = try check(20, &wrong, against: true)
        #expect(second.damage / Double(second.count) > 0.3, "\(second)")

        // A key frame repairs it.
        var repaired = try Stream()
        track.write(try repaired.next(isKeyFrame: true).frame)
        let third = try check(3, &repaired, against: false)
        #expect(third.damage < 0.001, "\(third)")
    }

    private func found(in page: Page) throws -> CheckedPictures {
        guard try page.evaluate("window.connections.length > 0").isTruthy else {
            return CheckedPictures(count: 0, damage: 0)
        }
        return try page.checkedPictures()
    }
}
