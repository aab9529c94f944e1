import Glibc
import H264
import MediaTypes
import TestSupport
import Testing
import VideoDecoding

/// The hash that `sha1sum` gives for these bytes.
private func sha1(_ bytes: [UInt8]) throws -> String {
    let folder = try TemporaryFolder()
    let path = try folder.write("pictures", bytes)
    let pipe = try #require(popen("sha1sum '\(path)'", "r"))
    defer { pclose(pipe) }
    var line = [UInt8](repeating: 0, count: 40)
    let count = fread(&line, 1, line.count, pipe)
    return String(decoding: line.prefix(count), as: UTF8.self)
}

/// Pictures, and what was wrong with the others.
private func decodeAll(_ stream: [UInt8]) throws -> (pictures: [I420Picture], failures: [VideoDecodingError]) {
    let decoder = try H264Decoder()
    var pictures: [I420Picture] = []
    var failures: [VideoDecodingError] = []
    for unit in accessUnits(of: stream) {
        do throws(VideoDecodingError) {
            pictures += try decoder.decode(unit)
        } catch {
            failures.append(error)
        }
    }
    pictures += try decoder.flush()
    return (pictures, failures)
}

/// SHA-1 of all decoded pictures of the conformance suite's streams, as an independent decoder publishes them.
private let publishedHashes: [String: String] = [
    "Adobe_PDF_sample_a_1024x768_50Frms.264": "9aa9a4d9598eb3e1093311826844f37c43e4c521",
    "BA_MW_D.264": "afd7a9765961ca241bb4bdf344b31397bec7465a",
    "CI_MW_D.264": "289f29a103c8d95adf2909c646466904be8b06d7",
    "MIDR_MW_D.264": "9467030f4786f75644bf06a7fc809c36d1959827",
    "MPS_MW_A.264": "67f1cfbef0e8025ed60dedccf8d9558d0636be5f",
    "NRF_MW_E.264": "20732198c04cd2591350a361e4510892f6eed3f0",
    "SVA_BA2_D.264": "98ff2d67860462d8d8bcc9352097c06cc401d97e",
    "SVA_Base_B.264": "91f514d81cd33de9f6fbf5dbefdb189cc2e7ecf4",
    "SVA_FM1_E.264": "fad08c4ff7cf2307b6579853d0f4652fc26645d3",
    "Zhling_1280x720.264": "ad99f5eaa2d73ae3840e7da67313de8cfc866ce6",
    "test_vd_1d.264": "5827d2338b79ff82cd091c707823e466197281d3",
    "BASQP1_Sony_C.jsv": "3986c8c9d2876d2f0748b925101b152c6ec8b811",
]

@Suite("decoding of streams")
struct StreamDecodingTests {
    @Test("every picture of a stream is what FFmpeg, or another decoder, makes of it", arguments: TestStreams.intact)
    func intact(stream: TestStream) throws {
        let (pictures, failures) = try decodeAll(try stream.bytes())
        #expect(failures == [])
        #expect(pictures.count == stream.pictures)
        var bytes: [UInt8] = []
        for picture in pictures { bytes += picture.bytes }
        if let hash = publishedHashes[stream.name] {
            let made = try sha1(bytes)
            #expect(made == hash)
        } else {
            let decoded = try FFmpeg.decode(stream.path, to: "yuv420p", input: ["-f", "h264"])
            #expect(decoded.bytes == bytes)
        }
    }

    @Test("a damaged stream is reported and brings nothing down", arguments: TestStreams.damaged)
    func damaged(stream: TestStream) throws {
        let (pictures, failures) = try decodeAll(try stream.bytes())
        #expect(!failures.isEmpty, "\(pictures.count) pictures")
        #expect(!failures.contains { !$0.wantsKeyFrame })
    }

    @Test("checking without copying keeps the last picture for whoever asks, with its capture time")
    func checking() throws {
        let units = accessUnits(of: try TestStreams.small.bytes())
        let copying = try H264Decoder()
        let checking = try H264Decoder()
        #expect(try checking.lastPicture() == nil)
        for unit in units.prefix(20) {
            let pictures = try copying.decode(unit)
            #expect(try checking.decode(unit, copying: false).isEmpty)
            if let last = pictures.last {
                #expect(try checking.lastPicture()?.bytes == last.bytes)
                #expect(try checking.lastPicture()?.captureTime == last.captureTime)
            }
        }
        #expect(checking.pictureCount == copying.pictureCount)
        #expect(checking.lastPictureSize == PictureSize(width: 176, height: 144))
    }

    @Test("a stream of another size goes on in the same decoder")
    func sizeChange() throws {
        let decoder = try H264Decoder()
        for stream in [TestStreams.small, TestStreams.desktop, TestStreams.small] {
            for unit in accessUnits(of: try stream.bytes()).prefix(3) { _ = try decoder.decode(unit) }
            _ = try decoder.flush()
            #expect(decoder.lastPictureSize == stream.size)
        }
    }

