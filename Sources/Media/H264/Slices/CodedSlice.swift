/// A slice header up to slice_qp_delta, including the fields that `SliceHeader` leaves out because live streaming
/// doesn't need them (ITU-T H.264 sections 7.3.3 to 7.3.3.3).
public struct CodedSlice: Hashable, Sendable {
    /// The part that tells one picture from the next.
    public let header: SliceHeader
    /// SliceQPY: 26 + pic_init_qp_minus26 + slice_qp_delta. Individual macroblocks may differ from it.
    public let qp: Int
    /// Whether memory_management_control_operation 5 marks all reference pictures as unused, as an IDR picture does.
    public let clearsReferences: Bool

    /// The longest header that the specification allows, in bytes: two lists with 33 modifications and 32 weights each.
    private static let headerLimit = 2048

    /// Reads the header of a slice NAL unit without its start code. `parameterSets` must hold the sets that it refers
    /// to. Throws ``H264Error`` if one of these sets is missing, or if the header is truncated or has a value out of
    /// range.
    public init(nalUnit: ArraySlice<UInt8>, parameterSets: ParameterSets) throws(H264Error) {
        header = try SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets)
        guard let picture = parameterSets.pictureParameterSet(header.pictureParameterSetID),
            let sequence = parameterSets.sequenceParameterSet(header.sequenceParameterSetID)
        else { throw .missingParameterSet(kind: .pictureParameterSet, id: header.pictureParameterSetID) }
        var reader = BitReader(EmulationPrevention.removed(from: nalUnit.dropFirst(), limit: Self.headerLimit))
        try Self.skipFront(header, picture, sequence, &reader)
        let kind = header.kind
        var references0 = picture.defaultReferences0
        var references1 = picture.defaultReferences1
        if kind == .b { try reader.skip(1) }
        if kind == .p || kind == .sp || kind == .b, try reader.flag() {
            references0 = 1 + (try reader.unsignedExpGolomb("num_ref_idx_l0_active_minus1", atMost: 31))
            if kind == .b {
                references1 = 1 + (try reader.unsignedExpGolomb("num_ref_idx_l1_active_minus1", atMost: 31))
            }
        }
        if kind == .p || kind == .sp || kind == .b { try Self.skipListChanges(&reader) }
        if kind == .b { try Self.skipListChanges(&reader) }
        let hasChroma = sequence.chromaFormatIDC != 0 && !sequence.hasSeparateColourPlanes
        if (kind == .p || kind == .sp) && picture.usesWeightedPrediction {
            try Self.skipWeights([references0], hasChroma: hasChroma, &reader)
        } else if kind == .b && picture.weightedBipredictionIDC == 1 {
            try Self.skipWeights([references0, references1], hasChroma: hasChroma, &reader)
        }
        clearsReferences = header.referenceIDC == 0 ? false : try Self.readMarking(isIDR: header.isIDR, &reader)
        if picture.usesCABAC, kind != .i, kind != .si {
            _ = try reader.unsignedExpGolomb("cabac_init_idc", atMost: 2)
        }
        let value = Int64(picture.initialQP) + Int64(try reader.signedExpGolomb())
        // QpBdOffsetY is 6 for each bit above 8, and there are at most 6 such bits.
        guard (-36...51).contains(value) else { throw .outOfRange(element: "the quantizer", value: value) }
        qp = Int(value)
    }

    /// Skips the fields that `SliceHeader` has read.
    private static func skipFront(
        _ header: SliceHeader, _ picture: PictureParameterSet, _ sequence: SequenceParameterSet,
        _ reader: inout BitReader
    ) throws(H264Error) {
        for _ in 0..<3 { _ = try reader.unsignedExpGolomb() }
        if sequence.hasSeparateColourPlanes { try reader.skip(2) }
        try reader.skip(sequence.frameNumberBits)
        if !sequence.isFrameOnly { try reader.skip(header.isField ? 2 : 1) }
        if header.isIDR { _ = try reader.unsignedExpGolomb() }
        let hasBottom = picture.hasBottomFieldPictureOrder && !header.isField
        if sequence.pictureOrderCountType == 0 {
            try reader.skip(sequence.pictureOrderCountBits)
            if hasBottom { _ = try reader.signedExpGolomb() }
        } else if sequence.pictureOrderCountType == 1, !sequence.deltaPictureOrderAlwaysZero {
            _ = try reader.signedExpGolomb()
            if hasBottom { _ = try reader.signedExpGolomb() }
        }
        if picture.hasRedundantPictures { _ = try reader.unsignedExpGolomb() }
    }

    /// Skips ref_pic_list_modification() of one list (section 7.3.3.1).
    private static func skipListChanges(_ reader: inout BitReader) throws(H264Error) {
        guard try reader.flag() else { return }
        // Each iteration reads at least two bits, so the length of the NAL unit bounds the loop.
        while try reader.unsignedExpGolomb("modification_of_pic_nums_idc", atMost: 3) != 3 {
            _ = try reader.unsignedExpGolomb()
        }
    }

    /// Skips pred_weight_table() for lists with these numbers of references (section 7.3.3.2).
    private static func skipWeights(
        _ references: [Int], hasChroma: Bool, _ reader: inout BitReader
    ) throws(H264Error) {
        _ = try reader.unsignedExpGolomb("luma_log2_weight_denom", atMost: 7)
        if hasChroma { _ = try reader.unsignedExpGolomb("chroma_log2_weight_denom", atMost: 7) }
        for count in references {
            for _ in 0..<count {
                if try reader.flag() { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
                if hasChroma, try reader.flag() { for _ in 0..<4 { _ = try reader.signedExpGolomb() } }
            }
        }
    }

    /// Reads dec_ref_pic_marking() (section 7.3.3.3), and returns whether it contains operation 5.
    private static func readMarking(isIDR: Bool, _ reader: inout BitReader) throws(H264Error) -> Bool {
        if isIDR {
            try reader.skip(2)
            return false
        }
        guard try reader.flag() else { return false }
        var clears = false
        while true {
            let operation = try reader.unsignedExpGolomb("memory_management_control_operation", atMost: 6)
            switch operation {
            case 0: return clears
            case 3:
                for _ in 0..<2 { _ = try reader.unsignedExpGolomb() }
            case 5: clears = true
            default: _ = try reader.unsignedExpGolomb()
            }
        }
    }
}

/// The prediction that a slice may use (ITU-T H.264 table 7-6).
public enum SliceKind: Int, Sendable, CaseIterable, CustomStringConvertible {
    case p = 0
    case b = 1
    case i = 2
    case sp = 3
    case si = 4

    public var description: String {
        switch self {
        case .p: "P"
        case .b: "B"
        case .i: "I"
        case .sp: "SP"
        case .si: "SI"
        }
    }
}

extension SliceHeader {
    /// slice_type modulo 5: without the indication that all slices of the picture have the same type.
    public var kind: SliceKind { SliceKind(rawValue: sliceType % 5) ?? .i }
}
