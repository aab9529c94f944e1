import VideoEncoding

/// The slices that a picture is put together from, one after the other in memory that is used again for the next
/// picture.
struct SliceAssembly {
    /// Append a slice here, then call `endSlice`.
    var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = []
    private let list = NALUnitList(capacity: 256)

    init() {
        bytes.reserveCapacity(1 << 16)
        ranges.reserveCapacity(64)
    }

    var isEmpty: Bool { ranges.isEmpty }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
    }

    /// Appends a NAL unit that isn't a slice.
    mutating func append(_ nalUnit: [UInt8]) {
        bytes.append(contentsOf: nalUnit)
        endSlice()
    }

    /// Ends the slice that was appended to `bytes`.
    mutating func endSlice() { ranges.append((ranges.last?.upperBound ?? 0)..<bytes.count) }

    /// A picture of these slices, which is valid until the next `removeAll`.
    func picture(isIDR: Bool = false) throws(VideoEncodingError) -> EncodedPicture {
        list.removeAll()
        let isWhole = bytes.withUnsafeBufferPointer { all in
            // The array isn't changed before the next picture, so its storage stays where it is until then.
            ranges.allSatisfy { range in
                list.append(UnsafeBufferPointer(rebasing: all[range]))
            }
        }
        guard isWhole else { throw .notEncoded(reason: "\(ranges.count) slices in a picture") }
        return list.picture(isIDR: isIDR, byteCount: bytes.count)
    }
}
