/// `nal_unit_type`: the kind of data in a NAL unit (ITU-T H.264 table 7-1).
public struct NALUnitType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// 0...31.
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A slice of a picture that is not an IDR picture.
    public static let nonIDRSlice = NALUnitType(rawValue: 1)
    /// The header and motion vectors of a slice with data partitioning (Extended profile).
    public static let dataPartitionA = NALUnitType(rawValue: 2)
    /// A slice of an IDR picture.
    public static let idrSlice = NALUnitType(rawValue: 5)
    /// SEI.
    public static let supplementalEnhancementInformation = NALUnitType(rawValue: 6)
    /// SPS.
    public static let sequenceParameterSet = NALUnitType(rawValue: 7)
    /// PPS.
    public static let pictureParameterSet = NALUnitType(rawValue: 8)
    /// AUD.
    public static let accessUnitDelimiter = NALUnitType(rawValue: 9)
    /// End of sequence: the next picture is an IDR picture.
    public static let endOfSequence = NALUnitType(rawValue: 10)
    /// End of stream.
    public static let endOfStream = NALUnitType(rawValue: 11)
    /// Filler data.
    public static let fillerData = NALUnitType(rawValue: 12)

    /// Whether it holds a slice of the primary coded picture, or a partition of one (a VCL NAL unit).
    public var isSlice: Bool { (1...5).contains(rawValue) }
    /// Whether it begins with a slice header.
    public var beginsWithSliceHeader: Bool { rawValue == 1 || rawValue == 2 || rawValue == 5 }
    /// Whether it is an SPS or a PPS.
    public var isParameterSet: Bool { rawValue == 7 || rawValue == 8 }
    /// Whether the specification leaves its meaning to applications (0 and 24...31), so that no encoder outputs it as
    /// is.
    public var isUnspecified: Bool { rawValue == 0 || rawValue > 23 }
    /// Whether it starts the next access unit when it comes after the last slice of a picture (section 7.4.1.2.3).
    public var startsAccessUnit: Bool { (6...9).contains(rawValue) || (14...18).contains(rawValue) }

    public var description: String {
        switch self {
        case .nonIDRSlice: "slice"
        case .idrSlice: "IDR slice"
        case .supplementalEnhancementInformation: "SEI"
        case .sequenceParameterSet: "SPS"
        case .pictureParameterSet: "PPS"
        case .accessUnitDelimiter: "AUD"
        default: "type \(rawValue)"
        }
    }
}

/// The first byte of a NAL unit (section 7.3.1).
///
///      0 1 2 3 4 5 6 7
///     +-+-+-+-+-+-+-+-+
///     |F|NRI|  Type   |
///     +-+-+-+-+-+-+-+-+
public struct NALUnitHeader: Hashable, Sendable {
    /// `nal_ref_idc`, 0...3. It is 0 if no other picture refers to this one.
    public let referenceIDC: UInt8
    /// The kind of data in the NAL unit.
    public let type: NALUnitType

    /// Parses `byte`; nil if the forbidden_zero_bit is set.
    public init?(_ byte: UInt8) {
        guard byte & 0x80 == 0 else { return nil }
        referenceIDC = byte >> 5 & 3
        type = NALUnitType(rawValue: byte & 0x1F)
    }

    /// The header as a byte.
    public var byte: UInt8 { referenceIDC << 5 | type.rawValue }
}
