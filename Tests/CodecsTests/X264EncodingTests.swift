import MediaTypes
import TestSupport
import Testing
import VideoEncoding
import X264Encoding

@Suite("x264")
struct X264EncodingTests {
    @Test("the first picture is an IDR picture with SPS and PPS in front, and the next one is not")
    func firstPictureIsIDR() throws {
        let encoder = try makeEncoder(PictureSize(width: 320, height: 180))
        let first = try encoder.accessUnit(of: picture(320, 180, seed: 1), forceIDR: false, time: MediaTime(ticks: 0))
        #expect(first.isRandomAccess)
        #expect(types(first) == [7, 8, 5])
        let second = try encoder.accessUnit(
            of: picture(320, 180, seed: 2), forceIDR: false, time: MediaTime(ticks: 3000))
        #expect(!second.isRandomAccess)
        #expect(types(second) == [1])
    }

    @Test("an IDR picture comes when asked for and at no other time")
    func idrOnRequest() throws {
        let encoder = try makeEncoder(PictureSize(width: 64, height: 64))
        var isIDR: [Bool] = []
        for index in 0..<300 {
            let unit = try encoder.accessUnit(
                of: picture(64, 64, seed: UInt64(index)), forceIDR: index == 270,
                time: MediaTime(ticks: Int64(index) * 3000))
            isIDR.append(unit.isRandomAccess)
        }
        #expect(isIDR.enumerated().filter(\.element).map(\.offset) == [0, 270])
    }

    @Test("the SPS says Constrained Baseline")
    func profile() throws {
        let encoder = try makeEncoder(PictureSize(width: 1280, height: 720))
        let sps = encoder.sequenceParameterSet
        // ITU-T H.264 section 7.3.2.1.1: nal header, profile_idc, constraint flags, level_idc.
        #expect(sps.prefix(2) == [0x67, 66])
        #expect(sps[2] & 0xC0 == 0xC0)
        #expect(encoder.pictureParameterSet.first == 0x68)
    }

    @Test("FFmpeg decodes odd and even sizes without a word, and shows the size, the colour space and the colours")
    func decodedByFFmpeg() throws {
        let folder = try TemporaryFolder()
        for (width, height) in [(64, 48), (127, 71), (128, 71), (127, 72), (1, 1), (1919, 1079)] {
            let size = PictureSize(width: width, height: height)
            let encoder = try makeEncoder(size)
            var stream: [UInt8] = []
            for index in 0..<3 {
                let luma = UInt8(60 + 40 * index)
                let flat = flatPicture(size, luma: luma, blue: 90, red: 200)
                stream += try encoder.accessUnit(
                    of: flat, forceIDR: false, time: MediaTime(ticks: Int64(index) * 3000)
                ).bytes
            }
            let path = try folder.write("\(size).264", stream)
            let result = try FFmpeg.decode(path, to: "yuv420p", input: ["-f", "h264"])
            #expect(result.messages == "", "\(size)")
            let coded = encoder.configuration.encodedSize
            let pictureBytes = coded.width * coded.height * 3 / 2
            #expect(result.bytes.count == 3 * pictureBytes, "\(size)")
            let last = result.bytes.suffix(pictureBytes)
            let chroma = last.dropFirst(coded.width * coded.height)
            #expect(last.prefix(coded.width * coded.height).allSatisfy { abs(Int($0) - 140) <= 3 }, "\(size)")
            #expect(chroma.prefix(chroma.count / 2).allSatisfy { abs(Int($0) - 90) <= 3 }, "\(size)")
            #expect(chroma.suffix(chroma.count / 2).allSatisfy { abs(Int($0) - 200) <= 3 }, "\(size)")
        }
    }

    @Test("a lower bit rate makes fewer bytes, without an IDR picture")
    func reconfiguredRate() throws {
        let encoder = try makeEncoder(PictureSize(width: 128, height: 96), bitRate: 1_000_000)
        func bytes(from start: Int) throws -> Int {
            var count = 0
            for index in start..<start + 45 {
                let unit = try encoder.accessUnit(
                    of: picture(128, 96, seed: UInt64(index)), forceIDR: false,
                    time: MediaTime(ticks: Int64(index) * 3000))
                #expect(unit.isRandomAccess == (index == 0))
                // The first pictures still use up what the higher rate had left over.
                if index >= start + 15 { count += unit.bytes.count }
            }
            return count
        }
        let before = try bytes(from: 0)
        try encoder.reconfigure(bitRate: BitRate(bitsPerSecond: 200_000))
        let after = try bytes(from: 45)
        #expect(after < before / 3)
        // One second at 200 kbit/s is 25 kB.
        #expect(after < 37_500)
    }

