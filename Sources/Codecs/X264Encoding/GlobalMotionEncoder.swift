import Glibc
import H264
import MediaTypes
import VideoEncoding

/// Encodes pictures that are largely the previous picture moved, such as scrolling text or a dragged window.
///
/// The moved parts are copied with one motion vector each, which takes a few bits a row and no processing of samples
/// except the copy: there is no search, transform or quantization, and text stays as sharp as it was. `MacroblockCoder`
/// encodes the parts that have come into view and those on the edge between moving and still areas. The picture is one
/// slice.
///
/// For 4:2:0 only. Not thread-safe.
final class GlobalMotionEncoder {
    private var writer: PredictedSliceWriter
    private let columns: Int
    private let rows: Int
    private let kept: ReferenceRowCache
    private let coder: MacroblockCoder

    /// The longest horizontal or vertical motion that can be encoded, in samples.
    let farthest: Int

    /// Nil if the writer doesn't support this kind of stream.
    init?(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet, columns: Int, rows: Int) {
        guard let writer = PredictedSliceWriter(sequence, picture, columns: columns) else { return nil }
        self.writer = writer
        self.columns = columns
        self.rows = rows
        kept = ReferenceRowCache(width: columns * 16)
        coder = MacroblockCoder(width: columns * 16, height: rows * 16)
        // MaxVmvR of the level (table A-1) in whole samples. The SPS that x264 writes allows no more horizontally.
        farthest =
            switch sequence.profileLevelID.levelIDC {
            case ...10: 63
            case ...20: 127
            case ...30: 255
            default: 500
            }
    }

    /// Whether the motion is within the range that can be encoded.
    func reaches(_ motion: borrowing GlobalMotion) -> Bool {
        let second = motion.second ?? (0, 0)
        return max(abs(motion.x), abs(motion.y), abs(second.x), abs(second.y)) <= farthest
            && (motion.x != 0 || motion.y != 0)
    }

    /// Appends the picture's slice to `target`, and turns `reference` from the previous picture into this one.
    ///
    /// `planes` is the source picture, and `motion` has the state of each macroblock. The place from which a macroblock
    /// has moved must lie inside the picture.
    func encode(
        _ planes: SourcePlanes, reference: ReconstructedPicture, motion: inout GlobalMotion, qp: Int,
        frameNumber: UInt32, to target: inout [UInt8]
    ) {
        encode(planes, reference, &motion, qp, frameNumber, &writer)
        writer.end(to: &target)
        reference.extendMargins(width: columns * 16, height: rows * 16)
    }

    private func encode(
        _ planes: SourcePlanes, _ reference: ReconstructedPicture, _ motion: inout GlobalMotion,
        _ qp: Int, _ frameNumber: UInt32, _ writer: inout PredictedSliceWriter
    ) {
        writer.begin(frameNumber: frameNumber, qp: qp)
        coder.begin(
            planes, reference, kept, x: motion.x, y: motion.y, second: motion.second, qp: qp,
            chromaOffset: writer.chromaQPIndexOffset)
        // `reference` is overwritten row by row, and rows that later macroblocks refer to are kept before that: all of
        // them if content moves down or sideways, because it is then copied from rows that are overwritten already.
        // Content that moves straight up is copied from rows below, which are still those of the previous picture. Then
        // only coded macroblocks refer to rows above: a row is kept if one of the next `reach` rows has any.
        let second = motion.second ?? (0, 0)
        let copiesOverwritten = motion.x != 0 || motion.y < 0 || second.x != 0 || second.y < 0
        kept.begin(reach: max(MacroblockCoder.searchedRows, -motion.y, -second.y) + 32)
        let reach = (MacroblockCoder.searchedRows + 15) / 16
        // The last row up to `row + reach` that has coded macroblocks.
        var lastCoded = (0..<min(rows, reach)).last { isCoded($0, motion) } ?? -1
        for row in 0..<rows {
            if row + reach < rows, isCoded(row + reach, motion) { lastCoded = row + reach }
            if copiesOverwritten || row <= lastCoded { kept.keep(row * 16, of: reference) }
            var column = 0
            while column < columns {
                let state = motion.states[row * columns + column]
                var end = column + 1
                while end < columns, motion.states[row * columns + end] == state { end += 1 }
                switch GlobalMotion.State(rawValue: state) {
                case .moved, .movedApart:
                    let isApart = state == GlobalMotion.State.movedApart.rawValue
                    let (x, y) = isApart ? second : (motion.x, motion.y)
                    if x & 1 == 0, y & 1 == 0 {
                        copy(column..<end, row, x, y, reference)
                        let vector = MacroblockCoder.vector(x, y)
                        for _ in column..<end { writer.copy(vector) }
                    } else {
                        // The state after it is that of a blurred one.
                        for column in column..<end where !coder.codeMoved(column, row, x, y, &writer) {
                            motion.states[row * columns + column] = state + 1
                        }
                    }
                case .coded:
                    for column in column..<end { coder.code(column, row, &writer) }
                case .still, .movedCoarsely, .movedApartCoarsely, nil:
                    for _ in column..<end { writer.copy(SIMD2()) }
                }
                column = end
            }
        }
    }

    private func isCoded(_ row: Int, _ motion: borrowing GlobalMotion) -> Bool {
        motion.states[row * columns..<(row + 1) * columns].contains(GlobalMotion.State.coded.rawValue)
    }

    /// Copies macroblocks of one row from where they were. Works only if chroma moves by whole samples.
    private func copy(_ columns: Range<Int>, _ row: Int, _ x: Int, _ y: Int, _ reference: ReconstructedPicture) {
        let (luma, chroma) = (reference.plane(0), reference.plane(1))
        let start = columns.lowerBound * 16
        let count = columns.count * 16
        for line in row * 16..<row * 16 + 16 {
            memcpy(luma.base + line * luma.stride + start, kept.luma(line + y, of: reference) + start + x, count)
        }
        for line in row * 8..<row * 8 + 8 {
            memcpy(
                chroma.base + line * chroma.stride + start, kept.chroma(line + y / 2, of: reference) + start + x, count)
        }
    }
}

extension ReconstructedPicture {
    /// Extends the outermost samples of a 4:2:0 picture into its margins.
    func extendMargins(width: Int, height: Int) {
        let margin = Self.margin
        let (luma, chroma) = (plane(0), plane(1))
        for row in 0..<height {
            let line = luma.base + row * luma.stride
            memset(line - margin, Int32(line[0]), margin)
            memset(line + width, Int32(line[width - 1]), margin)
        }
        for row in 0..<height / 2 {
            let line = chroma.base + row * chroma.stride
            for index in 0..<margin / 2 {
                line[2 * index - margin] = line[0]
                line[2 * index - margin + 1] = line[1]
                line[width + 2 * index] = line[width - 2]
                line[width + 2 * index + 1] = line[width - 1]
            }
        }
        for (plane, rows, depth) in [(luma, height, margin), (chroma, height / 2, margin / 2)] {
            let top = plane.base - margin
            let bottom = top + (rows - 1) * plane.stride
            for row in 1...depth {
                memcpy(top - row * plane.stride, top, width + 2 * margin)
                memcpy(bottom + row * plane.stride, bottom, width + 2 * margin)
            }
        }
    }
}
