import ColorConversion
import Glibc
import MediaTypes
import X264Encoding

/// The picture as it should look, in planes: changed rectangles are converted into it, and the encoder reads it. Where much
/// changes, the picture before is kept beside it, so that what has merely moved can be found.
///
/// Covers whole macroblocks: beyond the picture's edge its last column and row are repeated.
final class PictureCanvas {
    /// What is shown.
    let size: PictureSize
    let chroma: ChromaFormat
    private var current: CanvasPlanes
    // The picture before, but for `stale`; nothing until much changes for the first time.
    private var other: CanvasPlanes?
    // Where the two differ.
    private var stale: [PixelRectangle] = []

    init(_ size: PictureSize, chroma: ChromaFormat) {
        self.size = size
        self.chroma = chroma
        current = CanvasPlanes(size, chroma: chroma)
    }

    /// Where rectangles are converted to.
    var destination: ScreenToPlanes.Destination {
        let planes = current
        return ScreenToPlanes.Destination(
            luma: planes.luma, blueDifference: planes.blueDifference, redDifference: planes.redDifference,
            lumaStride: planes.width, chromaStride: planes.chromaWidth, size: size, chroma: chroma)
    }

    /// What the encoder reads.
    var planes: SourcePlanes { current.source }

    /// The picture before, of which `current` differs in what changed since `keepPicture` alone.
    var previous: SourcePlanes? { other?.source }

    /// `parts` are about to change; the picture as it is now stays in `previous`. Costs no copy where the same parts change
    /// again and again.
    func keepPicture(before parts: [PixelRectangle]) {
        let next = other ?? CanvasPlanes(size, chroma: chroma)
        if other == nil { stale = [PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)] }
        for part in stale where !parts.contains(where: { $0.contains(part) }) { next.copy(part, from: current) }
        other = current
        current = next
        stale = parts
    }

    /// `parts` have changed without `keepPicture`.
    func changed(_ parts: [PixelRectangle]) {
        guard other != nil else { return }
        stale += parts
        if stale.count > 16 {
            stale = [stale.reduce(PixelRectangle(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
        }
    }

    /// Hands out luma (`stride` bytes a row) to be drawn into, with grey chroma.
    func drawGrey(_ body: (UnsafeMutablePointer<UInt8>, _ stride: Int) -> Void) {
        let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
        changed([whole])
        current.fillChroma(128)
        body(current.luma, current.width)
        repeatEdges(whole)
    }

    /// Repeats the last column and row where `area`, which was converted, touches the picture's edge.
    func repeatEdges(_ area: PixelRectangle) { current.repeatEdges(area) }
}

extension PixelRectangle {
    /// Whether all of `other` is within.
    fileprivate func contains(_ other: PixelRectangle) -> Bool {
        other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
    }
}
