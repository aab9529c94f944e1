import Glibc
import H264
import MediaTypes

/// Intra prediction.
extension MacroblockCoder {
    /// Predicts the macroblock from its neighbours (sections 8.3.3 and 8.3.4). Returns false if the mode needs a
    /// missing neighbour.
    func predictIntra(
        _ mode: PredictedSliceWriter.IntraMode, _ column: Int, _ row: Int, into target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let reference else { return false }
        let luma = reference.plane(0)
        let corner = luma.base + row * 16 * luma.stride + column * 16
        let above = corner - luma.stride
        let (hasLeft, hasAbove) = (column > 0, row > 0)
        switch mode {
        case .vertical:
            if !hasAbove { return false }
            for line in 0..<16 { memcpy(target + line * 16, above, 16) }
        case .horizontal:
            if !hasLeft { return false }
            for line in 0..<16 { memset(target + line * 16, Int32(corner[line * luma.stride - 1]), 16) }
        case .dc:
            var sum = 0
            if hasAbove { for index in 0..<16 { sum += Int(above[index]) } }
            if hasLeft { for line in 0..<16 { sum += Int(corner[line * luma.stride - 1]) } }
            let mean = hasAbove && hasLeft ? (sum + 16) >> 5 : hasAbove || hasLeft ? (sum + 8) >> 4 : 128
            memset(target, Int32(mean), 256)
        }
        predictChromaIntra(column, row, into: target)
        return true
    }

    private func predictChromaIntra(_ column: Int, _ row: Int, into target: UnsafeMutablePointer<UInt8>) {
        guard let reference else { return }
        let plane = reference.plane(1)
        let corner = plane.base + row * 8 * plane.stride + column * 16
        let (hasLeft, hasAbove) = (column > 0, row > 0)
        for component in 0..<2 {
            let start = target + (component == 0 ? Self.blueStart : Self.redStart)
            for index in 0..<4 {
                let (across, down) = (index & 1, index >> 1)
                var (aboveSum, leftSum) = (0, 0)
                for step in 0..<4 {
                    if hasAbove { aboveSum += Int(corner[2 * (across * 4 + step) + component - plane.stride]) }
                    if hasLeft { leftSum += Int(corner[(down * 4 + step) * plane.stride + component - 2]) }
                }
                // Where both exist, the upper right block uses only the samples above, and the lower left block only
                // those to the left.
                let mean: Int =
                    switch (hasAbove, hasLeft) {
                    case (true, true) where across == 1 && down == 0: (aboveSum + 2) >> 2
                    case (true, true) where across == 0 && down == 1: (leftSum + 2) >> 2
                    case (true, true): (aboveSum + leftSum + 4) >> 3
                    case (true, false): (aboveSum + 2) >> 2
                    case (false, true): (leftSum + 2) >> 2
                    case (false, false): 128
                    }
                for line in 0..<4 { memset(start + (down * 4 + line) * 8 + across * 4, Int32(mean), 4) }
            }
        }
    }
}
