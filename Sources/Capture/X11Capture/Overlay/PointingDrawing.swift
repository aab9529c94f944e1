import MediaTypes

/// What the overlay shows, as rectangles of one colour each: the lines, the dots and the names.
///
/// Does no I/O; the server's fonts are measured by the caller.
struct PointingDrawing {
    struct Fill {
        /// 0xRRGGBB.
        var color: UInt32
        var rectangles: [PixelRectangle]
    }

    struct Label {
        var name: String
        var area: PixelRectangle
        /// 0xRRGGBB.
        var background: UInt32
    }

    let fills: [Fill]
    let labels: [Label]

    /// The colour of names, and of the rings around dots. Not quite white, which screens often are.
    static let white: UInt32 = 0xFD_FEFC
    private static let dotRadius = 7
    private static let ringRadius = 9
    private static let lineWidth = 4
    /// The distance between a dot's middle and its name.
    private static let labelOffset = (x: 8, y: 10)
    /// The maximum number of rectangles, so that they fit into one request, and how many of them lines may have. The
    /// rest is enough for the dots and names of all viewers that ``PointingMarks`` has.
    private static let maxRectangles = 8000
    private static let maxLineRectangles = 6000

    /// Draws what is shown in an area of `size`. `labelSize` is the size of a name with its margins.
    init(
        _ shown: [PointingMarks.Shown], in size: PictureSize, labelSize: (String) -> PictureSize
    ) {
        let bounds = size.whole
        var (fills, labels): ([Fill], [Label]) = ([], [])
        var left = Self.maxRectangles
        func add(_ rectangles: [PixelRectangle], _ color: UInt32) {
            let inside = rectangles.lazy.map { $0.intersection(bounds) }.filter { !$0.isEmpty }.prefix(left)
            let fill = Fill(color: color, rectangles: Array(inside))
            left -= fill.rectangles.count
            if !fill.rectangles.isEmpty { fills.append(fill) }
        }
        // A line may lead from corner to corner hundreds of times, and must not use up what others draw with.
        let share = Self.maxLineRectangles / max(1, shown.count { !$0.lines.isEmpty })
        for viewer in shown {
            let color = Self.dotColor(of: viewer.name)
            var rest = share
            // If there are too many, the oldest parts are left out.
            for line in viewer.lines.reversed() where rest > 0 {
                let stroke = Self.stroke(line, limit: rest)
                rest -= stroke.count
                add(stroke, color)
            }
        }
        for viewer in shown {
            if let dot = viewer.dot {
                add(Self.disc(dot, Self.ringRadius), Self.white)
                add(Self.disc(dot, Self.dotRadius), Self.dotColor(of: viewer.name))
            }
            guard let place = viewer.dot ?? viewer.lines.last?.last, !viewer.name.isEmpty, left > 0 else { continue }
            let label = labelSize(viewer.name)
            let isLeft = place.x * 4 > size.width * 3
            let area = PixelRectangle(
                x: place.x + (isLeft ? -Self.labelOffset.x - label.width : Self.labelOffset.x),
                y: min(place.y + Self.labelOffset.y, size.height - label.height), width: label.width,
                height: label.height)
            // A name that doesn't fit would have to be cut.
            if area.isEmpty || area.intersection(bounds) != area { continue }
            labels.append(Label(name: viewer.name, area: area, background: Self.labelColor(of: viewer.name)))
            left -= 1
        }
        self.fills = fills
        self.labels = labels
    }

    /// Nothing, which takes off the screen what is shown.
    static let nothing = PointingDrawing([], in: PictureSize(width: 0, height: 0)) { _ in
        PictureSize(width: 0, height: 0)
    }

    /// All that is covered.
    var rectangles: [PixelRectangle] { fills.flatMap(\.rectangles) + labels.map(\.area) }

    /// All colours, in 0xRRGGBB.
    var colors: Set<UInt32> { Set(fills.map(\.color) + labels.map(\.background) + [Self.white]) }

    private static func disc(_ middle: PointingMarks.Place, _ radius: Int) -> [PixelRectangle] {
        (-radius..<radius).compactMap { row in
            // The row's middle is half a pixel below its top edge.
            let height = Double(row) + 0.5
            let half = Int((Double(radius * radius) - height * height).squareRoot().rounded())
            if half == 0 { return nil }
            return PixelRectangle(x: middle.x - half, y: middle.y + row, width: 2 * half, height: 1)
        }
    }

    /// The squares that a line is drawn with, the newest first; at most `limit`.
    private static func stroke(_ line: [PointingMarks.Place], limit: Int) -> [PixelRectangle] {
        func stamp(_ x: Int, _ y: Int) -> PixelRectangle {
            PixelRectangle(x: x - lineWidth / 2, y: y - lineWidth / 2, width: lineWidth, height: lineWidth)
        }
        guard var place = line.last, limit > 0 else { return [] }
        var stamps = [stamp(place.x, place.y)]
        for next in line.dropLast().reversed() {
            let (dx, dy) = (next.x - place.x, next.y - place.y)
            let steps = max(1, (max(abs(dx), abs(dy)) + 1) / 2)
            for step in 1...steps {
                if stamps.count >= limit { return stamps }
                stamps.append(stamp(place.x + dx * step / steps, place.y + dy * step / steps))
            }
            place = next
        }
        return stamps
    }

    // MARK: Colours, the same as on pages

    static func dotColor(of name: String) -> UInt32 { color(hue: hue(of: name), saturation: 0.95, lightness: 0.5) }
    static func labelColor(of name: String) -> UInt32 { color(hue: hue(of: name), saturation: 0.7, lightness: 0.25) }

    /// The hue of a name's colour, in degrees (FNV-1a of its code points).
    static func hue(of name: String) -> Int {
        Int(name.unicodeScalars.reduce(0x811C_9DC5 as UInt32) { ($0 ^ $1.value) &* 0x0100_0193 } % 360)
    }

    /// 0xRRGGBB, by the formula of CSS Color Module Level 4, section 7.1.
    private static func color(hue: Int, saturation: Double, lightness: Double) -> UInt32 {
        let amplitude = saturation * min(lightness, 1 - lightness)
        return [0, 8, 4].reduce(0 as UInt32) { color, offset in
            let k = (Double(offset) + Double(hue) / 30).truncatingRemainder(dividingBy: 12)
            let value = lightness - amplitude * max(-1, min(k - 3, 9 - k, 1))
            return color << 8 | UInt32((value * 255).rounded())
        }
    }
}
