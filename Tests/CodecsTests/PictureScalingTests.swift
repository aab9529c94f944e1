import ColorConversion
import MediaTypes
import Testing

@Suite("Scaling pictures to a size")
struct PictureScalingTests {
    /// The left half bright, the right half dark, and coloured all over.
    private func picture(_ width: Int, _ height: Int) -> I420Picture {
        let row = [UInt8](repeating: 200, count: width / 2) + [UInt8](repeating: 40, count: width - width / 2)
        let chroma = [UInt8](repeating: 100, count: (width + 1) / 2 * ((height + 1) / 2))
        return I420Picture(
            size: PictureSize(width: width, height: height),
            bytes: [UInt8]((0..<height).flatMap { _ in row }) + chroma + chroma, isFullRange: false, matrix: .bt601,
            captureTime: nil)
    }

    private func luma(_ picture: I420Picture, _ x: Int, _ y: Int) -> UInt8 { picture.bytes[y * picture.size.width + x] }
    private func blueDifference(_ picture: I420Picture, _ x: Int, _ y: Int) -> UInt8 {
        picture.bytes[picture.lumaCount + y / 2 * picture.chromaWidth + x / 2]
    }

    @Test("a wider picture gets bars above and below, a narrower one at its sides")
    func bars() throws {
        let wide = try #require(
            PictureScaling.scale(picture(64, 32), to: PictureSize(width: 32, height: 32), crops: false))
        #expect(wide.size == PictureSize(width: 32, height: 32) && wide.bytes.count == 32 * 32 * 3 / 2)
        for y in [0, 7, 24, 31] { #expect(luma(wide, 4, y) == 16 && blueDifference(wide, 4, y) == 128) }
        for y in [8, 23] {
            #expect(luma(wide, 4, y) == 200 && luma(wide, 28, y) == 40 && blueDifference(wide, 4, y) == 100)
        }
        let tall = try #require(
            PictureScaling.scale(picture(32, 64), to: PictureSize(width: 64, height: 64), crops: false))
        #expect([15, 17, 46, 49].map { luma(tall, $0, 30) } == [16, 200, 40, 16])
    }

    @Test("or loses what is beyond the proportions")
    func cropping() throws {
        let cropped = try #require(
            PictureScaling.scale(picture(96, 32), to: PictureSize(width: 64, height: 64), crops: true))
        // The middle third is left, whose halves are bright and dark.
        #expect(luma(cropped, 2, 2) == 200 && luma(cropped, 28, 60) == 200)
        #expect(luma(cropped, 36, 2) == 40 && luma(cropped, 62, 60) == 40)
        #expect(cropped.bytes[cropped.lumaCount...].allSatisfy { $0 == 100 })
    }

    @Test(
        "all proportions and odd sizes end within the picture",
        arguments: [(1920, 1080), (17, 901), (901, 17), (2, 2), (333, 335)])
    func everySize(_ width: Int, _ height: Int) throws {
        for (wide, high) in [(272, 480), (1280, 720), (2, 16)] {
            let size = PictureSize(width: wide, height: high)
            for crops in [false, true] {
                let scaled = try #require(PictureScaling.scale(picture(width, height), to: size, crops: crops))
                #expect(scaled.size == size && scaled.bytes.count == size.width * size.height * 3 / 2)
            }
        }
    }

    @Test(
        "half the sides shows all of the picture without bars, with even sides",
        arguments: [(64, 32, 32, 16), (66, 34, 34, 18), (65, 33, 34, 18), (4, 5, 2, 4)])
    func half(_ width: Int, _ height: Int, _ halfWidth: Int, _ halfHeight: Int) throws {
        let half = try #require(PictureScaling.halve(picture(width, height)))
        #expect(half.size == PictureSize(width: halfWidth, height: halfHeight))
        for y in [0, halfHeight - 1] {
            #expect(luma(half, 0, y) == 200 && luma(half, halfWidth - 1, y) == 40 && blueDifference(half, 0, y) == 100)
        }
    }

    @Test("what can't be scaled is refused, and what needs no scaling stays as it is")
    func edges() throws {
        #expect(PictureScaling.halve(picture(3, 8)) == nil)
        let broken = I420Picture(
            size: PictureSize(width: 64, height: 64), bytes: [1, 2, 3], isFullRange: false, matrix: .bt601,
            captureTime: nil)
        #expect(PictureScaling.scale(broken, to: PictureSize(width: 32, height: 32), crops: false) == nil)
        #expect(PictureScaling.scale(picture(64, 64), to: PictureSize(width: 31, height: 32), crops: false) == nil)
        #expect(PictureScaling.scale(picture(64, 64), to: PictureSize(width: 32, height: 0), crops: false) == nil)
        let same = try #require(
            PictureScaling.scale(picture(64, 48), to: PictureSize(width: 64, height: 48), crops: true))
        #expect(same.bytes == picture(64, 48).bytes)
    }
}
