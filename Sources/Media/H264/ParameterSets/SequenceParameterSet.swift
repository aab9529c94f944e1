public import MediaTypes

/// The fields of a sequence parameter set that this library needs (ITU-T H.264 section 7.3.2.1.1).
public struct SequenceParameterSet: Hashable, Sendable {
    /// profile_idc, constraint flags and level_idc.
    public let profileLevelID: ProfileLevelID
    /// seq_parameter_set_id, 0...31.
    public let id: UInt8
    /// chroma_format_idc: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public let chromaFormatIDC: Int
    /// separate_colour_plane_flag: the three planes of 4:4:4 are coded apart, like monochrome pictures.
    public let hasSeparateColourPlanes: Bool
    /// The number of bits in a luma sample.
    public let lumaBitDepth: Int
    /// The number of bits in a chroma sample.
    public let chromaBitDepth: Int
    /// The number of bits in `frame_num`: 4...16.
    public let frameNumberBits: Int
    /// pic_order_cnt_type: 0, 1 or 2.
    public let pictureOrderCountType: Int
    /// The number of bits in `pic_order_cnt_lsb`: 4...16, or 0 unless `pictureOrderCountType` is 0.
    public let pictureOrderCountBits: Int
    /// delta_pic_order_always_zero_flag: slice headers carry no differences of the order count.
    public let deltaPictureOrderAlwaysZero: Bool
    /// The offsets of the order count if `pictureOrderCountType` is 1; nil otherwise.
    public let pictureOrderCycle: PictureOrderCycle?
    /// max_num_ref_frames.
    public let maxReferenceFrames: Int
    /// gaps_in_frame_num_value_allowed_flag: frames may be left out on purpose.
    public let allowsFrameNumberGaps: Bool
    /// Whether all pictures are frames (no field coding, no macroblock-adaptive frame-field coding).
    public let isFrameOnly: Bool
    /// The size of the coded picture before cropping; both dimensions are multiples of 16.
    public let codedSize: PictureSize
    /// The visible size.
    public let size: PictureSize
    /// The video usability information, if the stream has it.
    public let usability: VideoUsability?

    /// The largest width and height of a picture, in pixels.
    public static let sizeLimit = 16_384

    /// The largest number of pictures that precede another picture in decoding order and follow it in output order. It
    /// is 0 if pictures can be output at once, and nil if the stream doesn't say.
    public var maxReorderedPictures: Int? {
        // With pic_order_cnt_type 2, output order is decoding order (section 8.2.1.3).
        pictureOrderCountType == 2 ? 0 : usability?.maxReorderedPictures
    }

    /// Reads an SPS NAL unit, given without its start code. Throws ``H264Error`` if it is another NAL unit, is
    /// truncated, or has a value out of range.
    public init(nalUnit: ArraySlice<UInt8>) throws(H264Error) {
        guard let first = nalUnit.first else { throw .truncated }
        guard let header = NALUnitHeader(first), header.type == .sequenceParameterSet else {
            throw .unexpectedType(NALUnitHeader(first)?.type)
        }
        var reader = BitReader(EmulationPrevention.removed(from: nalUnit.dropFirst()))
        let profile = UInt8(truncatingIfNeeded: try reader.bits(8))
        let constraints = UInt8(truncatingIfNeeded: try reader.bits(8))
        let level = UInt8(truncatingIfNeeded: try reader.bits(8))
        profileLevelID = ProfileLevelID(profileIDC: profile, constraintFlags: constraints, levelIDC: level)
        id = UInt8(truncatingIfNeeded: try reader.unsignedExpGolomb("seq_parameter_set_id", atMost: 31))

        let samples =
            Self.profilesWithChromaFormat.contains(profile) ? try SampleFormat(&reader) : SampleFormat()
        chromaFormatIDC = samples.chromaFormatIDC
        hasSeparateColourPlanes = samples.hasSeparateColourPlanes
        lumaBitDepth = samples.lumaBitDepth
        chromaBitDepth = samples.chromaBitDepth

        frameNumberBits = 4 + (try reader.unsignedExpGolomb("log2_max_frame_num_minus4", atMost: 12))
        pictureOrderCountType = try reader.unsignedExpGolomb("pic_order_cnt_type", atMost: 2)
        pictureOrderCountBits =
            pictureOrderCountType == 0
            ? 4 + (try reader.unsignedExpGolomb("log2_max_pic_order_cnt_lsb_minus4", atMost: 12)) : 0
        deltaPictureOrderAlwaysZero = pictureOrderCountType == 1 ? try reader.flag() : false
        pictureOrderCycle = pictureOrderCountType == 1 ? try PictureOrderCycle(&reader) : nil
        maxReferenceFrames = try reader.unsignedExpGolomb("max_num_ref_frames", atMost: 16)
        allowsFrameNumberGaps = try reader.flag()

        let sideLimit = Self.sizeLimit / 16
        let columns = 1 + (try reader.unsignedExpGolomb("pic_width_in_mbs_minus1", atMost: sideLimit - 1))
        let mapUnitRows = 1 + (try reader.unsignedExpGolomb("pic_height_in_map_units_minus1", atMost: sideLimit - 1))
        isFrameOnly = try reader.flag()
        if !isFrameOnly { try reader.skip(1) }
        try reader.skip(1)
        let rows = isFrameOnly ? mapUnitRows : mapUnitRows * 2
        guard rows <= sideLimit else {
            throw .outOfRange(element: "pic_height_in_map_units_minus1", value: Int64(mapUnitRows - 1))
        }
        codedSize = PictureSize(width: columns * 16, height: rows * 16)
        size = try Self.croppedSize(
            codedSize, unitX: chromaFormatIDC == 1 || chromaFormatIDC == 2 ? 2 : 1,
            unitY: (chromaFormatIDC == 1 ? 2 : 1) * (isFrameOnly ? 1 : 2), &reader)
        usability = try reader.flag() ? try VideoUsability(&reader) : nil
    }

