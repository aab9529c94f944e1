import MediaTypes
import Testing

@Suite("Samples of a picture")
struct I420PictureTests {
    private let size = PictureSize(width: 5, height: 3)

    private func picture(_ bytes: [UInt8]) -> I420Picture {
        I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    @Test("each is found by its plane, column and row, in planes with odd sides too")
    func places() {
        var picture = picture(Array(0..<27))
        #expect(picture[.luma, 0, 0] == 0 && picture[.luma, 4, 2] == 14)
        #expect(picture[.blueDifference, 0, 0] == 15 && picture[.blueDifference, 2, 1] == 20)
        #expect(picture[.redDifference, 0, 0] == 21 && picture[.redDifference, 2, 1] == 26)
        picture[.luma, 1, 1] = 100
        picture[.redDifference, 1, 0] = 101
        var expected = [UInt8](0..<27)
        (expected[6], expected[22]) = (100, 101)
        #expect(picture.bytes == expected)
    }

    @Test("outside a plane there is nothing to read or change, and neither is there in a picture that is too short")
    func outside() {
        for count in [27, 10, 0] {
            let original = picture([UInt8](repeating: 7, count: count))
            var changed = original
            for (column, row) in [(-1, 0), (0, -1), (5, 0), (0, 3), (.max, 0), (0, .max), (.min, .min)] {
                for plane in [I420Picture.Plane.luma, .blueDifference, .redDifference] {
                    #expect(changed[plane, column, row] == 0)
                    changed[plane, column, row] = 9
                }
            }
            if count < 27 { changed[.redDifference, 2, 1] = 9 }
            #expect(changed.bytes == original.bytes)
        }
    }

    @Test("a change leaves the copies of a picture as they are")
    func copies() {
        let original = picture([UInt8](repeating: 7, count: 27))
        var changed = original
        changed[.luma, 0, 0] = 9
        #expect(original[.luma, 0, 0] == 7 && changed[.luma, 0, 0] == 9)
    }
}
