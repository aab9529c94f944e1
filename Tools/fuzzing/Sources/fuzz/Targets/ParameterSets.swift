import H264
import MediaTypes

extension FuzzTarget {
    /// SPS, PPS and slice headers: the NAL units of a byte stream, in its order.
    static let parameterSets = FuzzTarget(name: "parameter-sets") { input in
        var sets = ParameterSets()
        var order = PictureOrder()
        for range in AnnexB.nalUnits(in: input) {
            let nalUnit = input[range]
            _ = try? sets.insert(nalUnit)
            if let slice = try? CodedSlice(nalUnit: nalUnit, parameterSets: sets),
                let sequence = sets.sequenceParameterSet(slice.header.sequenceParameterSetID)
            {
                _ = order.place(of: slice, sequence: sequence)
            }
            guard let header = try? SliceHeader(nalUnit: nalUnit, parameterSets: sets) else { continue }
            check(!isFirstOfNewPicture(previous: header, next: header), "a slice belongs to its own picture")
        }
        checkLimits(of: sets)
    }
}

private func checkLimits(of sets: ParameterSets) {
    check(sets.count <= 32 + 256, "there are at most 32 SPS and 256 PPS")
    check(
        sets.nalUnits.reduce(0) { $0 + $1.count } <= ParameterSets.totalLimit,
        "all parameter sets together keep their limit")
    for id in 0..<32 {
        guard let sequence = sets.sequenceParameterSet(UInt8(id)) else { continue }
        let (size, coded) = (sequence.size, sequence.codedSize)
        check(size.width > 0 && size.height > 0, "a picture has a size")
        check(size.width <= coded.width && size.height <= coded.height, "cropping makes a picture no larger")
        check(
            max(coded.width, coded.height) <= SequenceParameterSet.sizeLimit, "no side is longer than the limit")
    }
}
