import Glibc

/// Access to the previous picture while the new one overwrites it from top to bottom. A ring buffer keeps the rows that
/// were overwritten last.
final class ReferenceRowCache {
    private var storage: UnsafeMutablePointer<UInt8>?
    private var height = 0
    private let width: Int
    /// The range of luma rows in the ring buffer.
    private var first = 0
    private var end = 0

    /// Creates a ring buffer for rows of `width` samples.
    init(width: Int) { self.width = width }

    deinit { storage?.deallocate() }

    /// Begins a new picture. Old rows stay available until `reach` more rows have been overwritten; 0 keeps none.
    func begin(reach: Int) {
        (first, end) = (0, 0)
        if reach == 0 { return }
        var needed = 32
        while needed < reach + 32 { needed *= 2 }
        if needed <= height { return }
        storage?.deallocate()
        storage = .allocate(capacity: needed * width * 3 / 2)
        height = needed
    }

    /// Keeps the sixteen luma rows from `row` on, and their chroma, before they are overwritten. Call it for each
    /// macroblock row in order.
    func keep(_ row: Int, of picture: ReconstructedPicture) {
        guard let storage, height > 0 else { return }
        if row != end { first = row }
        end = row + 16
        first = max(first, end - height)
        let (luma, chroma) = (picture.plane(0), picture.plane(1))
        for index in row..<end {
            memcpy(storage + (index & (height - 1)) * width, luma.base + index * luma.stride, width)
        }
        let ring = storage + height * width
        for index in row / 2..<end / 2 {
            memcpy(ring + (index & (height / 2 - 1)) * width, chroma.base + index * chroma.stride, width)
        }
    }

    /// Luma row `row` of the previous picture.
    @inline(__always)
    func luma(_ row: Int, of picture: ReconstructedPicture) -> UnsafePointer<UInt8> {
        if row >= first, row < end, let storage { return UnsafePointer(storage + (row & (height - 1)) * width) }
        let plane = picture.plane(0)
        return UnsafePointer(plane.base + row * plane.stride)
    }

    /// Row `row` of the previous picture's interleaved chroma.
    @inline(__always)
    func chroma(_ row: Int, of picture: ReconstructedPicture) -> UnsafePointer<UInt8> {
        if 2 * row >= first, 2 * row < end, let storage {
            return UnsafePointer(storage + height * width + (row & (height / 2 - 1)) * width)
        }
        let plane = picture.plane(1)
        return UnsafePointer(plane.base + row * plane.stride)
    }
}
