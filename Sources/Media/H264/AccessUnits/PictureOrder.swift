public import MediaTypes

/// Computes the output order of pictures (PicOrderCnt, ITU-T H.264 section 8.2.1) from their slices in decoding order.
///
/// Takes the first slice of each picture. Counts can be compared only within one run, which extends from an IDR
/// picture, or a picture that clears all references, to the next such picture.
public struct PictureOrder: Sendable {
    private var run: UInt64 = 0
    /// prevPicOrderCntMsb and prevPicOrderCntLsb, from the last reference picture.
    private var highBits: Int64 = 0
    private var lowBits: Int64 = 0
    /// prevFrameNum, and the FrameNumOffset of the previous picture.
    private var lastFrameNumber: Int64 = 0
    private var frameNumberOffset: Int64 = 0
    private var clearedBefore = false

    /// Creates a counter that has seen no picture yet.
    public init() {}

    /// The place of the picture with this first slice; `sequence` is the SPS that the slice refers to.
    public mutating func place(of slice: CodedSlice, sequence: SequenceParameterSet) -> FrameFacts.Place {
        let header = slice.header
        if header.isIDR || slice.clearsReferences { run &+= 1 }
        let count: Int64
        switch sequence.pictureOrderCountType {
        case 0: count = fromLowBits(header, sequence, clears: slice.clearsReferences)
        case 1: count = fromCycle(header, sequence)
        default: count = fromFrameNumber(header, sequence)
        }
        clearedBefore = slice.clearsReferences
        // A picture that clears all references has order count 0 itself (section 8.2.1).
        return FrameFacts.Place(run: run, count: slice.clearsReferences ? 0 : count)
    }

    /// Type 0 (section 8.2.1.1).
    private mutating func fromLowBits(
        _ header: SliceHeader, _ sequence: SequenceParameterSet, clears: Bool
    ) -> Int64 {
        if header.isIDR {
            highBits = 0
            lowBits = 0
        }
        let low = Int64(header.pictureOrderCount)
        let limit = Int64(1) << Int64(sequence.pictureOrderCountBits)
        var high = highBits
        if low < lowBits, lowBits - low >= limit / 2 {
            high &+= limit
        } else if low > lowBits, low - lowBits > limit / 2 {
            high &-= limit
        }
        let top = high &+ low
        let count = header.isField ? top : min(top, top &+ Int64(header.deltaPictureOrderBottom))
        if clears {
            highBits = 0
            lowBits = header.isBottomField ? 0 : top &- count
        } else if header.referenceIDC != 0 {
            highBits = high
            lowBits = low
        }
        return count
    }

    /// Returns FrameNumOffset + frame_num, where FrameNumOffset counts how far frame_num has wrapped around.
    private mutating func advance(_ header: SliceHeader, _ sequence: SequenceParameterSet) -> Int64 {
        let number = Int64(header.frameNumber)
        if clearedBefore {
            lastFrameNumber = 0
            frameNumberOffset = 0
        }
        if header.isIDR {
            frameNumberOffset = 0
        } else if lastFrameNumber > number {
            frameNumberOffset &+= Int64(1) << Int64(sequence.frameNumberBits)
        }
        lastFrameNumber = number
        return frameNumberOffset &+ number
    }

    /// Type 1 (section 8.2.1.2).
    private mutating func fromCycle(_ header: SliceHeader, _ sequence: SequenceParameterSet) -> Int64 {
        var number = advance(header, sequence)
        guard let cycle = sequence.pictureOrderCycle else { return number }
        let length = Int64(cycle.references.count)
        if length == 0 { number = 0 }
        let isReference = header.referenceIDC != 0
        if !isReference, number > 0 { number -= 1 }
        var expected: Int64 = 0
        if number > 0, length > 0 {
            let (cycles, place) = (number - 1).quotientAndRemainder(dividingBy: length)
            let sum = cycle.references.reduce(Int64(0)) { $0 &+ Int64($1) }
            expected = cycles &* sum
            for offset in cycle.references.prefix(Int(place) + 1) { expected &+= Int64(offset) }
        }
        if !isReference { expected &+= Int64(cycle.nonReference) }
        let top = expected &+ Int64(header.deltaPictureOrder0)
        let bottom = expected &+ Int64(cycle.bottom)
        if header.isBottomField { return bottom &+ Int64(header.deltaPictureOrder0) }
        return header.isField ? top : min(top, top &+ Int64(cycle.bottom) &+ Int64(header.deltaPictureOrder1))
    }

    /// Type 2: output order is decoding order (section 8.2.1.3).
    private mutating func fromFrameNumber(_ header: SliceHeader, _ sequence: SequenceParameterSet) -> Int64 {
        let number = 2 &* advance(header, sequence)
        return header.referenceIDC == 0 ? number &- 1 : number
    }
}
