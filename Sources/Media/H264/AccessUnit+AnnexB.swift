public import MediaTypes

extension AccessUnit {
    /// One access unit as an encoder gives it: an Annex B byte stream, with start codes of three or four bytes. An IDR one
    /// begins with its SPS and PPS.
    ///
    /// - Parameter captureTime: when the picture was taken, on this machine's CLOCK_MONOTONIC; nil where that isn't known.
    /// - Throws: ``H264Error/noNALUnit``, or ``H264Error/severalPictures(count:)`` where it is more than one access unit, as a
    ///   whole file is.
    public init(annexB: [UInt8], captureTime: MonotonicTime? = nil) throws(H264Error) {
        let found = AnnexB.nalUnits(in: annexB).filter { !$0.isEmpty }
        guard !found.isEmpty else { throw .noNALUnit }
        let pictures = Self.pictureCount(annexB, found)
        guard pictures <= 1 else { throw .severalPictures(count: pictures) }
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

    /// How many primary coded pictures the NAL units hold. A slice begins one where it is the first, where a NAL unit that stands
    /// between access units is before it, or where its first macroblock is the picture's.
    private static func pictureCount(_ bytes: [UInt8], _ nalUnits: [Range<Int>]) -> Int {
        var count = 0
        var isBetweenPictures = true
        for range in nalUnits {
            guard let type = NALUnitHeader(bytes[range.lowerBound])?.type else { continue }
            if type.startsAccessUnit { isBetweenPictures = true }
            guard type.beginsWithSliceHeader else { continue }
            // first_mb_in_slice, ue(v), is 0 where its first bit is 1 (ITU-T H.264 section 7.3.3).
            let isFirstSlice = range.count > 1 && bytes[range.lowerBound + 1] & 0x80 != 0
            if isBetweenPictures || isFirstSlice { count += 1 }
            isBetweenPictures = false
        }
        return count
    }
}
