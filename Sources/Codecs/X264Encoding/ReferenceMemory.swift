import Glibc
import MediaTypes

/// Memory for a picture as decoders see it, with its margins.
final class ReferenceMemory {
    let picture: ReconstructedPicture
    private let memory: UnsafeMutableRawPointer

    /// The first samples of all rows are at the beginning of a cache line.
    private static let alignment = 64
    private static let hugePage = 2 << 20

    /// Creates memory for a picture of `width` by `height` samples, which are whole macroblocks. Its contents are
    /// undefined.
    init(width: Int, height: Int, chroma: ChromaFormat) {
        let margin = ReconstructedPicture.margin
        let left = Self.alignment
        var stride = (left + width + margin + Self.alignment - 1) & ~(Self.alignment - 1)
        // Rows at multiples of 1024 bytes would compete for the same places in the processor's caches.
        if stride % 1024 == 0 { stride += Self.alignment }
        let luma = stride * (height + 2 * margin)
        // Interleaved chroma has as many bytes a row as luma, and half as many rows.
        let count = chroma == .yuv420 ? luma * 3 / 2 : luma * 3
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: Self.hugePage)
        // As x264 does it for its own: without it, a scrolled text takes a tenth more time.
        madvise(memory, count, MADV_HUGEPAGE)
        self.memory = memory
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        func plane(from start: Int, lumaRows: Int = 1) -> ReconstructedPicture.Plane {
            .init(base: bytes + start + stride * margin / lumaRows + left, stride: stride, lumaRows: lumaRows)
        }
        picture =
            chroma == .yuv420
            ? ReconstructedPicture(plane(from: 0), plane(from: luma, lumaRows: 2))
            : ReconstructedPicture(plane(from: 0), plane(from: luma), plane(from: 2 * luma))
    }

    deinit { memory.deallocate() }
}