    @Test("random damage is reported or decoded, and the next IDR picture mends all")
    func mutations() throws {
        let units = accessUnits(of: try TestStreams.small.bytes())
        let first = try #require(units.first { $0.isRandomAccess })
        let intact = try H264Decoder()
        let expected = try intact.decode(first).first?.bytes ?? intact.flush().first?.bytes
        let decoder = try H264Decoder()
        var random = SeededRandom(seed: 5)
        for round in 0..<60 {
            let unit = units[round % 10]
            let bytes = random.mutation(of: unit.bytes)
            let damaged = CodedFrame(
                bytes: bytes, units: AnnexB.nalUnits(in: bytes), isRandomAccess: unit.isRandomAccess, captureTime: nil,
                format: nil)
            _ = try? decoder.decode(damaged)
        }
        decoder.reset()
        _ = try? decoder.decode(first)
        _ = try? decoder.flush()
        #expect(try decoder.lastPicture()?.bytes == expected)
    }

    @Test("every prefix of an access unit is taken without harm")
    func prefixes() throws {
        let units = accessUnits(of: try TestStreams.small.bytes())
        let decoder = try H264Decoder()
        let unit = try #require(units.first)
        for length in stride(from: 0, through: unit.bytes.count, by: 37) {
            let bytes = Array(unit.bytes.prefix(length))
            _ = try? decoder.decode(
                CodedFrame(
                    bytes: bytes, units: AnnexB.nalUnits(in: bytes), isRandomAccess: true, captureTime: nil, format: nil
                ))
        }
        decoder.reset()
        _ = try decoder.decode(unit)
        _ = try decoder.flush()
        #expect(decoder.lastPictureSize == PictureSize(width: 176, height: 144))
    }
}

@Suite("decoding")
struct VideoDecodingTests {
    private func unit(_ bytes: [UInt8]) -> CodedFrame {
        CodedFrame(
            bytes: bytes, units: AnnexB.nalUnits(in: bytes), isRandomAccess: false, captureTime: nil, format: nil)
    }

    @Test("an empty access unit is refused by name")
    func empty() throws {
        let decoder = try H264Decoder()
        #expect(throws: VideoDecodingError.unusableAccessUnit(bytes: 0)) { try decoder.decode(unit([])) }
        #expect(try decoder.lastPicture() == nil)
        #expect(decoder.lastPictureSize == nil)
    }

    @Test("a slice without its parameter sets is reported in the decoder's own words")
    func withoutParameterSets() throws {
        let decoder = try H264Decoder()
        do throws(VideoDecodingError) {
            _ = try decoder.decode(unit([0, 0, 0, 1, 0x41, 0x9A, 0x24, 0x6C, 0x41, 0x4F]))
            Issue.record("decoded")
        } catch {
            #expect(error.wantsKeyFrame)
            #expect(error.description.contains("non-existing PPS"), "\(error)")
        }
    }

    @Test(
        "samples that are not luma and chroma of 8 bits are refused by their name", .enabled(if: FFmpeg.isAvailable)
    )
    func unsupported() throws {
        let stream = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=0.2", "-pix_fmt", "rgb24", "-c:v", "libx264rgb",
            "-preset", "ultrafast", "-tune", "zerolatency", "-f", "h264", "pipe:1",
        ])
        let first = try #require(accessUnits(of: stream.bytes).first)
        let decoder = try H264Decoder()
        let expected = VideoDecodingError.unsupportedFormat(
            format: "gbrp", size: PictureSize(width: 64, height: 48))
        #expect(throws: expected) { try decoder.decode(first) }
        // It does decode, though.
        #expect(try H264Decoder().decode(first, copying: false).isEmpty)
    }

    @Test("cropping is exact and colours are as the stream names them", .enabled(if: FFmpeg.isAvailable))
    func croppingAndColours() throws {
        let stream = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=100x50:rate=5:duration=0.2", "-vf", "scale=out_range=full",
            "-pix_fmt", "yuvj420p", "-colorspace", "bt709", "-color_range", "pc", "-c:v", "libx264", "-preset",
            "ultrafast", "-tune", "zerolatency", "-f", "h264", "pipe:1",
        ])
        let unit = try #require(accessUnits(of: stream.bytes).first)
        let picture = try #require(try H264Decoder().decode(unit).first)
        #expect(picture.size == PictureSize(width: 100, height: 50))
        #expect(picture.isFullRange)
        #expect(picture.matrix == .bt709)
        #expect(picture.captureTime == unit.captureTime)
        let folder = try TemporaryFolder()
        let path = try folder.write("stream.264", unit.bytes)
        let expected = try FFmpeg.decode(path, to: "yuvj420p", input: ["-f", "h264"])
        #expect(picture.bytes == expected.bytes)
    }
}
