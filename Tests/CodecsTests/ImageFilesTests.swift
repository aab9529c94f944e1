import ColorConversion
import MediaTypes
import PictureFiles
import TestSupport
import Testing

/// A picture of flat blocks of colour, 16 pixels wide and high: 4:2:0 loses nothing of them.
private struct ColourBlocks {
    let size: PictureSize
    let isFullRange: Bool
    let matrix: ColorMatrix
    /// Red, green and blue of each block, in order.
    static let colours: [[Double]] = [
        [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0], [200, 120, 40], [30, 144, 255],
        [128, 128, 128],
    ]

    func colour(x: Int, y: Int) -> [Double] { Self.colours[(x / 16 + y / 16 * 3) % Self.colours.count] }

    /// The definition (ITU-T H.264 equations E-1 to E-15), by another way than libyuv's.
    var picture: I420Picture {
        let (red, blue) = matrix == .bt709 ? (0.2126, 0.0722) : (0.299, 0.114)
        func samples(_ colour: [Double]) -> [UInt8] {
            let luma = red * colour[0] + (1 - red - blue) * colour[1] + blue * colour[2]
            let chroma = [(colour[2] - luma) / (2 * (1 - blue)), (colour[0] - luma) / (2 * (1 - red))]
            let (scale, chromaScale) = isFullRange ? (1.0, 1.0) : (219.0 / 255, 224.0 / 255)
            let levels = [(isFullRange ? 0 : 16) + luma * scale] + chroma.map { 128 + $0 * chromaScale }
            return levels.map { UInt8(max(0, min(255, $0.rounded()))) }
        }
        var planes: [[UInt8]] = [[], [], []]
        for y in 0..<size.height {
            for x in 0..<size.width {
                let found = samples(colour(x: x, y: y))
                planes[0].append(found[0])
                if x % 2 == 0 && y % 2 == 0 {
                    planes[1].append(found[1])
                    planes[2].append(found[2])
                }
            }
        }
        return I420Picture(
            size: size, bytes: planes.flatMap { $0 }, isFullRange: isFullRange, matrix: matrix, captureTime: nil)
    }

    /// The largest difference between `pixels` (RGB) and the colours in the middle of each block.
    func largestError(in pixels: [UInt8]) -> Double {
        guard pixels.count == size.width * size.height * 3 else { return .infinity }
        var worst = 0.0
        for y in stride(from: 8, to: size.height, by: 16) {
            for x in stride(from: 8, to: size.width, by: 16) {
                for (channel, expected) in colour(x: x, y: y).enumerated() {
                    worst = max(worst, abs(Double(pixels[(y * size.width + x) * 3 + channel]) - expected))
                }
            }
        }
        return worst
    }
}

private let kinds: [(ColorMatrix, Bool)] = [(.bt601, false), (.bt601, true), (.bt709, false), (.bt709, true)]

@Suite("picture files")
struct PictureFilesTests {
    private func unusable(_ size: PictureSize, bytes: Int) -> I420Picture {
        I420Picture(
            size: size, bytes: [UInt8](repeating: 0, count: bytes), isFullRange: false, matrix: .bt601,
            captureTime: nil)
    }

    @Test("RGB has the colours that matrix and range say", arguments: kinds)
    func rgb(matrix: ColorMatrix, isFullRange: Bool) throws {
        let blocks = ColourBlocks(
            size: PictureSize(width: 95, height: 63), isFullRange: isFullRange, matrix: matrix)
        let pixels = try #require(I420ToRGB.convert(blocks.picture))
        #expect(blocks.largestError(in: pixels) <= 3)
    }

    @Test("FFmpeg reads a PNG file of ours with the right colours", .enabled(if: FFmpeg.isAvailable), arguments: kinds)
    func png(matrix: ColorMatrix, isFullRange: Bool) throws {
        let blocks = ColourBlocks(
            size: PictureSize(width: 97, height: 65), isFullRange: isFullRange, matrix: matrix)
        let file = try ImageFile.png(blocks.picture)
        #expect(file.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let folder = try TemporaryFolder()
        let path = try folder.write("picture.png", file)
        let decoded = try FFmpeg.run(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"])
        #expect(decoded.messages == "")
        #expect(blocks.largestError(in: decoded.bytes) <= 3)
        #expect(decoded.bytes == I420ToRGB.convert(blocks.picture))
    }

    @Test("FFmpeg reads a JPEG file of ours with the right colours", .enabled(if: FFmpeg.isAvailable), arguments: kinds)
    func jpeg(matrix: ColorMatrix, isFullRange: Bool) throws {
        let blocks = ColourBlocks(
            size: PictureSize(width: 97, height: 65), isFullRange: isFullRange, matrix: matrix)
        let file = try ImageFile.jpeg(blocks.picture, quality: 100)
        #expect(file.prefix(3) == [0xFF, 0xD8, 0xFF])
        #expect(file.suffix(2) == [0xFF, 0xD9])
        let folder = try TemporaryFolder()
        let path = try folder.write("picture.jpg", file)
        let decoded = try FFmpeg.run(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"])
        #expect(blocks.largestError(in: decoded.bytes) <= 3)
    }

    @Test("a lower quality makes a smaller file")
    func quality() throws {
        let blocks = ColourBlocks(size: PictureSize(width: 320, height: 240), isFullRange: false, matrix: .bt601)
        var random = SeededRandom(seed: 1)
        let noisy = I420Picture(
            size: blocks.size, bytes: blocks.picture.bytes.map { $0 ^ UInt8.random(in: 0..<16, using: &random) },
            isFullRange: false, matrix: .bt601, captureTime: nil)
        let sizes = try [1, 50, 90, 100].map { try ImageFile.jpeg(noisy, quality: $0).count }
        #expect(sizes == sizes.sorted())
        #expect(Set(sizes).count == sizes.count)
        #expect(throws: ImageFileError.unusableQuality(0)) { try ImageFile.jpeg(noisy, quality: 0) }
        #expect(throws: ImageFileError.unusableQuality(101)) { try ImageFile.jpeg(noisy, quality: 101) }
    }

    @Test("the smallest picture can be written")
    func smallest() throws {
        let one = I420Picture(
            size: PictureSize(width: 1, height: 1), bytes: [81, 90, 240], isFullRange: false, matrix: .bt601,
            captureTime: nil)
        #expect(try ImageFile.png(one).count > 8)
        #expect(try ImageFile.jpeg(one).count > 4)
    }

    @Test("planes that don't fit the size, and sizes out of all bounds, are refused")
    func refused() {
        for (size, bytes) in [
            (PictureSize(width: 0, height: 0), 0), (PictureSize(width: 2, height: 2), 5),
            (PictureSize(width: -2, height: -2), 6), (PictureSize(width: 16_385, height: 1), 32_771),
            (PictureSize(width: .max, height: .max), 0),
        ] {
            let picture = unusable(size, bytes: bytes)
            #expect(I420ToRGB.convert(picture) == nil)
            #expect(I420ToJPEGRange.convert(picture) == nil)
            #expect(throws: ImageFileError.unusablePicture(size, bytes: bytes)) { try ImageFile.png(picture) }
            #expect(throws: ImageFileError.unusablePicture(size, bytes: bytes)) { try ImageFile.jpeg(picture) }
        }
    }
}
