import CaptureEngine
import Glibc
import MediaTypes

/// The last picture, in memory of our own as BGRx: each new picture is compared with it, and the pixels of the agent's
/// pictures are read from it.
///
/// Compositors tell the damage of a picture roughly or not at all, so the comparison decides what has changed. It costs
/// one pass over both pictures; where they are equal, nothing is written. ``ComparisonPace`` decides when only a few
/// rows are compared for now. A large change is copied only once the agent has sent its picture, for which the pixels
/// are read from the other's memory.
final class KeptPicture {
    let size: PictureSize
    private let base: UnsafeMutableRawPointer
    /// The number of bytes from one row to the next.
    private let stride: Int
    /// Whether all of the next picture is taken: it is the first one, or the one before has been lost.
    private var takesAll = true
    /// What has been compared but not yet copied, and the picture that it is in.
    private var uncopied: [PixelRectangle] = []
    private var newest: Pixels?
    // Kept so that a picture needs no allocation. Whether each macroblock of a band has changed.
    private let marked: UnsafeMutableBufferPointer<Bool>
    private let row: UnsafeMutableRawPointer
    /// The row of each band that `sampleMatches` looked at last.
    private var sampled = 0

    /// The macroblocks of the encoder, so that none is coded without need.
    private static let side = 16

    /// Reserves memory for a picture, which is taken as the picture is written; nil if there isn't enough.
    init?(_ size: PictureSize) {
        let stride = size.width * CastFormat.bytesPerPixel
        guard stride > 0, size.height > 0, let base = calloc(size.height, stride) else { return nil }
        guard let row = malloc(stride) else {
            free(base)
            return nil
        }
        self.size = size
        self.stride = stride
        self.base = base
        self.row = row
        marked = .allocate(capacity: (size.width + Self.side - 1) / Self.side)
        marked.initialize(repeating: false)
    }

    deinit {
        free(base)
        free(row)
        marked.deallocate()
    }

    /// A picture of the same size, in another's memory. All of its pixels must be there.
    struct Pixels {
        /// The address of the top left pixel.
        var base: UnsafeRawPointer
        /// The number of bytes from one pixel of a row to the next; not 4 if the other memory has the picture rotated
        /// or mirrored.
        var columnStep = CastFormat.bytesPerPixel
        /// The number of bytes from one row to the next.
        var rowStep: Int
        var order: CastFormat.Order

        /// Whether the pixels are as the kept ones, so that they can be handed out.
        fileprivate var areReadable: Bool {
            columnStep == CastFormat.bytesPerPixel && rowStep > 0 && order == .bgrx
        }
    }

    /// Brings the picture up to date, and adds what has changed to `changes`. Only `parts` are compared, which must lie
    /// inside the picture; the first time, and after ``loseNewest()``, all of it is taken.
    ///
    /// Returns whether the memory of `new` is still needed, until ``settle()``.
    @discardableResult
    func update(from new: Pixels, in parts: [PixelRectangle], changes: inout [PixelRectangle]) -> Bool {
        settle()
        newest = new
        if takesAll {
            takesAll = false
            uncopied.append(size.whole)
        } else {
            compare(new, in: parts)
        }
        changes += uncopied
        let count = uncopied.reduce(0) { $0 + $1.width * $1.height }
        if !new.areReadable || count < size.width * size.height / Self.smallShare { settle() }
        return newest != nil
    }

    /// A change of less than the picture divided by this is copied at once, so that the compositor has its buffer back.
    private static let smallShare = 4

    /// Copies what has changed, if that is still to be done. The other memory isn't needed any more.
    func settle() {
        guard let new = newest else { return }
        for part in uncopied {
            for y in part.y..<part.y + part.height { copy(part, row: y, from: new) }
        }
        forgetNewest()
    }

    /// Gives up the picture whose memory is needed: it can't be read any more. Viewers may have been sent it, and the
    /// next picture's damage says nothing of its changes, so all of the next one counts as changed.
    func loseNewest() {
        takesAll = true
        forgetNewest()
    }

    private func forgetNewest() {
        newest = nil
        uncopied.removeAll(keepingCapacity: true)
    }

    /// The pixels of a part of the picture, which must lie inside it. They may only be read, until the next call of
    /// another method.
    func pixels(of part: PixelRectangle) -> GrabbedPixels {
        guard let newest else {
            return GrabbedPixels(
                rectangle: part, base: base + part.y * stride + part.x * CastFormat.bytesPerPixel, stride: stride)
        }
        let start = newest.base + part.y * newest.rowStep + part.x * CastFormat.bytesPerPixel
        return GrabbedPixels(
            rectangle: part, base: UnsafeMutableRawPointer(mutating: start), stride: newest.rowStep)
    }

