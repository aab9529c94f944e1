import H264
import MediaTypes
import TestSupport
import Testing
import VideoDecoding

/// Streams as capture makes them with `--chroma 444`, encoded by FFmpeg.
@Suite("decoding of 4:4:4", .enabled(if: FFmpeg.isAvailable))
struct FullChromaDecodingTests {
    private func stream(_ size: PictureSize, pixels: String = "yuv444p") throws -> [UInt8] {
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=5:duration=1", "-pix_fmt", pixels, "-c:v", "libx264",
            "-profile:v", "high444", "-preset", "ultrafast", "-tune", "zerolatency", "-qp", "10", "-x264-params",
            "no-deblock=1:cabac=0", "-f", "h264", "pipe:1",
        ])
        return made.bytes
    }

    @Test(
        "luma is what FFmpeg decodes, chroma the mean of each four samples, also where a side is odd",
        arguments: [
            PictureSize(width: 64, height: 48), PictureSize(width: 65, height: 49), PictureSize(width: 17, height: 16),
            PictureSize(width: 16, height: 17),
        ])
    func mean(size: PictureSize) throws {
        let bytes = try stream(size)
        let units = accessUnits(of: bytes)
        #expect(units.first?.format?.chroma == .yuv444)
        let folder = try TemporaryFolder()
        let path = try folder.write("stream.264", bytes)
        let reference = try FFmpeg.decode(path, to: "yuv444p", input: ["-f", "h264"]).bytes
        let decoder = try H264Decoder()
        let pictures = try units.flatMap { try decoder.decode($0) }
        #expect(pictures.count == 5)
        var offset = 0
        for picture in pictures {
            let count = picture.lumaCount
            #expect(picture.bytes.count == count + 2 * picture.chromaCount)
            #expect(picture.bytes[..<count] == reference[offset..<offset + count])
            for plane in 1...2 {
                let full = Array(reference[(offset + plane * count)..<(offset + (plane + 1) * count)])
                let start = count + (plane - 1) * picture.chromaCount
                let expected = means(full, width: picture.size.width, height: picture.size.height)
                #expect(Array(picture.bytes[start..<start + picture.chromaCount]) == expected)
            }
            offset += 3 * count
        }
        #expect(offset == reference.count)
    }

    @Test("4:2:2 becomes the mean of each two rows of chroma")
    func halvedAcross() throws {
        let size = PictureSize(width: 66, height: 48)
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=5:duration=0.2", "-pix_fmt", "yuv422p", "-c:v", "libx264",
            "-profile:v", "high422", "-preset", "ultrafast", "-tune", "zerolatency", "-f", "h264", "pipe:1",
        ])
        let folder = try TemporaryFolder()
        let path = try folder.write("stream.264", made.bytes)
        let reference = try FFmpeg.decode(path, to: "yuv422p", input: ["-f", "h264"]).bytes
        let decoder = try H264Decoder()
        let picture = try #require(try accessUnits(of: made.bytes).flatMap { try decoder.decode($0) }.first)
        let (width, luma) = (picture.chromaWidth, picture.lumaCount)
        try #require(reference.count == luma + 2 * width * size.height)
        #expect(picture.bytes[..<luma] == reference[..<luma])
        for plane in 0..<2 {
            let start = luma + plane * width * size.height
            for row in 0..<picture.chromaHeight {
                let second = min(2 * row + 1, size.height - 1)
                let upper = reference[(start + 2 * row * width)...].prefix(width)
                let lower = reference[(start + second * width)...].prefix(width)
                let means = zip(upper, lower).map { UInt8((Int($0) + Int($1) + 1) / 2) }
                let place = luma + plane * picture.chromaCount + row * width
                #expect(Array(picture.bytes[place..<place + width]) == means)
            }
        }
    }

    @Test("full range is told from the stream")
    func fullRange() throws {
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=red:size=32x32:rate=5:duration=0.2", "-vf", "scale=out_range=full", "-pix_fmt",
            "yuvj444p", "-color_range", "pc", "-c:v", "libx264", "-profile:v", "high444", "-preset", "ultrafast",
            "-tune", "zerolatency", "-f", "h264", "pipe:1",
        ])
        let decoder = try H264Decoder()
        let picture = try #require(try accessUnits(of: made.bytes).flatMap { try decoder.decode($0) }.first)
        #expect(picture.isFullRange)
    }

    @Test("one decoder goes from 4:4:4 to 4:2:0 and back at an IDR")
    func change() throws {
        let size = PictureSize(width: 64, height: 48)
        let decoder = try H264Decoder()
        for pixels in ["yuv444p", "yuv420p", "yuv444p"] {
            var count = 0
            for unit in accessUnits(of: try stream(size, pixels: pixels)) {
                let pictures = try decoder.decode(unit)
                #expect(pictures.allSatisfy { $0.bytes.count == 64 * 48 * 3 / 2 })
                count += pictures.count
            }
            #expect(count == 5)
        }
    }

    /// What the picture should have, sample by sample.
    private func means(_ plane: [UInt8], width: Int, height: Int) -> [UInt8] {
        var result: [UInt8] = []
        for row in stride(from: 0, to: height, by: 2) {
            for column in stride(from: 0, to: width, by: 2) {
                let rows = [row, min(row + 1, height - 1)]
                let columns = [column, min(column + 1, width - 1)]
                let sum = rows.flatMap { row in columns.map { Int(plane[row * width + $0]) } }.reduce(0, +)
                result.append(UInt8((sum + 2) / 4))
            }
        }
        return result
    }
}
