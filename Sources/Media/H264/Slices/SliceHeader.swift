/// The part of a slice header that tells one picture from the next (ITU-T H.264 sections 7.3.3 and 7.4.1.2.4).
public struct SliceHeader: Hashable, Sendable {
    /// nal_ref_idc of its NAL unit.
    public let referenceIDC: UInt8
    /// IdrPicFlag.
    public let isIDR: Bool
    /// first_mb_in_slice.
    public let firstMacroblock: Int
    /// slice_type, 0...9.
    public let sliceType: Int
    /// pic_parameter_set_id.
    public let pictureParameterSetID: UInt8
    /// seq_parameter_set_id of the slice's PPS.
    public let sequenceParameterSetID: UInt8
    /// frame_num.
    public let frameNumber: UInt32
    /// field_pic_flag.
    public let isField: Bool
    /// bottom_field_flag.
    public let isBottomField: Bool
    /// idr_pic_id; 0 unless `isIDR`.
    public let idrPictureID: Int
    /// pic_order_cnt_type of the slice's SPS.
    public let pictureOrderCountType: Int
    /// pic_order_cnt_lsb.
    public let pictureOrderCount: UInt32
    /// delta_pic_order_cnt_bottom.
    public let deltaPictureOrderBottom: Int32
    /// delta_pic_order_cnt[0].
    public let deltaPictureOrder0: Int32
    /// delta_pic_order_cnt[1].
    public let deltaPictureOrder1: Int32
    /// redundant_pic_cnt; if above 0, the slice belongs to a redundant coded picture.
    public let redundantPictureCount: Int

    /// The longest header that is read here, in bytes: every code has at most 63 bits.
    private static let headerLimit = 96

    /// Reads the header of a slice NAL unit without its start code. `parameterSets` must hold the sets that it refers
    /// to. Throws ``H264Error`` if one of these sets is missing, if it is another NAL unit, or if the header is
    /// truncated or has a value out of range.
    public init(nalUnit: ArraySlice<UInt8>, parameterSets: ParameterSets) throws(H264Error) {
        guard let first = nalUnit.first else { throw .truncated }
        guard let header = NALUnitHeader(first), header.type.beginsWithSliceHeader else {
            throw .unexpectedType(NALUnitHeader(first)?.type)
        }
        var reader = BitReader(EmulationPrevention.removed(from: nalUnit.dropFirst(), limit: Self.headerLimit))
        referenceIDC = header.referenceIDC
        isIDR = header.type == .idrSlice
        let macroblockLimit = (SequenceParameterSet.sizeLimit / 16) * (SequenceParameterSet.sizeLimit / 16)
        firstMacroblock = try reader.unsignedExpGolomb("first_mb_in_slice", atMost: macroblockLimit - 1)
        sliceType = try reader.unsignedExpGolomb("slice_type", atMost: 9)
        pictureParameterSetID = UInt8(
            truncatingIfNeeded: try reader.unsignedExpGolomb("pic_parameter_set_id", atMost: 255))
        guard let picture = parameterSets.pictureParameterSet(pictureParameterSetID) else {
            throw .missingParameterSet(kind: .pictureParameterSet, id: pictureParameterSetID)
        }
        sequenceParameterSetID = picture.sequenceParameterSetID
        guard let sequence = parameterSets.sequenceParameterSet(sequenceParameterSetID) else {
            throw .missingParameterSet(kind: .sequenceParameterSet, id: sequenceParameterSetID)
        }
        if sequence.hasSeparateColourPlanes { try reader.skip(2) }
        frameNumber = try reader.bits(sequence.frameNumberBits)
        var field = false
        var bottom = false
        if !sequence.isFrameOnly {
            field = try reader.flag()
            if field { bottom = try reader.flag() }
        }
        isField = field
        isBottomField = bottom
        idrPictureID = isIDR ? try reader.unsignedExpGolomb("idr_pic_id", atMost: 65_535) : 0
        pictureOrderCountType = sequence.pictureOrderCountType
        var count: UInt32 = 0
        var deltas: (bottom: Int32, first: Int32, second: Int32) = (0, 0, 0)
        if pictureOrderCountType == 0 {
            count = try reader.bits(sequence.pictureOrderCountBits)
            if picture.hasBottomFieldPictureOrder, !field { deltas.bottom = try reader.signedExpGolomb() }
        } else if pictureOrderCountType == 1, !sequence.deltaPictureOrderAlwaysZero {
            deltas.first = try reader.signedExpGolomb()
            if picture.hasBottomFieldPictureOrder, !field { deltas.second = try reader.signedExpGolomb() }
        }
        pictureOrderCount = count
        deltaPictureOrderBottom = deltas.bottom
        deltaPictureOrder0 = deltas.first
        deltaPictureOrder1 = deltas.second
        redundantPictureCount =
            picture.hasRedundantPictures ? try reader.unsignedExpGolomb("redundant_pic_cnt", atMost: 127) : 0
    }
}

/// Whether `next` is the first slice of a new primary coded picture after `previous` (ITU-T H.264 section 7.4.1.2.4).
public func isFirstOfNewPicture(previous: SliceHeader, next: SliceHeader) -> Bool {
    if previous.frameNumber != next.frameNumber || previous.pictureParameterSetID != next.pictureParameterSetID
        || previous.sequenceParameterSetID != next.sequenceParameterSetID || previous.isField != next.isField
        || previous.isBottomField != next.isBottomField
    {
        return true
    }
    if previous.referenceIDC != next.referenceIDC, previous.referenceIDC == 0 || next.referenceIDC == 0 { return true }
    if previous.isIDR != next.isIDR { return true }
    if previous.isIDR, previous.idrPictureID != next.idrPictureID { return true }
    // The fields that the stream's pic_order_cnt_type doesn't use are always 0.
    return previous.pictureOrderCountType != next.pictureOrderCountType
        || previous.pictureOrderCount != next.pictureOrderCount
        || previous.deltaPictureOrderBottom != next.deltaPictureOrderBottom
        || previous.deltaPictureOrder0 != next.deltaPictureOrder0
        || previous.deltaPictureOrder1 != next.deltaPictureOrder1
}
