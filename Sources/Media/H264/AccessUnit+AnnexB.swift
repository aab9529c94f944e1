public import MediaTypes

extension AccessUnit {
    /// One access unit as an encoder gives it: an Annex B byte stream, with start codes of three or four bytes. An IDR one
    /// begins with its SPS and PPS. Nil where there is no NAL unit in it.
    ///
    /// - Parameter captureTime: when the picture was taken, on this machine's CLOCK_MONOTONIC; nil where that isn't known.
    public init?(annexB: [UInt8], captureTime: MonotonicTime?) {
        let found = AnnexB.nalUnits(in: annexB).filter { !$0.isEmpty }
        guard !found.isEmpty else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(annexB.count + found.count)
        var nalUnits: [Range<Int>] = []
        for range in found {
            bytes += AnnexB.startCode
            nalUnits.append(bytes.count..<bytes.count + range.count)
            bytes += annexB[range]
        }
        let isIDR = nalUnits.contains { NALUnitHeader(bytes[$0.lowerBound])?.type == .idrSlice }
        self.init(bytes: bytes, nalUnits: nalUnits, isIDR: isIDR, captureTime: captureTime)
    }
}
