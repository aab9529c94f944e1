/// The kind of coefficient block to write (ITU-T H.264 section 7.3.5.3.2).
enum CoefficientBlock {
    /// All sixteen coefficients of a luma block, or the sixteen DC coefficients of Intra_16x16.
    case whole
    /// The fifteen AC coefficients of a block whose DC coefficient is coded separately; index 0 is skipped.
    case withoutDC
    /// The four DC coefficients of 4:2:0 chroma, at indices 0...3.
    case chromaDC

    var positions: Range<Int> {
        switch self {
        case .whole: 0..<16
        case .withoutDC: 1..<16
        case .chromaDC: 0..<4
        }
    }
}

extension BitWriter {
    /// Writes residual_block_cavlc() (section 9.2), and returns the number of coefficients.
    ///
    /// `levels` are in scan order; `neighbours` is nC. No level may be outside -2,000...2,000.
    @discardableResult
    mutating func residualBlock(_ levels: SIMD16<Int16>, _ block: CoefficientBlock, neighbours: Int) -> Int {
        let positions = block.positions
        var values = SIMD16<Int16>()
        var runs = SIMD16<UInt8>()
        var total = 0
        // From the last coefficient to the first, each with the number of zeros before it.
        var position = positions.upperBound - 1
        while position >= positions.lowerBound, levels[position] == 0 { position -= 1 }
        let last = position
        while position >= positions.lowerBound {
            values[total] = levels[position]
            position -= 1
            var run: UInt8 = 0
            while position >= positions.lowerBound, levels[position] == 0 {
                run += 1
                position -= 1
            }
            runs[total] = run
            total += 1
        }
        var ones = 0
        while ones < min(3, total), abs(values[ones]) == 1 { ones += 1 }
        let isChromaDC = block == .chromaDC
        code(CoefficientCodes.token(total: total, ones: ones, neighbours: isChromaDC ? -1 : neighbours))
        if total == 0 { return 0 }
        for index in 0..<ones { flag(values[index] < 0) }
        self.levels(values, from: ones, total: total)
        var zeros = last - positions.lowerBound + 1 - total
        if total < positions.count {
            code(
                isChromaDC
                    ? CoefficientCodes.chromaZeros(zeros, total: total) : CoefficientCodes.zeros(zeros, total: total))
        }
        var index = 0
        while zeros > 0, index < total - 1 {
            let run = Int(runs[index])
            code(CoefficientCodes.run(run, left: zeros))
            zeros -= run
            index += 1
        }
        return total
    }

    /// Writes level_prefix and level_suffix of all levels except the trailing ones (section 9.2.2.1).
    private mutating func levels(_ values: SIMD16<Int16>, from ones: Int, total: Int) {
        var suffixCount = total > 10 && ones < 3 ? 1 : 0
        for index in ones..<total {
            let value = Int(values[index])
            var level = value > 0 ? 2 * value - 2 : -2 * value - 1
            // With fewer than three trailing ones, the first of the other levels can't be 1 or -1, so its code starts 2
            // lower.
            if index == ones, ones < 3 { level -= 2 }
            let escape = suffixCount == 0 ? 30 : 15 << suffixCount
            if level >= escape {
                bits(1, count: 16)
                bits(UInt32(clamping: level - escape), count: 12)
            } else if suffixCount == 0, level >= 14 {
                bits(1, count: 15)
                bits(UInt32(level - 14), count: 4)
            } else {
                bits(1, count: (level >> suffixCount) + 1)
                bits(UInt32(level) & ((1 << UInt32(suffixCount)) - 1), count: suffixCount)
            }
            if suffixCount == 0 { suffixCount = 1 }
            if abs(value) > 3 << (suffixCount - 1), suffixCount < 6 { suffixCount += 1 }
        }
    }

    private mutating func code(_ word: CodeWord) { bits(word.bits, count: word.count) }
}