    private func compare(_ new: Pixels, in parts: [PixelRectangle]) {
        for part in parts {
            let left = part.x / Self.side * Self.side
            let right = min(size.width, (part.x + part.width + Self.side - 1) / Self.side * Self.side)
            var top = part.y / Self.side * Self.side
            while top < part.y + part.height {
                let height = min(Self.side, size.height - top)
                let band = PixelRectangle(x: left, y: top, width: right - left, height: height)
                if mark(band, new) { addMarked(band) }
                top += Self.side
            }
        }
    }

    /// Whether a new picture is the same in one row of each band, in another one at each call. False if all of it
    /// is to be taken.
    func sampleMatches(_ new: Pixels) -> Bool {
        if takesAll { return false }
        // All rows come in turn, and neighbours not one after the other.
        sampled = (sampled + 7) % Self.side
        var y = sampled
        while y < size.height {
            if memcmp(base + y * stride, pixels(size.whole, row: y, of: new), stride) != 0 { return false }
            y += Self.side
        }
        return true
    }

    /// Marks the macroblocks of a band that have changed; returns whether there are any.
    private func mark(_ band: PixelRectangle, _ new: Pixels) -> Bool {
        let blocks = (band.width + Self.side - 1) / Self.side
        for block in 0..<blocks { marked[block] = false }
        var count = 0
        for y in band.y..<band.y + band.height where count < blocks {
            let old = UnsafeRawPointer(base + y * stride + band.x * CastFormat.bytesPerPixel)
            count += mark(blocks, old, pixels(band, row: y, of: new), byteCount: band.width * CastFormat.bytesPerPixel)
        }
        return count > 0
    }

    /// Marks the macroblocks that differ in a row; returns how many of them weren't marked before.
    private func mark(_ blocks: Int, _ old: UnsafeRawPointer, _ new: UnsafeRawPointer, byteCount: Int) -> Int {
        let blockBytes = Self.side * CastFormat.bytesPerPixel
        var (block, count) = (0, 0)
        while block < blocks {
            // Neighbours that aren't marked yet are mostly equal, and compared at once.
            let first = block
            while block < blocks, !marked[block] { block += 1 }
            let (start, end) = (first * blockBytes, min(block * blockBytes, byteCount))
            if end > start, memcmp(old + start, new + start, end - start) != 0 {
                for each in first..<block {
                    let place = each * blockBytes
                    if memcmp(old + place, new + place, min(blockBytes, byteCount - place)) != 0 {
                        marked[each] = true
                        count += 1
                    }
                }
            }
            while block < blocks, marked[block] { block += 1 }
        }
        return count
    }

    /// Adds the marked macroblocks of a band to what is to be copied.
    private func addMarked(_ band: PixelRectangle) {
        let blocks = (band.width + Self.side - 1) / Self.side
        var block = 0
        while block < blocks {
            guard marked[block] else {
                block += 1
                continue
            }
            let first = block
            while block < blocks, marked[block] { block += 1 }
            let left = band.x + first * Self.side
            let right = min(band.x + band.width, band.x + block * Self.side)
            let run = PixelRectangle(x: left, y: band.y, width: right - left, height: band.height)
            // What changes from band to band is one rectangle.
            if let last = uncopied.last, last.x == run.x, last.width == run.width, last.y + last.height == run.y {
                uncopied[uncopied.count - 1].height += run.height
            } else {
                uncopied.append(run)
            }
        }
    }

    private func copy(_ part: PixelRectangle, row y: Int, from new: Pixels) {
        memcpy(
            base + y * stride + part.x * CastFormat.bytesPerPixel, pixels(part, row: y, of: new),
            part.width * CastFormat.bytesPerPixel)
    }

    /// A row of `part` as BGRx; valid until the next call.
    private func pixels(_ part: PixelRectangle, row y: Int, of new: Pixels) -> UnsafeRawPointer {
        var source = new.base + y * new.rowStep + part.x * new.columnStep
        if new.columnStep != CastFormat.bytesPerPixel {
            // If it is a column, the cache keeps the next 15 of them, which are the other rows of the band.
            for column in 0..<part.width {
                let stored = source.loadUnaligned(fromByteOffset: column * new.columnStep, as: UInt32.self)
                row.storeBytes(of: stored, toByteOffset: column * 4, as: UInt32.self)
            }
            source = UnsafeRawPointer(row)
        }
        if new.order == .bgrx { return source }
        for column in 0..<part.width {
            let stored = source.loadUnaligned(fromByteOffset: column * 4, as: UInt32.self)
            let swapped = stored & 0xFF00_FF00 | stored >> 16 & 0xFF | (stored & 0xFF) << 16
            row.storeBytes(of: swapped, toByteOffset: column * 4, as: UInt32.self)
        }
        return UnsafeRawPointer(row)
    }
}
