import CaptureEngine
import MediaTypes
import TestSupport
import Testing

@testable import X11Capture

@Suite("what is shown of viewers' dots and lines")
struct PointingMarksTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func take(
        _ marks: inout PointingMarks, _ x: UInt16?, path: [UInt16?] = [], viewer: UInt32 = 1, at time: MonotonicTime
    ) {
        let point = ViewerPoint(
            viewer: viewer, name: "Ann", place: x.map { ViewerPoint.Place(x: $0, y: 9) },
            path: path.map { $0.map { ViewerPoint.Place(x: $0, y: 9) } })
        marks.take(point, at: time) { PointingMarks.Place(x: Int($0.x), y: Int($0.y)) }
    }

    private func columns(_ marks: PointingMarks, at time: MonotonicTime) -> [[Int]] {
        marks.shown(at: time).flatMap { $0.lines.map { $0.map(\.x) } }
    }

    @Test("a dot is shown for a second after its last news, and a line for three, its beginning going first")
    func fading() {
        var marks = PointingMarks()
        #expect(marks.isEmpty && marks.nextFade(after: start) == .distantFuture)
        take(&marks, 1, path: [nil, 1, 2], at: start)
        take(&marks, 3, path: [3], at: start + .milliseconds(500))
        #expect(marks.shown(at: start).map(\.dot?.x) == [3])
        #expect(columns(marks, at: start + .milliseconds(500)) == [[1, 2, 3]])
        #expect(marks.nextFade(after: start + .milliseconds(500)) == start + .milliseconds(1500))
        marks.removeFaded(at: start + .milliseconds(1500))
        #expect(marks.shown(at: start).map(\.dot?.x) == [nil] && !marks.isEmpty)
        #expect(marks.nextFade(after: start + .milliseconds(1500)) == start + .seconds(3))
        marks.removeFaded(at: start + .seconds(3))
        #expect(columns(marks, at: start + .seconds(3)) == [[2, 3]])
        marks.removeFaded(at: start + .milliseconds(3500))
        #expect(marks.isEmpty)
    }

    @Test("a nil begins another line, and a viewer that no longer points keeps its lines")
    func several() {
        var marks = PointingMarks()
        take(&marks, 1, path: [nil, 1, 2, nil, 7, 8], at: start)
        take(&marks, nil, at: start)
        take(&marks, 5, viewer: 2, at: start)
        #expect(columns(marks, at: start) == [[1, 2], [7, 8]])
        #expect(marks.shown(at: start).map(\.dot?.x) == [nil, 5])
        marks.removeAll()
        #expect(marks.isEmpty)
    }

    @Test("however much is drawn and by however many, the memory is bounded")
    func bounded() {
        var marks = PointingMarks()
        for viewer in 0..<200 as Range<UInt32> {
            for _ in 0..<20 { take(&marks, 1, path: [UInt16?](repeating: 4, count: 100), viewer: viewer, at: start) }
        }
        let shown = marks.shown(at: start)
        #expect(shown.count == 50 && shown.allSatisfy { $0.lines.flatMap { $0 }.count == 600 })
        let size = PictureSize(width: 64, height: 64)
        let drawing = PointingDrawing(shown, in: size) { _ in PictureSize(width: 10, height: 10) }
        #expect(drawing.rectangles.count <= 8000)
        #expect(drawing.rectangles.allSatisfy { $0.intersection(size.whole) == $0 })
    }

    @Test("viewers who draw from corner to corner all the time leave another its dot, its line and its name")
    func greedy() {
        typealias Place = PointingMarks.Place
        let size = PictureSize(width: 3840, height: 2160)
        let corners = [Place(x: 0, y: 0), Place(x: 3839, y: 2159)]
        let all = PointingMarks.Shown(name: "Eve", dot: corners[0], lines: [(0..<600).map { corners[$0 % 2] }])
        let (start, end) = (Place(x: 900, y: 200), Place(x: 910, y: 200))
        let other = PointingMarks.Shown(name: "Ann", dot: end, lines: [[start, end]])
        let drawing = PointingDrawing(
            [PointingMarks.Shown](repeating: all, count: 49) + [other], in: size
        ) { _ in PictureSize(width: 10, height: 10) }
        #expect(drawing.rectangles.count <= 8000)
        let own = drawing.fills.filter { $0.color == PointingDrawing.dotColor(of: "Ann") }.flatMap(\.rectangles)
        #expect(own.contains { $0.x == 898 && $0.y == 198 } && own.contains { $0.width == 14 && $0.height == 1 })
        #expect(drawing.labels.contains { $0.name == "Ann" })
    }

    @Test("of a line that is too long, the newest part is drawn")
    func newest() {
        let size = PictureSize(width: 3840, height: 2160)
        let line = (0..<20).map { PointingMarks.Place(x: $0 % 2 * 3000, y: 10 * $0) }
        let drawing = PointingDrawing([PointingMarks.Shown(name: "Ann", lines: [line])], in: size) { _ in
            PictureSize(width: 10, height: 10)
        }
        let rows = drawing.fills.flatMap(\.rectangles).map(\.y)
        // The last place is at 190, and 6000 squares are four of its ways.
        #expect(rows.max() == 188 && rows.min() == 149)
    }

    @Test(
        "colours are those of the page",
        arguments: [
            ("Ann", 160, 0x06_F9A8, 0x13_6C4F), ("Bob", 220, 0x06_57F9, 0x13_316C), ("Cid", 311, 0xF9_06CC, 0x6C_135C),
            ("Max", 9, 0xF9_2B06, 0x6C_2113), ("安娜", 88, 0x88_F906, 0x43_6C13), ("Zoë", 127, 0x06_F923, 0x13_6C1E),
        ])
    func colors(name: String, hue: Int, dot: UInt32, label: UInt32) {
        #expect(PointingDrawing.hue(of: name) == hue)
        #expect(PointingDrawing.dotColor(of: name) == dot && PointingDrawing.labelColor(of: name) == label)
    }
}