    /// The form of the samples, which is that of ``init()`` unless the profile has fields for it.
    private struct SampleFormat {
        private(set) var chromaFormatIDC = 1
        private(set) var hasSeparateColourPlanes = false
        private(set) var lumaBitDepth = 8
        private(set) var chromaBitDepth = 8

        init() {}

        init(_ reader: inout BitReader) throws(H264Error) {
            chromaFormatIDC = try reader.unsignedExpGolomb("chroma_format_idc", atMost: 3)
            if chromaFormatIDC == 3 { hasSeparateColourPlanes = try reader.flag() }
            lumaBitDepth = 8 + (try reader.unsignedExpGolomb("bit_depth_luma_minus8", atMost: 6))
            chromaBitDepth = 8 + (try reader.unsignedExpGolomb("bit_depth_chroma_minus8", atMost: 6))
            try reader.skip(1)
            guard try reader.flag() else { return }
            for index in 0..<(chromaFormatIDC == 3 ? 12 : 8) where try reader.flag() {
                try SequenceParameterSet.skipScalingList(count: index < 6 ? 16 : 64, &reader)
            }
        }
    }

    /// The profiles whose SPS has chroma format, bit depth and scaling lists (section 7.3.2.1.1).
    private static let profilesWithChromaFormat: Set<UInt8> = [
        100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
    ]

    private static func croppedSize(
        _ coded: PictureSize, unitX: Int, unitY: Int, _ reader: inout BitReader
    ) throws(H264Error) -> PictureSize {
        guard try reader.flag() else { return coded }
        let left = try reader.unsignedExpGolomb("frame_crop_left_offset", atMost: sizeLimit)
        let right = try reader.unsignedExpGolomb("frame_crop_right_offset", atMost: sizeLimit)
        let top = try reader.unsignedExpGolomb("frame_crop_top_offset", atMost: sizeLimit)
        let bottom = try reader.unsignedExpGolomb("frame_crop_bottom_offset", atMost: sizeLimit)
        let width = coded.width - unitX * (left + right)
        let height = coded.height - unitY * (top + bottom)
        guard width > 0 else { throw .outOfRange(element: "frame_crop_right_offset", value: Int64(right)) }
        guard height > 0 else { throw .outOfRange(element: "frame_crop_bottom_offset", value: Int64(bottom)) }
        return PictureSize(width: width, height: height)
    }

    /// Skips scaling_list() (section 7.3.2.1.1.1), whose values aren't needed here.
    static func skipScalingList(count: Int, _ reader: inout BitReader) throws(H264Error) {
        var last = 8
        var next = 8
        for _ in 0..<count {
            if next != 0 {
                let delta = try reader.signedExpGolomb()
                guard (-128...127).contains(delta) else {
                    throw .outOfRange(element: "delta_scale", value: Int64(delta))
                }
                next = (last + Int(delta) + 256) & 0xFF
            }
            if next != 0 { last = next }
        }
    }
}

/// The offsets of the order count if pic_order_cnt_type is 1 (section 7.4.2.1.1).
public struct PictureOrderCycle: Hashable, Sendable {
    /// offset_for_non_ref_pic.
    public let nonReference: Int32
    /// offset_for_top_to_bottom_field.
    public let bottom: Int32
    /// offset_for_ref_frame, at most 255 values.
    public let references: [Int32]

    init(_ reader: inout BitReader) throws(H264Error) {
        nonReference = try reader.signedExpGolomb()
        bottom = try reader.signedExpGolomb()
        let count = try reader.unsignedExpGolomb("num_ref_frames_in_pic_order_cnt_cycle", atMost: 255)
        var references: [Int32] = []
        for _ in 0..<count { references.append(try reader.signedExpGolomb()) }
        self.references = references
    }
}
