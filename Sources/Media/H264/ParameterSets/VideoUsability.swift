/// The fields of the video usability information that this library needs (ITU-T H.264 section E.1.1).
public struct VideoUsability: Hashable, Sendable {
    /// Whether luma spans 0...255 instead of 16...235. If nil, it is unspecified and 16...235 applies.
    public private(set) var isFullRange: Bool?
    /// The colour description, if present.
    public private(set) var colour: ColourDescription?
    /// The stream's own clock rate as num_units_in_tick and time_scale, if present.
    public private(set) var timing: Timing?
    /// max_num_reorder_frames, if present.
    public private(set) var maxReorderedPictures: Int?
    /// max_dec_frame_buffering, if present.
    public private(set) var maxBufferedPictures: Int?

    /// Colour codes from tables E-3, E-4 and E-5.
    public struct ColourDescription: Hashable, Sendable {
        /// colour_primaries (table E-3).
        public let primaries: UInt8
        /// transfer_characteristics (table E-4).
        public let transferCharacteristics: UInt8
        /// matrix_coefficients (table E-5).
        public let matrixCoefficients: UInt8
    }

    /// A frame lasts 2 x `unitsInTick` / `timeScale` seconds.
    public struct Timing: Hashable, Sendable {
        /// num_units_in_tick: the time units that a clock tick takes.
        public let unitsInTick: UInt32
        /// time_scale: the time units in a second.
        public let timeScale: UInt32
        /// fixed_frame_rate_flag.
        public let isFixedFrameRate: Bool
    }

    init(_ reader: inout BitReader) throws(H264Error) {
        if try reader.flag(), try reader.bits(8) == 255 { try reader.skip(32) }
        if try reader.flag() { try reader.skip(1) }
        if try reader.flag() {
            try reader.skip(3)
            isFullRange = try reader.flag()
            if try reader.flag() {
                colour = ColourDescription(
                    primaries: UInt8(truncatingIfNeeded: try reader.bits(8)),
                    transferCharacteristics: UInt8(truncatingIfNeeded: try reader.bits(8)),
                    matrixCoefficients: UInt8(truncatingIfNeeded: try reader.bits(8)))
            }
        }
        if try reader.flag() {
            _ = try reader.unsignedExpGolomb("chroma_sample_loc_type_top_field", atMost: 5)
            _ = try reader.unsignedExpGolomb("chroma_sample_loc_type_bottom_field", atMost: 5)
        }
        if try reader.flag() {
            timing = Timing(
                unitsInTick: try reader.bits(32), timeScale: try reader.bits(32), isFixedFrameRate: try reader.flag())
        }
        let hasNAL = try reader.flag()
        if hasNAL { try Self.skipHypotheticalDecoder(&reader) }
        let hasVCL = try reader.flag()
        if hasVCL { try Self.skipHypotheticalDecoder(&reader) }
        if hasNAL || hasVCL { try reader.skip(1) }
        try reader.skip(1)
        if try reader.flag() {
            try reader.skip(1)
            for _ in 0..<4 { _ = try reader.unsignedExpGolomb() }
            maxReorderedPictures = try reader.unsignedExpGolomb("max_num_reorder_frames", atMost: 16)
            maxBufferedPictures = try reader.unsignedExpGolomb("max_dec_frame_buffering", atMost: 16)
        }
    }

    /// Skips hrd_parameters() (section E.1.2).
    private static func skipHypotheticalDecoder(_ reader: inout BitReader) throws(H264Error) {
        let count = 1 + (try reader.unsignedExpGolomb("cpb_cnt_minus1", atMost: 31))
        try reader.skip(8)
        for _ in 0..<count {
            _ = try reader.unsignedExpGolomb()
            _ = try reader.unsignedExpGolomb()
            try reader.skip(1)
        }
        try reader.skip(20)
    }
}
