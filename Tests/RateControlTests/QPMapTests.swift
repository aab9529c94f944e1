import MediaTypes
import RateControl
import TestSupport
import Testing

@Suite("Quality map")
struct QPMapTests {
    private static let grid = MacroblockGrid(size: PictureSize(width: 1920, height: 1080))

    private static func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    /// A map after an IDR at `qp`.
    private static func coded(_ qp: Int) -> QPMap {
        var map = QPMap(grid: grid)
        map.selectAll()
        map.coded(qp: qp, isChange: false, now: .zero)
        return map
    }

    @Test("a grid covers the picture, and a rectangle the macroblocks that it touches")
    func grid() {
        #expect(Self.grid.columns == 120)
        #expect(Self.grid.rows == 68)
        #expect(Self.grid.count == 8160)
        let part = Self.grid.columnsAndRows(of: PixelRectangle(x: 15, y: 16, width: 2, height: 16))
        #expect(part.columns == 0..<2)
        #expect(part.rows == 1..<2)
    }

    @Test("rectangles that lie outside, are empty or absurd are clamped")
    func clamping() {
        let cases: [(PixelRectangle, Int)] = [
            (PixelRectangle(x: -100, y: -100, width: 101, height: 101), 1),
            (PixelRectangle(x: 1919, y: 1079, width: 100, height: 100), 1),
            (PixelRectangle(x: 5000, y: 0, width: 10, height: 10), 0),
            (PixelRectangle(x: 0, y: 0, width: 0, height: 10), 0),
            (PixelRectangle(x: 0, y: 0, width: -5, height: 10), 0),
            (PixelRectangle(x: .min, y: .min, width: .max, height: .max), 0),
            (PixelRectangle(x: 0, y: 0, width: .max, height: .max), 8160),
            (PixelRectangle(x: .max, y: .max, width: .max, height: .max), 0),
            (PixelRectangle(x: -1, y: -1, width: .max, height: .max), 8160),
        ]
        for (rectangle, count) in cases {
            var map = QPMap(grid: Self.grid)
            map.select([rectangle])
            #expect(map.selectedCount == count, "\(rectangle)")
        }
        #expect(MacroblockGrid(size: PictureSize(width: -4, height: 0)).count == 0)
        #expect(MacroblockGrid(size: PictureSize(width: .max, height: 1)).columns == 4096)
    }

