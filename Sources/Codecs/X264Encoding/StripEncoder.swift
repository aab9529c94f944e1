import Glibc
import MediaTypes
import VideoEncoding

/// Encodes all of a large picture in strips, each of them one slice by an x264 encoder that is only one strip high.
///
/// An encoder for the whole picture has four pictures in memory, the source and the reference of this picture and of
/// the one before. Four strips and one whole reference are less: 21 MB instead of 58 at 3840x2160. The price is that
/// motion is found up to 24 samples beyond a strip.
final class StripEncoder {
    /// The previous picture as viewers see it.
    var reference: ReconstructedPicture { memory.picture }

    private let memory: ReferenceMemory
    private let covered: CoveredRows
    private let rows: Int
    /// The strips from top to bottom. Most have the same encoder.
    private let strips: [(firstRow: Int, encoder: BandEncoder)]

    /// The height of a strip in macroblock rows, about.
    private static let height = 16

    /// Returns nil if the slice headers of a strip would not fit into a stream with `pictureParameterSet`.
    init?(
        _ configuration: X264Configuration, rows: Int, pictureParameterSet: [UInt8], covered: CoveredRows,
        onWarning: (@Sendable (String) -> Void)?
    ) throws(VideoEncodingError) {
        self.covered = covered
        self.rows = rows
        var encoders: [Int: BandEncoder] = [:]
        var strips: [(firstRow: Int, encoder: BandEncoder)] = []
        var row = 0
        for height in Self.heights(rows: rows) {
            if encoders[height] == nil {
                encoders[height] = try BandEncoder(
                    configuration, rows: height, pictureParameterSet: pictureParameterSet, covered: covered,
                    onWarning: onWarning)
            }
            guard let encoder = encoders[height] else { return nil }
            strips.append((row, encoder))
            row += height
        }
        self.strips = strips
        memory = ReferenceMemory(
            width: (configuration.encodedSize.width + 15) & ~15, height: rows * 16, chroma: configuration.chroma)
    }

    /// Heights that differ by one row at most, and not at all if there is such a number of strips.
    static func heights(rows: Int) -> [Int] {
        let usual = max(1, rows / height)
        let maxCount = max(usual, rows / (height - 2))
        let count = (usual...maxCount).first { rows % $0 == 0 } ?? usual
        return (0..<count).map { rows / count + ($0 < rows % count ? 1 : 0) }
    }

    /// Changes how far x264 searches for motion; see `X264Encoder`.
    func reconfigure(searchRange samples: Int) throws(VideoEncodingError) {
        var last: BandEncoder?
        for strip in strips where strip.encoder !== last {
            try strip.encoder.reconfigure(searchRange: samples)
            last = strip.encoder
        }
    }

    /// Encodes a picture, and passes its slices to `append` from top to bottom: the first macroblock row, the number of
    /// rows, and the encoder that has the slice; nil if nothing changes there.
    ///
    /// - Parameter skipped: 1 for each macroblock that is to be left unchanged; nil for an IDR picture.
    func encode(
        _ planes: SourcePlanes, skipped: UnsafeMutablePointer<UInt8>?, columns: Int, qp: Int, time: MediaTime,
        append: (_ firstRow: Int, _ rows: Int, BandEncoder?) throws(VideoEncodingError) -> Void
    ) throws(VideoEncodingError) {
        covered.removeAll()
        for (first, encoder) in strips {
            let own = skipped.map { $0 + first * columns }
            if let own, memchr(own, 0, encoder.rows * columns) == nil {
                try append(first, encoder.rows, nil)
                continue
            }
            try encoder.encode(
                planes, reference: memory.picture, firstRow: first, pictureRows: rows, skipped: own,
                protectsSkipped: false, qp: qp, time: time)
            try append(first, encoder.rows, encoder)
        }
    }
}
