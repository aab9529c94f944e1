/// The fields of a picture parameter set that this library needs (ITU-T H.264 section 7.3.2.2).
public struct PictureParameterSet: Hashable, Sendable {
    /// pic_parameter_set_id.
    public let id: UInt8
    /// seq_parameter_set_id, 0...31.
    public let sequenceParameterSetID: UInt8
    /// entropy_coding_mode_flag: CABAC instead of CAVLC.
    public let usesCABAC: Bool
    /// bottom_field_pic_order_in_frame_present_flag.
    public let hasBottomFieldPictureOrder: Bool
    /// num_slice_groups_minus1 + 1, 1...8. Above 1, macroblock order is flexible (Baseline, not Constrained Baseline).
    public let sliceGroups: Int
    /// num_ref_idx_l0_default_active_minus1 + 1, 1...32.
    public let defaultReferences0: Int
    /// num_ref_idx_l1_default_active_minus1 + 1, 1...32.
    public let defaultReferences1: Int
    /// weighted_pred_flag: P and SP slices carry prediction weights.
    public let usesWeightedPrediction: Bool
    /// weighted_bipred_idc; if it is 1, B slices carry prediction weights.
    public let weightedBipredictionIDC: UInt8
    /// 26 + pic_init_qp_minus26: the quantizer to which slices add their slice_qp_delta.
    public let initialQP: Int
    /// deblocking_filter_control_present_flag: slice headers control the deblocking filter.
    public let hasDeblockingControl: Bool
    /// constrained_intra_pred_flag: intra macroblocks are not predicted from inter macroblocks.
    public let hasConstrainedIntraPrediction: Bool
    /// redundant_pic_cnt_present_flag.
    public let hasRedundantPictures: Bool
    /// chroma_qp_index_offset, -12...12.
    public let chromaQPIndexOffset: Int

    /// Reads a PPS NAL unit, given without its start code. Throws ``H264Error`` if it is another NAL unit, is
    /// truncated, or has a value out of range.
    public init(nalUnit: ArraySlice<UInt8>) throws(H264Error) {
        guard let first = nalUnit.first else { throw .truncated }
        guard let header = NALUnitHeader(first), header.type == .pictureParameterSet else {
            throw .unexpectedType(NALUnitHeader(first)?.type)
        }
        var reader = BitReader(EmulationPrevention.removed(from: nalUnit.dropFirst()))
        id = UInt8(truncatingIfNeeded: try reader.unsignedExpGolomb("pic_parameter_set_id", atMost: 255))
        sequenceParameterSetID = UInt8(
            truncatingIfNeeded: try reader.unsignedExpGolomb("seq_parameter_set_id", atMost: 31))
        usesCABAC = try reader.flag()
        hasBottomFieldPictureOrder = try reader.flag()
        sliceGroups = 1 + (try reader.unsignedExpGolomb("num_slice_groups_minus1", atMost: 7))
        if sliceGroups > 1 { try Self.skipSliceGroups(count: sliceGroups, &reader) }
        defaultReferences0 = 1 + (try reader.unsignedExpGolomb("num_ref_idx_l0_default_active_minus1", atMost: 31))
        defaultReferences1 = 1 + (try reader.unsignedExpGolomb("num_ref_idx_l1_default_active_minus1", atMost: 31))
        usesWeightedPrediction = try reader.flag()
        weightedBipredictionIDC = UInt8(truncatingIfNeeded: try reader.bits(2))
        // Samples of more than 8 bits allow values below 0, by 6 for each extra bit; -62 is the lower bound (section
        // 7.4.2.2).
        initialQP = 26 + (try reader.signedExpGolomb("pic_init_qp_minus26", within: -62...25))
        // pic_init_qs_minus26
        _ = try reader.signedExpGolomb()
        chromaQPIndexOffset = try reader.signedExpGolomb("chroma_qp_index_offset", within: -12...12)
        hasDeblockingControl = try reader.flag()
        hasConstrainedIntraPrediction = try reader.flag()
        hasRedundantPictures = try reader.flag()
    }

    private static func skipSliceGroups(count: Int, _ reader: inout BitReader) throws(H264Error) {
        let mapUnitLimit = (SequenceParameterSet.sizeLimit / 16) * (SequenceParameterSet.sizeLimit / 16)
        switch try reader.unsignedExpGolomb("slice_group_map_type", atMost: 6) {
        case 0:
            for _ in 0..<count { _ = try reader.unsignedExpGolomb() }
        case 2:
            for _ in 0..<(count - 1) * 2 { _ = try reader.unsignedExpGolomb() }
        case 3, 4, 5:
            try reader.skip(1)
            _ = try reader.unsignedExpGolomb()
        case 6:
            let units = 1 + (try reader.unsignedExpGolomb("pic_size_in_map_units_minus1", atMost: mapUnitLimit - 1))
            // Ceil(Log2(num_slice_groups)) bits each; the length of the NAL unit bounds the total.
            let bits = count > 4 ? 3 : count > 2 ? 2 : 1
            try reader.skip(units * bits)
        default:
            break
        }
    }
}
