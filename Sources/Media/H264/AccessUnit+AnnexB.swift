public import MediaTypes

extension AccessUnit {
    /// Creates one access unit from an Annex B byte stream, as an encoder outputs it.
    ///
    /// Start codes may have three or four bytes. An IDR access unit must begin with its SPS and PPS.
    ///
    /// - Parameter captureTime: The time at which the picture was captured, on this machine's CLOCK_MONOTONIC, or nil
    ///   if it isn't known.
    /// - Throws: ``H264Error/noNALUnit``, or ``H264Error/severalPictures(count:)`` if the stream has more than one
    ///   access unit, as a whole file does.
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

    /// The number of primary coded pictures in the NAL units.
    ///
    /// A slice begins a new picture if it is the first slice, if it follows a NAL unit that starts an access unit, or
    /// if it holds the picture's first macroblock.
    private static func pictureCount(_ bytes: [UInt8], _ nalUnits: [Range<Int>]) -> Int {
        var count = 0
        var isBetweenPictures = true
        for range in nalUnits {
            guard let type = NALUnitHeader(bytes[range.lowerBound])?.type else { continue }
            if type.startsAccessUnit { isBetweenPictures = true }
            guard type.beginsWithSliceHeader else { continue }
            // first_mb_in_slice, ue(v), is 0 if its first bit is 1 (ITU-T H.264 section 7.3.3).
            let isFirstSlice = range.count > 1 && bytes[range.lowerBound + 1] & 0x80 != 0
            if isBetweenPictures || isFirstSlice { count += 1 }
            isBetweenPictures = false
        }
        return count
    }
}
