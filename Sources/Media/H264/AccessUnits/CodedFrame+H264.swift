public import MediaTypes

extension CodedFrame {
    /// Creates a frame from an access unit in Annex B form, whose NAL units are at `units`. An IDR picture's format is
    /// what its first SPS says.
    public init(h264 bytes: [UInt8], units: [Range<Int>], captureTime: MonotonicTime?) {
        let isIDR = units.contains { bytes.typeOfNALUnit(at: $0) == .idrSlice }
        self.init(
            bytes: bytes, units: units, isRandomAccess: isIDR, captureTime: captureTime,
            format: isIDR ? TrackFormat(h264: bytes, units: units) : nil)
    }

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
        var units: [Range<Int>] = []
        for range in found {
            bytes += AnnexB.startCode
            units.append(bytes.count..<bytes.count + range.count)
            bytes += annexB[range]
        }
        self.init(h264: bytes, units: units, captureTime: captureTime)
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

extension TrackFormat {
    /// The format that the first SPS among `units` of `bytes` declares; nil if there is none or it is too short.
    init?(h264 bytes: [UInt8], units: [Range<Int>]) {
        guard let range = units.first(where: { bytes.typeOfNALUnit(at: $0) == .sequenceParameterSet }), range.count >= 4
        else { return nil }
        // 244 is High 4:4:4 Predictive, 44 CAVLC 4:4:4 Intra (ITU-T H.264 sections A.2.8 and A.2.11).
        let isYUV444 = [244, 44].contains(bytes[range.lowerBound + 1])
        self.init(
            codec: .h264, chroma: isYUV444 ? .yuv444 : .yuv420,
            size: (try? SequenceParameterSet(nalUnit: bytes[range]))?.size)
    }
}

extension [UInt8] {
    /// The type of the NAL unit at `range`; nil if there is none, or not all of it.
    fileprivate func typeOfNALUnit(at range: Range<Int>) -> NALUnitType? {
        guard indices.contains(range.lowerBound), range.upperBound <= count else { return nil }
        return NALUnitHeader(self[range.lowerBound])?.type
    }
}
