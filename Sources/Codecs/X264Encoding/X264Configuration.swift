import CX264
public import MediaTypes
import VideoEncoding

/// The settings of an encoder.
public struct X264Configuration: Sendable {
    /// The visible size in pixels; odd widths and heights are allowed.
    public var size: PictureSize
    /// The maximum number of pictures per second, 1...240. The level and the most bits for one picture follow from it.
    public var framesPerSecond: Int
    /// The rate control.
    public var rate: RateMode
    /// The matrix that the source colours were converted with; written into the stream.
    public var matrix: ColorMatrix
    /// Whether luma spans 0...255 instead of 16...235; written into the stream.
    public var isFullRange: Bool
    /// The chroma format; 4:4:4 selects High 4:4:4 Predictive.
    public var chroma: ChromaFormat
    /// The profile of 4:2:0. Constrained Baseline is what every decoder has.
    public var profile = Profile.constrainedBaseline
    /// Ten times the level, as in 31; nil for the lowest that the pictures fit in.
    public var level: Int?

    /// The number of frames that the SPS has decoders keep for reference. libx264 itself refers to the previous one.
    var referenceFrames = 1

    /// The longest motion vector in samples; nil for the longest of the level, for which libx264 has large tables.
    var maxVector: Int?

    /// Pictures with more macroblocks are encoded in strips; see `StripEncoder`. 1920x1080 has 8160.
    var maxMacroblocksAtOnce = 8000

    /// An H.264 profile (ITU-T H.264 annex A.2).
    public enum Profile: Sendable {
        case constrainedBaseline, main, high
    }

    /// Creates a configuration. The default colours are BT.601 in limited range, which is what libyuv makes of a
    /// screen.
    public init(
        size: PictureSize, framesPerSecond: Int, rate: RateMode, matrix: ColorMatrix = .bt601,
        isFullRange: Bool = false, chroma: ChromaFormat = .yuv420
    ) {
        self.size = size
        self.framesPerSecond = framesPerSecond
        self.rate = rate
        self.matrix = matrix
        self.isFullRange = isFullRange
        self.chroma = chroma
    }

    /// Whether an encoder with this configuration takes `picture`: its size and colours are part of the stream.
    public func fits(_ picture: I420Picture) -> Bool {
        (size, matrix, isFullRange) == (picture.size, picture.matrix, picture.isFullRange)
    }

    /// The size that is encoded and shown. With 4:2:0, odd dimensions are rounded up.
    ///
    /// The SPS crops the rest of the last macroblock, in units of one sample of chroma: of two of luma with 4:2:0, and
    /// of one with 4:4:4 (ITU-T H.264 section 7.4.2.1.1, CropUnitX and CropUnitY).
    public var encodedSize: PictureSize {
        if chroma == .yuv444 { return size }
        return PictureSize(width: size.width + size.width & 1, height: size.height + size.height & 1)
    }

    /// The levels of `minBits`. The full one is the first that weighs bits against sharpness: it saves a sixth of
    /// the bytes of a scroll, and a tenth of those of motion of the whole picture.
    static let fullRefinement: Int32 = 6
    static let quickRefinement: Int32 = 2

    /// The library's parameters for this configuration.
    func makeParameters() throws(VideoEncodingError) -> x264_param_t {
        let sides = 1...16_384
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw .unusableSize(size, maxSide: sides.upperBound)
        }
        guard (1...240).contains(framesPerSecond) else {
            throw .failed("can't encode \(framesPerSecond) fps: must be 1 to 240")
        }
        var parameters = x264_param_t()
        // `GlobalMotionEncoder` and `BandEncoder` rely on the fastest preset: it is the only one without sub-sample
        // motion, for which x264 makes interpolated planes of the reference picture for itself.
        let preset = rate.isThorough ? "veryfast" : "ultrafast"
        guard x264_param_default_preset(&parameters, preset, "zerolatency") == 0 else {
            throw .failed("x264 doesn't know \(preset)")
        }
        parameters.i_width = Int32(clamping: encodedSize.width)
        parameters.i_height = Int32(clamping: encodedSize.height)
        parameters.i_csp = chroma == .yuv420 ? X264_CSP_I420 : X264_CSP_I444
        parameters.i_threads = 1
        parameters.i_lookahead_threads = 1
        parameters.b_sliced_threads = 0
        parameters.i_frame_reference = 1
        parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE
        parameters.i_keyint_min = 1
        parameters.i_scenecut_threshold = 0
        parameters.i_bframe = 0
        // Pictures come only when something has changed, but with b_vfr_input x264 would hold each one back until the
        // next. Instead the rate control treats every picture as 1 / framesPerSecond long, which errs on the safe side.
        parameters.b_vfr_input = 0
        parameters.i_fps_num = UInt32(clamping: framesPerSecond)
        parameters.i_fps_den = 1
        parameters.i_timebase_num = 1
        parameters.i_timebase_den = UInt32(clamping: framesPerSecond)
        parameters.b_repeat_headers = 0
        parameters.b_annexb = 1
        parameters.b_aud = 0
        parameters.vui.b_fullrange = isFullRange ? 1 : 0
        // ITU-T H.264 tables E-3, E-4 and E-5: 6 is SMPTE 170M (BT.601, 525 lines), 1 is BT.709.
        let colours: Int32 = matrix == .bt709 ? 1 : 6
        parameters.vui.i_colorprim = colours
        parameters.vui.i_transfer = colours
        parameters.vui.i_colmatrix = colours
        rate.apply(to: &parameters)
        // Constrained Baseline is profile_idc 66 with constraint_set0 and constraint_set1. 4:4:4 has a profile of its
        // own, whose 8x8 transform and CABAC aren't used.
        let hasCABAC = chroma == .yuv420 && profile != .constrainedBaseline
        parameters.b_cabac = hasCABAC ? 1 : 0
        parameters.analyse.b_transform_8x8 = hasCABAC && profile == .high ? 1 : 0
        if let maxVector { parameters.analyse.i_mv_range = Int32(clamping: maxVector) }
        if let level { parameters.i_level_idc = Int32(clamping: level) }
        let name = chroma == .yuv420 ? profile.name : "high444"
        guard x264_param_apply_profile(&parameters, name) == 0 else { throw .failed("x264 doesn't know \(name)") }
        return parameters
    }
}

