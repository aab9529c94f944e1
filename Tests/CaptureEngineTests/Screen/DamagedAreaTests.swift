import CaptureEngine
import MediaTypes
import TestSupport
import Testing

@Suite("damaged area")
struct DamagedAreaTests {
    private let size = PictureSize(width: 101, height: 51)

    @Test("rectangles are widened to even coordinates, but not over the picture's odd edges")
    func alignment() {
        let inner = DamagedArea([PixelRectangle(x: 3, y: 5, width: 2, height: 2)], in: size)
        #expect(inner.rectangles == [PixelRectangle(x: 2, y: 4, width: 4, height: 4)])
        let corner = DamagedArea([PixelRectangle(x: 99, y: 49, width: 50, height: 50)], in: size)
        #expect(corner.rectangles == [PixelRectangle(x: 98, y: 48, width: 3, height: 3)])
    }

    @Test("what lies outside the picture counts for nothing")
    func outside() {
        let area = DamagedArea(
            [
                PixelRectangle(x: -10, y: -10, width: 10, height: 10),
                PixelRectangle(x: 101, y: 0, width: 5, height: 5),
                PixelRectangle(x: 5, y: 5, width: 0, height: 5),
            ], in: size)
        #expect(area.isEmpty)
        #expect(area.bounds.isEmpty)
    }

    @Test("rectangles that one covers with hardly more pixels are merged, others are not")
    func merging() {
        let large = PictureSize(width: 1920, height: 1080)
        // Three characters of a line, and one far away.
        let letters = [(100, 50), (112, 50), (124, 50), (900, 50)].map {
            PixelRectangle(x: $0.0, y: $0.1, width: 8, height: 16)
        }
        #expect(DamagedArea(letters, in: large).rectangles.count == 2)
        // Two sides of a window's frame: as one rectangle they would be the window.
        let sides = [
            PixelRectangle(x: 100, y: 100, width: 2, height: 600),
            PixelRectangle(x: 800, y: 100, width: 2, height: 600),
        ]
        #expect(DamagedArea(sides, in: large).rectangles.count == 2)
    }

    @Test("any rectangles give at most 16 that don't overlap, are aligned, and cover every pixel")
    func invariants() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<200 {
            let changes = (0..<Int.random(in: 0...150, using: &random)).map { _ in
                PixelRectangle(
                    x: Int.random(in: -20...110, using: &random), y: Int.random(in: -20...60, using: &random),
                    width: Int.random(in: 0...12, using: &random), height: Int.random(in: 0...12, using: &random))
            }
            let rectangles = DamagedArea(changes, in: size).rectangles
            #expect(rectangles.count <= DamagedArea.maxRectangles)
            let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
            for (index, rectangle) in rectangles.enumerated() {
                #expect(rectangle.x % 2 == 0 && rectangle.y % 2 == 0)
                #expect(rectangle.intersection(whole) == rectangle)
                #expect(rectangle.width % 2 == 0 || rectangle.x + rectangle.width == size.width)
                #expect(rectangle.height % 2 == 0 || rectangle.y + rectangle.height == size.height)
                for other in rectangles[(index + 1)...] { #expect(rectangle.intersection(other).isEmpty) }
            }
            for change in changes {
                let inside = change.intersection(whole)
                if inside.isEmpty { continue }
                // Not overlapping, so covered areas add up.
                let covered = rectangles.reduce(0) { sum, rectangle in
                    let both = rectangle.intersection(inside)
                    return sum + both.width * both.height
                }
                #expect(covered == inside.width * inside.height)
            }
        }
    }
}