    @Test("selecting marks what the damage touches, once, and clears what was marked before")
    func select() {
        var random = SeededRandom(seed: 1)
        var map = QPMap(grid: Self.grid)
        for _ in 0..<100 {
            var expected = [UInt8](repeating: 0, count: Self.grid.count)
            let rectangles = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                PixelRectangle(
                    x: .random(in: -50...1950, using: &random), y: .random(in: -50...1100, using: &random),
                    width: .random(in: -2...400, using: &random), height: .random(in: -2...400, using: &random))
            }
            for rectangle in rectangles where !rectangle.isEmpty {
                for index in 0..<expected.count {
                    let block = PixelRectangle(x: index % 120 * 16, y: index / 120 * 16, width: 16, height: 16)
                    if !block.intersection(rectangle).isEmpty { expected[index] = 1 }
                }
            }
            map.select(rectangles)
            #expect(map.selection == expected)
            #expect(map.selectedCount == expected.reduce(0) { $0 + Int($1) })
        }
    }

    @Test("nothing is to be refined before the first picture, nor where all is fine")
    func fine() {
        var map = QPMap(grid: Self.grid)
        #expect(map.refinementDue(to: 14) == nil)
        #expect(map.selectForRefinement(atMost: 100, to: 14, now: Self.at(1000)) == 0)
        map = Self.coded(14)
        #expect(map.refinementDue(to: 14) == nil)
        #expect(map.refinementDue(to: 13) != nil)
        #expect(!map.hasUnselected(above: 14))
    }

    @Test("refinement waits until 200 ms after the last change of a macroblock, and takes every one once")
    func refinement() {
        var map = Self.coded(14)
        map.select([PixelRectangle(x: 0, y: 0, width: 320, height: 160)])
        #expect(map.selectedCount == 200)
        map.coded(qp: 30, isChange: true, now: Self.at(1_000))
        map.select([PixelRectangle(x: 0, y: 0, width: 16, height: 16)])
        map.coded(qp: 32, isChange: true, now: Self.at(1_100))
        #expect(map.count(above: 14) == 200)
        #expect(map.refinementDue(to: 14) == Self.at(1_200))
        #expect(map.selectForRefinement(atMost: 1_000, to: 14, now: Self.at(1_199)) == 0)
        #expect(map.selectForRefinement(atMost: 150, to: 14, now: Self.at(1_200)) == 150)
        #expect(map.selection[0] == 0, "changed later")
        #expect(map.hasUnselected(above: 14))
        map.coded(qp: 14, isChange: false, now: Self.at(1_210))
        #expect(map.selectForRefinement(atMost: 150, to: 14, now: Self.at(1_250)) == 49)
        map.coded(qp: 14, isChange: false, now: Self.at(1_260))
        #expect(map.refinementDue(to: 14) == Self.at(1_300))
        #expect(map.selectForRefinement(atMost: 150, to: 14, now: Self.at(1_300)) == 1)
        #expect(map.selection[0] == 1)
        #expect(!map.hasUnselected(above: 14))
        map.coded(qp: 14, isChange: false, now: Self.at(1_310))
        #expect(map.refinementDue(to: 14) == nil)
    }

    @Test("what keeps changing for a second is a video, but not what moves, blinks or is typed")
    func video() {
        let film = PixelRectangle(x: 0, y: 0, width: 640, height: 368)
        let page = PixelRectangle(x: 640, y: 0, width: 640, height: 368)
        let cursor = PixelRectangle(x: 0, y: 800, width: 16, height: 16)
        var map = Self.coded(14)
        func isVideo(_ area: PixelRectangle, at milliseconds: Int64) -> Bool {
            var asked = map
            // Something beside it that is none.
            asked.select([area, PixelRectangle(x: 1_900, y: 1_000, width: 1, height: 1)])
            return asked.deselectVideo(above: 10, leaving: .max, now: Self.at(milliseconds))
        }
        for picture in Int64(0)...60 {
            let now = 5_000 + picture * 33
            #expect(isVideo(film, at: now) == (picture > 30), "picture \(picture)")
            map.select([film])
            map.coded(qp: 30, isChange: true, now: Self.at(now))
            map.select([page])
            map.moved(
                states: map.selection.map { $0 * 2 }, x: 0, y: 12, qp: 30, now: Self.at(now))
            if picture % 15 == 0 {
                map.select([cursor])
                map.coded(qp: 14, isChange: true, now: Self.at(now))
            }
            map.select([PixelRectangle(x: Int(picture) * 9, y: 900, width: 9, height: 18)])
            map.coded(qp: 14, isChange: true, now: Self.at(now))
            #expect(!isVideo(page, at: now))
            #expect(!isVideo(cursor, at: now))
            #expect(!isVideo(PixelRectangle(x: 0, y: 900, width: 600, height: 18), at: now))
        }
        #expect(!isVideo(film, at: 5_000 + 60 * 33 + 401), "it has stopped")
        // A key frame in the middle of it makes no video of what stands still.
        map.selectAll()
        map.coded(qp: 20, isChange: true, now: Self.at(7_000))
        #expect(isVideo(film, at: 7_033))
        #expect(!isVideo(PixelRectangle(x: 1_280, y: 0, width: 640, height: 368), at: 7_033))
    }

    @Test("what changes beside a coarse video is told apart from it, if it is little")
    func besideVideo() {
        let film = PixelRectangle(x: 0, y: 0, width: 640, height: 368)
        let text = PixelRectangle(x: 704, y: 96, width: 32, height: 16)
        func map(filmAt qp: Int) -> QPMap {
            var map = Self.coded(14)
            for picture in Int64(0)...40 {
                map.select([film])
                map.coded(qp: qp, isChange: true, now: Self.at(5_000 + picture * 33))
            }
            map.select([film, text])
            return map
        }
        let now = Self.at(5_000 + 41 * 33)
        func separates(_ map: inout QPMap, leaving most: Int = 256) -> Bool {
            map.deselectVideo(above: 24, leaving: most, now: now)
        }
        var coarse = map(filmAt: 40)
        #expect(separates(&coarse))
        #expect(coarse.count(in: text).selected == 2)
        #expect(coarse.count(in: text).unselected == 0)
        #expect(coarse.count(in: film).selected == 0)
        #expect(coarse.count(in: film).unselected == 40 * 23)
        #expect(coarse.selectedCount == 2)
        #expect(!separates(&coarse), "there is no video left")
        var fine = map(filmAt: 24)
        #expect(!separates(&fine))
        var much = map(filmAt: 40)
        #expect(!separates(&much, leaving: 1))
        #expect(much.selectedCount == 40 * 23 + 2, "nothing was deselected")
        var alone = map(filmAt: 40)
        alone.select([film])
        #expect(!separates(&alone))
        // A part of the film that stood still for a moment belongs to it.
        var rest = Self.coded(14)
        for picture in Int64(0)...40 {
            rest.select([
                PixelRectangle(x: 0, y: 0, width: 640, height: 160),
                PixelRectangle(x: 0, y: 224, width: 640, height: 144),
            ])
            rest.coded(qp: 40, isChange: true, now: Self.at(5_000 + picture * 33))
        }
        rest.select([film])
        #expect(!separates(&rest))
    }

    @Test("what is unchanged is left out, and counted where coding all of the picture would code it again")
    func rest() {
        var map = Self.coded(14)
        let page = PixelRectangle(x: 0, y: 0, width: 640, height: 160)
        map.select([page])
        map.coded(qp: 30, isChange: true, now: Self.at(1_000))
        map.select([page])
        var states = [UInt8](repeating: 0, count: map.grid.count)
        states[0] = 1
        map.deselectUnchanged(states)
        #expect(map.selectedCount == 1 && map.selection[0] == 1)
        #expect(map.unselectedCountsAbove[13] == map.grid.count - 1)
        #expect(map.unselectedCountsAbove[14] == 399)
        #expect(map.unselectedCountsAbove[29] == 399 && map.unselectedCountsAbove[30] == 0)
        #expect(map.selection(withAllAbove: 29).count { $0 == 1 } == 400)
        #expect(map.selection(withAllAbove: 30) == map.selection)
        map.coded(qp: 20, isChange: true, now: Self.at(1_010))
        map.codedRest(qp: 20)
        #expect(map.count(above: 20) == 0 && map.count(above: 14) == 400)
        #expect(map.refinementDue(to: 14) == Self.at(1_200), "the rest hasn't changed since")
    }

    @Test("the coarsest tiles come first, then those at the top")
    func order() {
        var map = Self.coded(20)
        map.select([PixelRectangle(x: 1280, y: 640, width: 128, height: 64)])
        map.coded(qp: 40, isChange: false, now: Self.at(10))
        #expect(map.selectForRefinement(atMost: 32, to: 14, now: Self.at(1_000)) == 32)
        #expect(map.selection[40 * 120 + 80] == 1)
        #expect(map.selection[43 * 120 + 87] == 1)
        map.coded(qp: 14, isChange: false, now: Self.at(1_000))
        #expect(map.selectForRefinement(atMost: 32, to: 14, now: Self.at(1_033)) == 32)
        #expect(map.selection[0] == 1)
        #expect(map.selection[3 * 120 + 7] == 1)
    }

    @Test("what moved is as fine as what it was, at worst, what stayed keeps its own, and what was coded has the new")
    func moved() {
        var map = Self.coded(14)
        map.select([PixelRectangle(x: 0, y: 160, width: 1920, height: 16)])
        map.coded(qp: 40, isChange: true, now: Self.at(10))
        map.select([PixelRectangle(x: 0, y: 0, width: 160, height: 320)])
        var states = [UInt8](repeating: 2, count: Self.grid.count)
        states[3 * 120] = 1
        states[10 * 120 + 1] = 0
        map.moved(states: states, x: 0, y: 8, qp: 30, now: Self.at(20))
        // Rows 9 and 10 come, in part, from the coarse row 10; one of the ten of row 10 stayed, and all outside did.
        #expect(map.count(above: 39) == 10 + 9 + 1 + 110)
        #expect(map.count(above: 29) == 10 + 9 + 1 + 110 + 1)
        #expect(map.count(above: 14) == 10 + 9 + 1 + 110 + 1)
        // What moved apart takes over from its own place: all of row 20, from the row that is as coarse as 40 in part.
        map.select([PixelRectangle(x: 0, y: 320, width: 1920, height: 16)])
        let apart = [UInt8](repeating: 4, count: Self.grid.count)
        map.moved(states: apart, x: 0, y: 8, second: (0, -160), qp: 30, now: Self.at(25))
        #expect(map.count(above: 39) == 10 + 9 + 1 + 110 + 120)
        // From far outside, and for another grid: borne.
        map.moved(states: states, x: 100_000, y: -100_000, qp: 99, now: Self.at(30))
        map.moved(states: [1], x: 0, y: 0, qp: 20, now: Self.at(30))
        #expect(map.refinementDue(to: 14) != nil)
    }

    @Test("what moves and comes from where the picture is coarser is found, from the top on and up to a limit")
    func coarselyMoved() {
        var map = Self.coded(14)
        map.select([PixelRectangle(x: 0, y: 160, width: 1920, height: 16)])
        map.coded(qp: 44, isChange: true, now: Self.at(10))
        map.select([PixelRectangle(x: 0, y: 0, width: 160, height: 320)])
        var states = [UInt8](repeating: 2, count: Self.grid.count)
        states[9 * 120] = 1
        states[9 * 120 + 1] = 0
        func found(_ qp: Int, atMost limit: Int, second: (x: Int, y: Int)? = nil) -> [Int] {
            map.coarselyMoved(states: states, x: 0, y: 8, second: second, than: qp, atMost: limit)
        }
        // Rows 9 and 10 come, in part, from the coarse row 10; two of the first ten don't move.
        let rows = Array(9 * 120 + 2..<9 * 120 + 10) + Array(10 * 120..<10 * 120 + 10)
        #expect(found(40, atMost: 100) == rows)
        #expect(found(40, atMost: 3) == Array(rows.prefix(3)))
        #expect(found(44, atMost: 100).isEmpty && found(40, atMost: 0).isEmpty)
        // What moves apart comes from another place.
        states[0] = 4
        #expect(found(40, atMost: 1, second: (0, 160)) == [0])
    }

    @Test("absurd quantizers, counts and times are borne")
    func absurd() {
        var map = Self.coded(Int.max)
        map.selectAll()
        map.coded(qp: .min, isChange: true, now: MonotonicTime(nanoseconds: .min))
        #expect(map.refinementDue(to: .min) == nil)
        #expect(map.refinementDue(to: .max) == nil)
        #expect(map.selectForRefinement(atMost: .max, to: -1, now: .distantFuture) == 0, "0 is as fine as it gets")
        map.coded(qp: 20, isChange: true, now: .distantFuture)
        #expect(map.selectForRefinement(atMost: -5, to: 14, now: .zero) == 0)
        var empty = QPMap(grid: MacroblockGrid(size: PictureSize(width: 0, height: 0)))
        empty.selectAll()
        empty.coded(qp: 30, isChange: true, now: .zero)
        #expect(empty.selectForRefinement(atMost: 10, to: 14, now: Self.at(500)) == 0)
    }
}
