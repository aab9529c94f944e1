import CX264
import H264
public import MediaTypes
public import VideoEncoding

/// Encodes pictures to H.264 with libx264: Constrained Baseline, Main or High for 4:2:0, and High 4:4:4 Predictive for
/// 4:4:4.
///
/// It uses no B-frames, no delay, CAVLC (but for Main and High) and one slice for each picture. Only the first picture
/// and pictures on request are IDR pictures.
///
/// Owns the libx264 encoder. Not thread-safe: use it from one thread at a time. libx264 starts no thread of its own
/// here.
public final class X264Encoder {
    /// The configuration that the encoder was created with; `rate` follows `reconfigure(bitRate:)`.
    public private(set) var configuration: X264Configuration
    /// The sequence parameter set, without a start code.
    public let sequenceParameterSet: [UInt8]
    /// The picture parameter set, without a start code.
    public let pictureParameterSet: [UInt8]

    /// The last picture as decoders see it; nil before the first.
    private(set) var reconstruction: ReconstructedPicture?

    /// A copy of that picture; nil before the first, and for 4:4:4.
    public var decodedPicture: I420Picture? {
        reconstruction?.copy(
            configuration.size, isFullRange: configuration.isFullRange, matrix: configuration.matrix)
    }

    private let handle: OpaquePointer
    private let list = NALUnitList(capacity: 64)
    // libx264 keeps a pointer to it for as long as the encoder lives.
    private let log: X264Log
    private var lastTicks = Int64.min
    // Used only for pictures with an odd width or height: a copy with the last column and row repeated.
    private var padded: [UInt8] = []

    /// Opens an encoder.
    ///
    /// `onWarning` receives libx264's warnings and errors, one line each, on the calling thread.
    ///
    /// - Throws: ``VideoEncodingError`` if libx264 refuses the configuration, with its last line of log.
    public init(
        _ configuration: X264Configuration, onWarning: (@Sendable (String) -> Void)? = nil
    ) throws(VideoEncodingError) {
        let log = X264Log(onWarning: onWarning)
        var parameters = try configuration.makeParameters()
        log.attach(to: &parameters)
        guard let handle = shim_x264_encoder_open(&parameters) else {
            throw .failed("x264 can't encode \(configuration.encodedSize): \(log.lastLine)")
        }
        var units: UnsafeMutablePointer<x264_nal_t>?
        var count: Int32 = 0
        if x264_encoder_headers(handle, &units, &count) >= 0 { _ = list.append(units, count: count) }
        guard let sequence = list.all.first(where: { $0.nalUnitType == .sequenceParameterSet }),
            let picture = list.all.first(where: { $0.nalUnitType == .pictureParameterSet })
        else {
            x264_encoder_close(handle)
            throw .failed("x264 made no SPS and PPS")
        }
        self.configuration = configuration
        self.handle = handle
        self.log = log
        let frames = configuration.referenceFrames
        let edited =
            frames > 1 ? SequenceParameterSet.nalUnit(Array(sequence), withReferenceFrames: frames) : nil
        if edited == nil { self.configuration.referenceFrames = 1 }
        sequenceParameterSet = edited ?? Array(sequence)
        pictureParameterSet = Array(picture)
    }

    deinit {
        x264_encoder_close(handle)
    }

    /// Changes the bit rate of `RateMode.average`, or else the maximum one, starting with the next picture, without an
    /// IDR picture.
    ///
    /// - Throws: ``VideoEncodingError`` if libx264 refuses the bit rate; the former one stays.
    public func reconfigure(bitRate: BitRate) throws(VideoEncodingError) {
        let rate: RateMode
        if case .average = configuration.rate { rate = .average(bitRate) } else { rate = .ceiling(bitRate) }
        var parameters = x264_param_t()
        x264_encoder_parameters(handle, &parameters)
        rate.apply(to: &parameters)
        guard x264_encoder_reconfig(handle, &parameters) == 0 else {
            throw .failed("x264 doesn't take a bit rate of \(bitRate.bitsPerSecond): \(log.lastLine)")
        }
        configuration.rate = rate
    }

