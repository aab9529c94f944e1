import ColorConversion
import Glibc
import MediaTypes
import VideoEncoding

/// The current picture in planes: changed rectangles are converted into it, and the encoder reads it. If much changes,
/// the previous picture is kept as well, so that content that has only moved can be found.
///
/// The planes cover whole macroblocks: beyond the picture's edge, its last column and row are repeated.
final class PictureCanvas {
    /// The size of the visible picture.
    let size: PictureSize
    let chroma: ChromaFormat
    private var current: CanvasPlanes
    // The previous picture, except for the areas in `stale`; nil until much changes for the first time.
    private var other: CanvasPlanes?
    // The areas in which the two differ.
    private var stale: [PixelRectangle] = []
    // The samples of a few small parts before they were read again.
    private var samples: [UInt8] = []

    init(_ size: PictureSize, chroma: ChromaFormat) {
        self.size = size
        self.chroma = chroma
        current = CanvasPlanes(size, chroma: chroma)
    }

    /// The planes that rectangles are converted into; of them the part `content`, at an even place, if that isn't nil.
    func destination(_ content: PixelRectangle? = nil) -> ScreenToPlanes.Destination {
        let planes = current
        let content = content ?? size.whole
        let divisor = chroma == .yuv420 ? 2 : 1
        let chromaStart = content.y / divisor * planes.chromaWidth + content.x / divisor
        return ScreenToPlanes.Destination(
            luma: planes.luma + content.y * planes.width + content.x,
            blueDifference: planes.blueDifference + chromaStart, redDifference: planes.redDifference + chromaStart,
            lumaStride: planes.width, chromaStride: planes.chromaWidth, size: content.size, chroma: chroma)
    }

    /// The planes that the encoder reads.
    var planes: SourcePlanes { current.source }

    /// The previous picture, which differs from the current one only in what changed since `keepPicture`.
    var previous: SourcePlanes? { other?.source }

    /// Keeps the current picture in `previous`, because `parts` are about to change. Costs no copy if the same parts
    /// change again and again.
    func keepPicture(before parts: [PixelRectangle]) {
        let next = other ?? CanvasPlanes(size, chroma: chroma)
        if other == nil { stale = [size.whole] }
        for part in stale where !parts.contains(where: { $0.contains(part) }) { next.copy(part, from: current) }
        other = current
        current = next
        stale = parts
    }

    /// Notes that `parts` have changed without `keepPicture`.
    func changed(_ parts: [PixelRectangle]) {
        guard other != nil else { return }
        stale += parts
        if stale.count > 16 {
            stale = [stale.reduce(PixelRectangle.nothing) { $0.union($1) }]
        }
    }

    /// Keeps the samples of `parts`, which are small, because they are about to be read again.
    func keepSamples(of parts: [PixelRectangle]) {
        samples.removeAll(keepingCapacity: true)
        for part in parts { current.appendSamples(of: part, to: &samples) }
    }

    /// Whether `parts` have the samples that they had before: those that ``keepSamples(of:)`` has kept of the same
    /// parts, or those of the previous picture.
    func isUnchanged(in parts: [PixelRectangle], sincePrevious: Bool) -> Bool {
        if sincePrevious { return other.map { other in parts.allSatisfy { current.matches(other, in: $0) } } == true }
        var start = 0
        return samples.withUnsafeBufferPointer { samples in
            parts.allSatisfy { current.matches(samples, from: &start, in: $0) }
        }
    }

    /// The mean difference from the previous picture in the macroblocks that `motion` says are to be coded; nil if that
    /// is unknown. One row of samples of each says enough, because there are many.
    func difference(of motion: GlobalMotion) -> Double? {
        guard let previous, motion.codedCount > 0 else { return nil }
        let (planes, row) = (current.source, 7)
        var sum = 0
        for index in motion.states.indices where motion.states[index] == GlobalMotion.State.coded.rawValue {
            let (line, column) = index.quotientAndRemainder(dividingBy: current.width / 16)
            let start = (line * 16 + row) * planes.lumaStride + column * 16
            // As a loop: with SIMD16<UInt8>, this takes ten times as long (1.7 ms for a 1920x1080 picture).
            for sample in start..<start + 16 { sum += abs(Int(planes.luma[sample]) - Int(previous.luma[sample])) }
        }
        return Double(sum) / Double(motion.codedCount * 16)
    }

    /// Passes the luma plane (`stride` bytes a row) to `body` for drawing; chroma is grey.
    func drawGrey(_ body: (UnsafeMutablePointer<UInt8>, _ stride: Int) -> Void) {
        changed([size.whole])
        current.fillChroma(128)
        body(current.luma, current.width)
        repeatEdges(size.whole)
    }

    /// Makes the whole picture black, in limited range.
    func drawBlack() {
        drawGrey { luma, stride in memset(luma, 16, stride * size.height) }
    }

    /// Repeats the picture's last column and row if the converted `area` touches its right or bottom edge.
    func repeatEdges(_ area: PixelRectangle) { current.repeatEdges(area) }
}

extension PixelRectangle {
    /// Whether all of `other` lies within this rectangle.
    func contains(_ other: PixelRectangle) -> Bool {
        other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
    }
}