    @Test("what can't be encoded is an error that says so")
    func errors() throws {
        #expect(throws: VideoEncodingError.self) { _ = try makeEncoder(PictureSize(width: 0, height: 10)) }
        #expect(throws: VideoEncodingError.self) { _ = try makeEncoder(PictureSize(width: 100_000, height: 10)) }
        #expect(throws: VideoEncodingError.self) { _ = try makeEncoder(PictureSize(width: 64, height: 64), fps: 0) }
        let encoder = try makeEncoder(PictureSize(width: 64, height: 64))
        #expect(throws: VideoEncodingError.self) {
            try encoder.accessUnit(of: picture(64, 62, seed: 0), forceIDR: false, time: MediaTime(ticks: 0))
        }
        let short = I420Picture(
            size: PictureSize(width: 64, height: 64), bytes: [1, 2, 3], isFullRange: false, matrix: .bt601,
            captureTime: nil)
        #expect(throws: VideoEncodingError.self) {
            try encoder.accessUnit(of: short, forceIDR: false, time: MediaTime(ticks: 0))
        }
    }

    @Test("times that stand still or run back are no problem")
    func timesThatDoNotAdvance() throws {
        let encoder = try makeEncoder(PictureSize(width: 64, height: 64))
        for ticks: Int64 in [1000, 1000, 0, .min, 5, 2000] {
            let unit = try encoder.accessUnit(
                of: picture(64, 64, seed: 3), forceIDR: false, time: MediaTime(ticks: ticks))
            #expect(!unit.bytes.isEmpty)
        }
    }

    @Test(
        "an average rate is kept within 15 % by pictures of the profile and level that were asked for",
        arguments: [
            (X264Configuration.Profile.constrainedBaseline, 66, 128_000), (.main, 77, 512_000), (.high, 100, 1_536_000),
        ])
    func average(_ profile: X264Configuration.Profile, _ number: UInt8, _ rate: Int) throws {
        let size = PictureSize(width: 272, height: 480)
        var configuration = X264Configuration(
            size: size, framesPerSecond: 24, rate: .average(BitRate(bitsPerSecond: rate)))
        configuration.profile = profile
        configuration.level = 40
        let encoder = try X264Encoder(configuration)
        #expect(encoder.sequenceParameterSet[1] == number && encoder.sequenceParameterSet[3] == 40)
        let scenes = (0..<8).map { picture(272, 480, seed: $0) }
        // Two bits for each sample of noise.
        let rows = rate / 24 / 272 / 2
        var bits = 0
        for index in 0..<240 {
            // Noise moves over a flat picture.
            let noise = scenes[index % 8].bytes
            var bytes = flatPicture(size, luma: 120, blue: 100, red: 140).bytes
            for row in 0..<rows {
                let start = (row + index) * 272
                bytes.replaceSubrange(start..<start + 272, with: noise[start..<start + 272])
            }
            let moving = I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
            let unit = try encoder.accessUnit(
                of: moving, forceIDR: index % 72 == 0, time: MediaTime(ticks: Int64(index)))
            if index >= 24 { bits += unit.bytes.count * 8 }
        }
        let measured = bits * 24 / 216
        #expect((rate * 85 / 100...rate * 115 / 100).contains(measured), "\(measured) of \(rate)")
    }

    private func makeEncoder(_ size: PictureSize, bitRate: Int = 4_000_000, fps: Int = 30) throws -> X264Encoder {
        try X264Encoder(
            X264Configuration(
                size: size, framesPerSecond: fps, rate: .ceiling(BitRate(bitsPerSecond: bitRate))
            ))
    }

    private func types(_ unit: CodedFrame) -> [UInt8] {
        unit.units.map { unit.bytes[$0.lowerBound] & 31 }
    }

    /// Noise, so that there is something to encode.
    private func picture(_ width: Int, _ height: Int, seed: UInt64) -> I420Picture {
        var random = SeededRandom(seed: seed)
        let size = PictureSize(width: width, height: height)
        let count = width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
        let bytes = (0..<count).map { _ in UInt8.random(in: 16...235, using: &random) }
        return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    private func flatPicture(_ size: PictureSize, luma: UInt8, blue: UInt8, red: UInt8) -> I420Picture {
        let chroma = ((size.width + 1) / 2) * ((size.height + 1) / 2)
        let bytes =
            [UInt8](repeating: luma, count: size.width * size.height) + [UInt8](repeating: blue, count: chroma)
            + [UInt8](repeating: red, count: chroma)
        return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }
}