    /// Changes the range of the motion search in samples, starting with the next picture, and whether
    /// `RateMode.minBits` refines less what it finds, which takes less time and costs a tenth more bytes.
    /// `RateMode.qpEachPicture` searches thoroughly beyond 16 samples, and else downhill only.
    ///
    /// - Throws: ``VideoEncodingError`` if libx264 refuses the range.
    public func reconfigure(searchRange samples: Int, isQuick: Bool = false) throws(VideoEncodingError) {
        var parameters = x264_param_t()
        x264_encoder_parameters(handle, &parameters)
        parameters.analyse.i_me_range = Int32(clamping: samples)
        if configuration.rate == .minBits {
            parameters.analyse.i_subpel_refine =
                isQuick ? X264Configuration.quickRefinement : X264Configuration.fullRefinement
        } else {
            parameters.analyse.i_me_method = samples > SearchRange.far ? X264_ME_UMH : X264_ME_DIA
        }
        guard x264_encoder_reconfig(handle, &parameters) == 0 else { throw .notEncoded(reason: log.lastLine) }
    }

    /// The options for encoding one picture.
    public struct Request {
        /// Whether to encode an IDR picture.
        public var isIDR = false
        /// The quantizer of the whole picture, 0...51; nil leaves it to libx264.
        public var qp: Int?
        /// For each macroblock, 1 if it hasn't changed and is to be skipped, otherwise 0. It is read during the call,
        /// and only if the rate mode is `qpEachPicture`.
        public var skipped: UnsafeMutablePointer<UInt8>?

        /// Creates a request; by default libx264 decides.
        public init(isIDR: Bool = false, qp: Int? = nil, skipped: UnsafeMutablePointer<UInt8>? = nil) {
            self.isIDR = isIDR
            self.qp = qp
            self.skipped = skipped
        }
    }

