import H264
import MediaTypes
import TestSupport
import Testing

@testable import VideoDecoding

@Suite("The memory that a stream asks a decoder for")
struct DecoderMemoryTests {
    private static let size8K = PictureSize(width: 8192, height: 4320)

    private func error(of unit: CodedFrame, _ decoder: H264Decoder? = nil) throws -> VideoDecodingError? {
        let decoder = try decoder ?? H264Decoder()
        do throws(VideoDecodingError) {
            try decoder.decode(unit, copying: false)
            return nil
        } catch {
            return error
        }
    }

    @Test("is bounded: a small IDR picture that would have gigabytes kept is refused by what it asks for")
    func refused() throws {
        var bomb = SkippedPictures(columns: 512, rows: 270, references: 16)
        let unit = bomb.idr()
        #expect(unit.bytes.count < 170_000)
        let refusal = try #require(try error(of: unit))
        #expect(refusal == .tooLarge(size: Self.size8K, pictures: 17, bytes: 17 * 8192 * 4320 * 3 / 2))
        #expect(!refusal.wantsKeyFrame)
        #expect(
            refusal.description
                == "17 pictures of 8192x4320, which the stream has its decoder keep, take 860 MiB; the limit is 320")
    }

    @Test("is refused for samples of more than 8 bits, which can't be used anyway")
    func depth() throws {
        var deep = SkippedPictures(columns: 512, rows: 270, references: 16)
        (deep.chromaFormat, deep.bitDepth) = (3, 10)
        let unit = SkippedPictures.accessUnit([deep.sequenceParameterSet()], isIDR: true)
        #expect(try error(of: unit) == .unsupportedFormat(format: "10 bits a sample", size: Self.size8K))
    }

    @Test("counts each SPS of an access unit, wherever libavcodec finds it, and each one that comes later")
    func everySPS() throws {
        var small = SkippedPictures(columns: 4, rows: 4, references: 1)
        let large = SkippedPictures(columns: 512, rows: 270, references: 16)
        let (smallSPS, largeSPS) = (small.sequenceParameterSet(), large.sequenceParameterSet(id: 1))
        let (pps, slice) = (small.pictureParameterSet(), small.idrSlice())
        for units in [
            [smallSPS, largeSPS, pps, slice], [largeSPS, smallSPS, pps, slice], [smallSPS, pps, slice, largeSPS],
            // Inside what the unit says is one NAL unit.
            [smallSPS, pps + [0, 0, 1] + largeSPS, slice],
            // Where another picture than an IDR begins.
            [largeSPS],
        ] {
            let refusal = try error(of: SkippedPictures.accessUnit(units, isIDR: units.count > 1))
            guard case .tooLarge = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
        }
        let decoder = try H264Decoder()
        let good = small.idr()
        #expect(try error(of: good, decoder) == nil)
        guard case .tooLarge = try error(of: SkippedPictures.accessUnit([largeSPS], isIDR: false), decoder) else {
            Issue.record("a later SPS is taken")
            return
        }
        // A PPS of the SPS that was refused finds none.
        let other = SkippedPictures.accessUnit([small.pictureParameterSet(of: 1), small.idrSlice()], isIDR: true)
        #expect(try error(of: other, decoder)?.wantsKeyFrame == true)
        #expect(try error(of: small.idr(), decoder) == nil)
    }

    @Test(
        "lets real screens pass: 8K in 4:2:0 with five references, 4K in 4:4:4 with as many, 4:0:0 as what it is decoded to"
    )
    func realScreens() throws {
        var screen = SkippedPictures(columns: 512, rows: 270, references: 5)
        func bytes() throws -> Int {
            let sequence = try SequenceParameterSet(nalUnit: screen.sequenceParameterSet()[...])
            return sequence.pictureBufferByteCount
        }
        #expect(try bytes() == 6 * 8192 * 4320 * 3 / 2)
        #expect(try bytes() <= H264Decoder.pictureBufferLimit)
        screen.chromaFormat = 0
        #expect(try bytes() == 6 * 8192 * 4320 * 3 / 2)
        screen = SkippedPictures(columns: 240, rows: 135, references: 5)
        screen.chromaFormat = 3
        #expect(try bytes() == 6 * 3840 * 2160 * 3)
        #expect(try bytes() <= H264Decoder.pictureBufferLimit)
        screen.chromaFormat = 2
        #expect(try bytes() == 6 * 3840 * 2160 * 2)
        screen.bitDepth = 9
        #expect(try bytes() == 6 * 3840 * 2160 * 4)
    }

    @Test("decodes what these pictures are: grey, and the same again")
    func skipped() throws {
        var pictures = SkippedPictures(columns: 20, rows: 15, references: 4)
        let decoder = try H264Decoder()
        _ = try decoder.decode(pictures.idr())
        for _ in 0..<20 {
            _ = try decoder.decode(SkippedPictures.accessUnit([pictures.skippedSlice()], isIDR: false))
        }
        _ = try decoder.flush()
        let last = try #require(try decoder.lastPicture())
        #expect(decoder.pictureCount == 21)
        #expect(last.size == PictureSize(width: 320, height: 240))
        #expect(last.bytes.allSatisfy { $0 == 128 })
    }

    @Test("is counted as pictures come and go: a stream that keeps more than its SPS tells of ends there, by name")
    func account() throws {
        let units = accessUnits(of: try TestStreams.small.bytes())
        let picture = 176 * 144 * 3 / 2
        // Enough for all that is kept at once, far less than all that come.
        let roomy = try H264Decoder(pictureMemoryLimit: 24 * picture)
        for unit in units { try roomy.decode(unit, copying: false) }
        #expect(roomy.pictureCount > 24)
        let narrow = try H264Decoder(pictureMemoryLimit: 2 * picture)
        let failures = units.prefix(20).compactMap { unit in try? error(of: unit, narrow) }
        #expect(failures.contains(.tooManyPictures))
    }
}
