/// The byte stream format (ITU-T H.264 Annex B): each NAL unit follows a start code.
public enum AnnexB {
    /// The start code that this library writes: the four-byte form.
    public static let startCode: [UInt8] = [0, 0, 0, 1]

    /// The range of each NAL unit in a byte stream, without its start code and trailing zeros.
    ///
    /// Accepts start codes of three and four bytes, and skips any bytes before the first one. Leaves out empty NAL
    /// units.
    public static func nalUnits(in bytes: [UInt8]) -> [Range<Int>] {
        nalUnits(in: bytes[...])
    }

    /// The range of each NAL unit in a byte stream, as indices of `bytes`, without its start code and trailing zeros.
    public static func nalUnits(in bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        var index = bytes.startIndex
        // While every third byte is above 1, looks only at those: no start code can cover such a byte.
        while index + 2 < bytes.endIndex {
            let third = bytes[index + 2]
            if third > 1 {
                index += 3
            } else if third == 1, bytes[index] == 0, bytes[index + 1] == 0 {
                if let start { append(start..<index, of: bytes, to: &ranges) }
                index += 3
                start = index
            } else {
                index += 1
            }
        }
        if let start { append(start..<bytes.endIndex, of: bytes, to: &ranges) }
        return ranges
    }

    private static func append(_ range: Range<Int>, of bytes: ArraySlice<UInt8>, to ranges: inout [Range<Int>]) {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        if end > range.lowerBound { ranges.append(range.lowerBound..<end) }
    }
}

/// The bytes 03 that keep start codes from occurring inside a NAL unit (ITU-T H.264 section 7.4.1).
public enum EmulationPrevention {
    /// The payload without its `emulation_prevention_three_byte`s, cut to the first `limit` bytes.
    public static func removed(from payload: ArraySlice<UInt8>, limit: Int = .max) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(min(payload.count, max(0, limit)))
        remove(from: payload, limit: limit, into: &result)
        return result
    }

    /// Appends the payload without its `emulation_prevention_three_byte`s to `result`, until `result` has `limit`
    /// bytes.
    static func remove(from payload: ArraySlice<UInt8>, limit: Int = .max, into result: inout [UInt8]) {
        var zeros = 0
        for byte in payload {
            if result.count >= limit { break }
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
    }

    /// The payload with `emulation_prevention_three_byte`s inserted wherever a start code would otherwise occur.
    public static func added(to payload: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(payload.count + payload.count / 64)
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}
