/// The byte stream format (ITU-T H.264 Annex B): NAL units behind start codes.
public enum AnnexB {
    /// The start code that we write: the four-byte form.
    public static let startCode: [UInt8] = [0, 0, 0, 1]

    /// Where each NAL unit of a byte stream stands, without start codes and without zeros behind it.
    ///
    /// Takes start codes of three and four bytes, and skips what stands before the first one. Empty NAL units are left out.
    public static func nalUnits(in bytes: [UInt8]) -> [Range<Int>] {
        nalUnits(in: bytes[...])
    }

    /// Where each NAL unit of a byte stream stands, as indices of `bytes`, without start codes and zeros behind it.
    public static func nalUnits(in bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        var index = bytes.startIndex
        // Looks at every third byte while that is above 1: no start code can then cover it.
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
    /// The payload without `emulation_prevention_three_byte`s: at most the first `limit` bytes of the result.
    public static func removed(from payload: ArraySlice<UInt8>, limit: Int = .max) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(min(payload.count, max(0, limit)))
        remove(from: payload, limit: limit, into: &result)
        return result
    }

    /// The same, appended to `result`.
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

    /// The payload with `emulation_prevention_three_byte`s where a start code would otherwise occur.
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
