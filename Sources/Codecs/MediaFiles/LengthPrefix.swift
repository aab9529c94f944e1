import MediaTypes

extension CodedFrame {
    /// The access unit with a four-byte length before each NAL unit instead of a start code (ISO/IEC 14496-15 section
    /// 4.3.3).
    ///
    /// libavformat would make a copy of the Annex B form to convert it. Here the conversion happens in place if the
    /// memory is not shared and the NAL units are separated only by four-byte start codes.
    consuming func lengthPrefixed() -> [UInt8] {
        let ranges = units
        var bytes = Self.bytes(self)
        var end = 0
        let isDense = ranges.allSatisfy { range in
            defer { end = range.upperBound }
            return range.lowerBound == end + 4
        }
        if isDense, end == bytes.count {
            for range in ranges { write(range.count, to: &bytes, at: range.lowerBound - 4) }
            return bytes
        }
        var whole: [UInt8] = []
        whole.reserveCapacity(ranges.reduce(0) { $0 + $1.count + 4 })
        for range in ranges {
            whole += [0, 0, 0, 0]
            write(range.count, to: &whole, at: whole.count - 4)
            whole += bytes[range]
        }
        return whole
    }

    /// Consumes the whole value. A remaining part would still refer to the bytes and cause a copy on write.
    private static func bytes(_ unit: consuming CodedFrame) -> [UInt8] { unit.bytes }
}

private func write(_ length: Int, to bytes: inout [UInt8], at place: Int) {
    for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
}
