extension SequenceParameterSet {
    /// The same SPS, for decoders that keep `count` reference frames (max_num_ref_frames and max_dec_frame_buffering).
    ///
    /// Nil if decoders of its level needn't have so much memory, or if it isn't one of Baseline in which output order
    /// equals decoding order and that says how many frames are buffered.
    public static func nalUnit(_ nalUnit: [UInt8], withReferenceFrames count: Int) -> [UInt8]? {
        // From level 1.2 on, decoders have room for four frames of the largest size (table A-1).
        guard (1...4).contains(count), let header = nalUnit.first,
            let old = try? SequenceParameterSet(nalUnit: nalUnit[...]), old.profileLevelID.levelIDC >= 12,
            old.profileLevelID.profileIDC == 66, old.pictureOrderCountType == 2,
            let buffered = old.usability?.maxBufferedPictures
        else { return nil }
        let bytes = EmulationPrevention.removed(from: nalUnit[...].dropFirst())
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
        // max_dec_frame_buffering is the last field before the stop bit, the lowest bit set in the last byte.
        let end = last * 8 + 7 - bytes[last].trailingZeroBitCount - length(buffered)
        var reader = BitReader(bytes)
        var writer = BitWriter(reserving: bytes.count)
        func copy(_ count: Int) throws(H264Error) {
            for _ in 0..<count { writer.flag(try reader.flag()) }
        }
        do {
            try copy(24)
            // seq_parameter_set_id, log2_max_frame_num_minus4, pic_order_cnt_type.
            for _ in 0..<3 { writer.unsignedExpGolomb(try reader.unsignedExpGolomb()) }
            _ = try reader.unsignedExpGolomb()
            writer.unsignedExpGolomb(UInt32(count))
            try copy(end - (bytes.count * 8 - reader.count))
            writer.unsignedExpGolomb(UInt32(max(buffered, count)))
        } catch {
            return nil
        }
        writer.trailingBits()
        var result: [UInt8] = []
        writer.append(header: header, to: &result)
        return result
    }

    /// The number of bits of ue(v).
    private static func length(_ value: Int) -> Int { 2 * (Int.bitWidth - (value + 1).leadingZeroBitCount) - 1 }
}
