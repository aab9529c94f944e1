import H264
import MediaTypes

/// A byte stream's access units (ITU-T H.264 section 7.4.1.2), as far as its slice headers can be read.
func accessUnits(of stream: [UInt8]) -> [CodedFrame] {
    var sets = ParameterSets()
    var units: [CodedFrame] = []
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    var previous: SliceHeader?

    func end() {
        if !ranges.isEmpty {
            let time = MonotonicTime(nanoseconds: Int64(units.count) * 1_000_000)
            units.append(CodedFrame(h264: bytes, units: ranges, captureTime: time))
        }
        (bytes, ranges, previous) = ([], [], nil)
    }

    for range in AnnexB.nalUnits(in: stream) {
        let unit = stream[range]
        guard let first = unit.first, let header = NALUnitHeader(first) else { continue }
        if header.type.startsAccessUnit, previous != nil { end() }
        if header.type.beginsWithSliceHeader, let slice = try? SliceHeader(nalUnit: unit, parameterSets: sets) {
            if let previous, isFirstOfNewPicture(previous: previous, next: slice) { end() }
            previous = slice
        }
        _ = try? sets.insert(unit)
        bytes += AnnexB.startCode
        ranges.append(bytes.count..<bytes.count + unit.count)
        bytes += unit
    }
    end()
    return units
}
