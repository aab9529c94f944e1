import MediaTypes
import Testing

@Suite("Rectangles of pixels")
struct PixelRectangleTests {
    private let left = PixelRectangle(x: 0, y: 0, width: 10, height: 10)
    private let right = PixelRectangle(x: 5, y: 6, width: 10, height: 10)
    private let far = PixelRectangle(x: 100, y: 100, width: 1, height: 1)
    private let nothing = PixelRectangle(x: 7, y: 7, width: 0, height: 5)

    @Test("the union covers both and nothing else")
    func union() {
        #expect(left.union(right) == PixelRectangle(x: 0, y: 0, width: 15, height: 16))
        #expect(left.union(far) == PixelRectangle(x: 0, y: 0, width: 101, height: 101))
        #expect(right.union(left) == left.union(right))
    }

    @Test("an empty rectangle adds nothing to a union")
    func unionWithEmpty() {
        #expect(left.union(nothing) == left)
        #expect(nothing.union(left) == left)
        #expect(nothing.isEmpty)
        #expect(PixelRectangle(x: 0, y: 0, width: 3, height: -1).isEmpty)
    }

    @Test("the intersection is what both cover")
    func intersection() {
        #expect(left.intersection(right) == PixelRectangle(x: 5, y: 6, width: 5, height: 4))
        #expect(left.intersection(far).isEmpty)
        #expect(left.intersection(PixelRectangle(x: 10, y: 0, width: 5, height: 5)).isEmpty)
    }

    @Test("an odd picture has chroma planes rounded up")
    func chroma() {
        let picture = I420Picture(
            size: PictureSize(width: 5, height: 3), bytes: [], isFullRange: true, matrix: .bt709, captureTime: nil)
        #expect(picture.lumaCount == 15)
        #expect(picture.chromaWidth == 3)
        #expect(picture.chromaHeight == 2)
        #expect(picture.chromaCount == 6)
        #expect("\(picture.size)" == "5x3")
    }
}
