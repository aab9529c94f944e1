import VideoEncoding

/// Hashes of the macroblocks of a 4:2:0 picture, all 384 samples of each. Two macroblocks with equal hashes are equal:
/// the hash has 64 bits and depends on two random numbers, so that no program can paint a collision.
struct MacroblockHashes {
    private let columns: Int
    private let rows: Int
    private let seed: UInt64
    private let factor: UInt64

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        seed = .random(in: .min ... .max)
        factor = .random(in: .min ... .max) | 1
    }

    /// The hashes of all macroblocks, row by row.
    func all(of picture: SourcePlanes) -> [UInt64] {
        (0..<columns * rows).map { hash($0, of: picture) }
    }

    /// The hash of one macroblock.
    func hash(_ index: Int, of picture: SourcePlanes) -> UInt64 {
        let (column, row) = (index % columns, index / columns)
        let luma = UnsafeRawPointer(picture.luma + row * 16 * picture.lumaStride + column * 16)
        let chroma = row * 8 * picture.chromaStride + column * 8
        let (blue, red) = (
            UnsafeRawPointer(picture.blueDifference + chroma), UnsafeRawPointer(picture.redDifference + chroma)
        )
        var hash = (seed, seed ^ factor)
        for line in 0..<16 {
            mix(&hash, luma + line * picture.lumaStride, luma + line * picture.lumaStride + 8)
        }
        for line in 0..<8 { mix(&hash, blue + line * picture.chromaStride, red + line * picture.chromaStride) }
        return Self.folded(hash.0 ^ factor, hash.1 ^ seed)
    }

    @inline(__always)
    private func mix(_ hash: inout (UInt64, UInt64), _ a: UnsafeRawPointer, _ b: UnsafeRawPointer) {
        hash.0 = Self.folded(hash.0 ^ a.loadUnaligned(as: UInt64.self), factor)
        hash.1 = Self.folded(hash.1 ^ b.loadUnaligned(as: UInt64.self), factor)
    }

    /// The two halves of the product, one added to the other.
    @inline(__always)
    private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return high ^ low
    }
}