    /// Encodes one picture. The planes must cover `configuration.encodedSize` and are only read during the call.
    ///
    /// SPS and PPS precede an IDR picture. The result points into libx264's memory and is valid until the next call of
    /// this encoder. `time` only orders the pictures; a time that isn't later than the last one counts as one tick
    /// later.
    ///
    /// - Throws: ``VideoEncodingError`` if the rows of `planes` are too short, or if libx264 gives no picture.
    public func encode(
        _ planes: SourcePlanes, _ request: Request, time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture {
        let size = configuration.encodedSize
        let is420 = configuration.chroma == .yuv420
        var input = x264_picture_t()
        x264_picture_init(&input)
        input.i_type = request.isIDR ? X264_TYPE_IDR : X264_TYPE_AUTO
        lastTicks = max(lastTicks &+ 1, time.ticks)
        input.i_pts = lastTicks
        if let qp = request.qp { input.i_qpplus1 = Int32(clamping: max(0, min(51, qp)) + 1) }
        // The value 1 is X264_MBINFO_CONSTANT.
        input.prop.mb_info = request.skipped
        let chromaWidth = planes.isInterleaved || !is420 ? size.width : size.width / 2
        guard planes.lumaStride >= size.width, planes.chromaStride >= chromaWidth else {
            throw .failed("rows of \(planes.lumaStride) bytes are too short for \(size.width) columns")
        }
        input.img.i_csp = is420 ? planes.isInterleaved ? X264_CSP_NV12 : X264_CSP_I420 : X264_CSP_I444
        input.img.i_plane = planes.isInterleaved ? 2 : 3
        // libx264 takes mutable pointers, but only reads.
        input.img.plane.0 = UnsafeMutablePointer(mutating: planes.luma)
        input.img.plane.1 = UnsafeMutablePointer(mutating: planes.blueDifference)
        input.img.plane.2 = UnsafeMutablePointer(mutating: planes.redDifference)
        input.img.i_stride.0 = Int32(clamping: planes.lumaStride)
        input.img.i_stride.1 = Int32(clamping: planes.chromaStride)
        input.img.i_stride.2 = Int32(clamping: planes.chromaStride)
        var output = x264_picture_t()
        var units: UnsafeMutablePointer<x264_nal_t>?
        var count: Int32 = 0
        let written = x264_encoder_encode(handle, &units, &count, &input, &output)
        guard written > 0, count > 0 else { throw .notEncoded(reason: log.lastLine) }
        reconstruction = ReconstructedPicture(output.img)
        list.removeAll()
        let isIDR = output.b_keyframe != 0
        // The arrays never change, so their storage stays where it is.
        for set in isIDR ? [sequenceParameterSet, pictureParameterSet] : [] {
            set.withUnsafeBufferPointer { _ = list.append($0) }
        }
        return list.picture(isIDR: isIDR, byteCount: list.append(units, count: count))
    }

    /// Encodes `picture`, whose size must be `configuration.size`, to an access unit that owns its memory. SPS and PPS
    /// precede an IDR picture. If `qp` is nil, libx264 chooses it.
    ///
    /// - Throws: ``VideoEncodingError`` if `picture` has another size or the chroma isn't 4:2:0, or if libx264 gives no
    ///   picture.
    public func accessUnit(
        of picture: I420Picture, forceIDR: Bool, qp: Int? = nil, time: MediaTime
    ) throws(VideoEncodingError) -> CodedFrame {
        guard picture.size == configuration.size, configuration.chroma == .yuv420,
            picture.bytes.count == picture.lumaCount + 2 * picture.chromaCount
        else { throw .wrongPictureSize(picture.size, expected: configuration.size) }
        let size = configuration.encodedSize
        if size != picture.size {
            pad(picture)
        }
        let encoded = try (size == picture.size ? picture.bytes : padded).withUnsafeBufferPointer {
            bytes throws(VideoEncodingError) in
            guard let base = bytes.baseAddress else { throw .wrongPictureSize(picture.size, expected: size) }
            let luma = size.width * size.height
            let planes = SourcePlanes(
                luma: base, blueDifference: base + luma, redDifference: base + luma + luma / 4,
                lumaStride: size.width, chromaStride: size.width / 2)
            return try encode(planes, Request(isIDR: forceIDR, qp: qp), time: time)
        }
        return copy(encoded, captureTime: picture.captureTime)
    }

    /// Copies `picture` to an access unit that owns its memory.
    private func copy(_ picture: EncodedPicture, captureTime: MonotonicTime?) -> CodedFrame {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for unit in picture {
            bytes.append(contentsOf: [0, 0, 0, 1])
            ranges.append(bytes.count..<bytes.count + unit.count)
            bytes.append(contentsOf: unit)
        }
        return CodedFrame(h264: bytes, units: ranges, captureTime: captureTime)
    }

    /// Repeats the last column and row of `picture` so that width and height are even.
    private func pad(_ picture: I420Picture) {
        let size = configuration.encodedSize
        let width = picture.size.width
        padded.removeAll(keepingCapacity: true)
        padded.reserveCapacity(size.width * size.height * 3 / 2)
        for row in 0..<size.height {
            let start = min(row, picture.size.height - 1) * width
            padded.append(contentsOf: picture.bytes[start..<start + width])
            if size.width > width { padded.append(picture.bytes[start + width - 1]) }
        }
        // The chroma planes of an odd size are already rounded up.
        padded.append(contentsOf: picture.bytes[picture.lumaCount...])
    }
}

extension VideoEncodingError {
    static func notEncoded(reason: String) -> VideoEncodingError { .failed("x264 encoded nothing: \(reason)") }

    fileprivate static func wrongPictureSize(_ size: PictureSize, expected: PictureSize) -> VideoEncodingError {
        .failed("a picture of \(size) where \(expected) was expected")
    }
}
