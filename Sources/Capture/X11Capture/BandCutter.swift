import MediaTypes

/// Cuts rectangles into bands of whole rows that fit into the room there is.
struct BandCutter {
    private let rectangles: [PixelRectangle]
    private let layout: PixelLayout
    private var index = 0
    // Rows of the current rectangle that have been cut off.
    private var done = 0

    // Each band is a request: a few rows at the end of the room are not worth one.
    private static let fewestRows = 16

    init(_ rectangles: [PixelRectangle], _ layout: PixelLayout) {
        self.rectangles = rectangles
        self.layout = layout
    }

    /// The next band, of at most `room` bytes; nil where nothing is left, or nothing fits but would into an empty room.
    ///
    /// Bands but the last of a rectangle have an even number of rows. Into an empty room two rows go in any case: twice the
    /// longest row that X has (65535 pixels of 4 bytes) are half a mebibyte.
    mutating func next(room: Int, isEmpty: Bool) -> (rectangle: PixelRectangle, bytes: Int)? {
        while index < rectangles.count, rectangles[index].isEmpty || done >= rectangles[index].height {
            index += 1
            done = 0
        }
        guard index < rectangles.count else { return nil }
        let whole = rectangles[index]
        let stride = max(1, layout.stride(width: whole.width))
        let left = whole.height - done
        var rows = room / stride
        if rows < left {
            if !isEmpty, rows < Self.fewestRows { return nil }
            rows = max(2, rows & ~1)
        }
        rows = min(rows, left)
        let band = PixelRectangle(x: whole.x, y: whole.y + done, width: whole.width, height: rows)
        done += rows
        return (band, rows * stride)
    }

    /// Nothing is wanted any longer.
    mutating func stop() {
        index = rectangles.count
    }
}
