import MediaTypes

/// Cuts rectangles into bands of whole rows that fit into the space available.
struct BandCutter {
    private let rectangles: [PixelRectangle]
    private let layout: PixelLayout
    private var index = 0
    // The number of rows of the current rectangle that have been cut off.
    private var done = 0

    // Each band is a request, so a few rows at the end of the space are not worth one.
    private static let minRows = 16

    init(_ rectangles: [PixelRectangle], _ layout: PixelLayout) {
        self.rectangles = rectangles
        self.layout = layout
    }

    /// The next band, of at most `room` bytes. Returns nil if nothing is left, or if the next rows don't fit now but
    /// would fit into an empty space.
    ///
    /// All bands of a rectangle except its last have an even number of rows. An empty space takes two rows in any case:
    /// two of the longest rows that X has (65535 pixels of 4 bytes) are half a mebibyte.
    mutating func next(room: Int, isEmpty: Bool) -> (rectangle: PixelRectangle, bytes: Int)? {
        guard !isAtEnd else { return nil }
        let whole = rectangles[index]
        let stride = max(1, layout.stride(width: whole.width))
        let left = whole.height - done
        var rows = room / stride
        if rows < left {
            if !isEmpty, rows < Self.minRows { return nil }
            rows = max(2, rows & ~1)
        }
        rows = min(rows, left)
        let band = PixelRectangle(x: whole.x, y: whole.y + done, width: whole.width, height: rows)
        done += rows
        return (band, rows * stride)
    }

    /// Whether no band is left.
    var isAtEnd: Bool {
        mutating get {
            while index < rectangles.count, rectangles[index].isEmpty || done >= rectangles[index].height {
                index += 1
                done = 0
            }
            return index == rectangles.count
        }
    }

    /// Ends the bands: `next` returns nil from now on.
    mutating func stop() {
        index = rectangles.count
    }
}