extension X264Configuration.Profile {
    fileprivate var name: String {
        switch self {
        case .constrainedBaseline: "baseline"
        case .main: "main"
        case .high: "high"
        }
    }
}

/// The rate control: what decides how many bits a picture gets.
public enum RateMode: Sendable, Hashable {
    /// x264 decides: constant quality up to this bit rate, averaged over a second.
    case ceiling(BitRate)
    /// x264 decides: this bit rate on average, and in no second more than it, whatever the pictures need.
    case average(BitRate)
    /// The caller sets each picture's quantizer, and may mark macroblocks to skip.
    ///
    /// The deblocking filter is off, because it would change the skipped neighbours of encoded macroblocks a little
    /// with each picture.
    case qpEachPicture
    /// The caller sets each picture's quantizer. libx264 takes several times as long, and finds motion far away, for
    /// much smaller pictures: for slow network paths.
    case minBits

    /// Whether x264 may take several times as long for smaller pictures.
    fileprivate var isThorough: Bool {
        switch self {
        case .average, .minBits: true
        case .ceiling, .qpEachPicture: false
        }
    }

    func apply(to parameters: inout x264_param_t) {
        switch self {
        case .average(let bitRate):
            let kilobits = Int32(clamping: max(1, min(bitRate.bitsPerSecond / 1000, 2_000_000)))
            parameters.rc.i_rc_method = X264_RC_ABR
            parameters.rc.i_bitrate = kilobits
            parameters.rc.i_vbv_max_bitrate = kilobits
            parameters.rc.i_vbv_buffer_size = kilobits
        case .ceiling(let bitRate):
            let kilobits = max(1, min(bitRate.bitsPerSecond / 1000, 2_000_000))
            parameters.rc.i_rc_method = X264_RC_CRF
            // The quality below the maximum bit rate: 0 is lossless, 51 is worst.
            parameters.rc.f_rf_constant = 22
            parameters.rc.i_vbv_max_bitrate = Int32(clamping: kilobits)
            parameters.rc.i_vbv_buffer_size = Int32(clamping: kilobits)
        case .minBits:
            setQPEachPicture(&parameters)
            // Between two pictures of a slow path a page is scrolled far. Where the motion isn't found, a picture is as
            // large as a key frame, and the next one shows a motion that is larger still.
            parameters.analyse.i_me_method = X264_ME_UMH
            parameters.analyse.i_me_range = Int32(SearchRange.farthest)
            parameters.analyse.i_subpel_refine = X264Configuration.fullRefinement
        case .qpEachPicture:
            setQPEachPicture(&parameters)
            parameters.b_deblocking_filter = 0
            parameters.analyse.b_mb_info = 1
            parameters.analyse.i_weighted_pred = 0
            // The headers of two encoders must be compatible.
            parameters.b_stitchable = 1
        }
    }

    private func setQPEachPicture(_ parameters: inout x264_param_t) {
        parameters.rc.i_rc_method = X264_RC_CQP
        parameters.rc.i_qp_constant = 23
        // x264 clips a picture's quantizer to the range of the constant ones for I, P and B pictures, which differ by
        // these factors of the quantizer step. It takes 0.01 to 10; these two make the range 0...51.
        parameters.rc.f_ip_factor = 0.01
        parameters.rc.f_pb_factor = 0.01
    }
}
