import CLibAV
import H264
import LibAVMessages
public import MediaTypes

/// Decodes H.264 with libavcodec on one thread, and outputs every picture as soon as the stream allows.
///
/// Not thread-safe: its owner calls it from one thread at a time. A new SPS, such as for another size, needs no new
/// decoder.
public final class H264Decoder: FrameDecoder {
    /// The longest access unit that is accepted, in bytes.
    public static let largestAccessUnit = 32 << 20
    /// The most pixels that a picture may have: slightly more than 8192x4320.
    public static let largestPicture: Int64 = 36 << 20
    /// The limit in bytes for the pictures that the stream's SPS tells a decoder to keep.
    ///
    /// A stream of 8192x4320 in 4:2:0 with the five reference frames that level 6 allows takes 304 MiB; one of 3840x2160
    /// in 4:4:4 with those of level 5.1 takes 143 MiB. A stream of 170 kB may ask for 3.7 GB.
    public static let pictureBufferLimit = 320 << 20
    /// The limit in bytes for the pictures actually in memory. These include pictures that wait for output or have been
    /// output; a decoder learns only while decoding how many wait.
    public static let pictureMemoryLimit = 512 << 20

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let lastFrame: UnsafeMutablePointer<AVFrame>
    private var buffer: UnsafeMutablePointer<AVBufferRef>?
    private let account: UnsafeMutablePointer<AVBufferRef>
    private var isDrained = false

    /// The number of pictures that were output undamaged.
    public private(set) var pictureCount = 0

    /// Creates a decoder that waits for its first IDR access unit.
    public convenience init() throws(VideoDecodingError) {
        try self.init(pictureMemoryLimit: Self.pictureMemoryLimit)
    }

    /// Creates a decoder with a limit other than the default ``pictureMemoryLimit``.
    init(pictureMemoryLimit: Int) throws(VideoDecodingError) {
        _ = LibAVMessage.isKept
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_H264) else {
            throw .decoderUnavailable(reason: "this libavcodec was built without it")
        }
        var made = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        var frame = av_frame_alloc()
        var lastFrame = av_frame_alloc()
        var account = made.flatMap { shim_limit_pictures($0, Int64(pictureMemoryLimit)) }
        guard let context = made, let someAccount = account, let somePacket = packet, let someFrame = frame,
            let someLast = lastFrame
        else {
            avcodec_free_context(&made)
            av_buffer_unref(&account)
            av_packet_free(&packet)
            av_frame_free(&frame)
            av_frame_free(&lastFrame)
            throw .outOfMemory
        }
        self.account = someAccount
        (self.context, self.packet, self.frame, self.lastFrame) = (context, somePacket, someFrame, someLast)
        context.pointee.thread_count = 1
        // UNALIGNED makes cropping exact instead of rounding it to a SIMD alignment. OUTPUT_CORRUPT outputs and marks
        // pictures whose IDR picture is missing, instead of silently dropping them.
        context.pointee.flags |=
            AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_UNALIGNED | Int32(AV_CODEC_FLAG_OUTPUT_CORRUPT)
        context.pointee.err_recognition = AV_EF_EXPLODE
        context.pointee.max_pixels = Self.largestPicture
        let code = avcodec_open2(context, codec, nil)
        if code < 0 { throw .decoderUnavailable(reason: LibAVMessage.first(code: code)) }
    }

    deinit {
        var (context, packet, frame, lastFrame): (_?, _?, _?, _?) = (context, packet, frame, lastFrame)
        avcodec_free_context(&context)
        av_packet_free(&packet)
        av_frame_free(&frame)
        av_frame_free(&lastFrame)
        av_buffer_unref(&buffer)
        var account: UnsafeMutablePointer<AVBufferRef>? = account
        av_buffer_unref(&account)
    }

    /// Decodes one access unit and returns the pictures that are output: usually one, or more or none if the stream
    /// reorders pictures.
    ///
    /// With `copying: false`, nothing is copied or returned: the call only checks that the access unit decodes, and
    /// `lastPicture` has the result.
    ///
    /// - Throws: `damaged` if anything is missing or invalid; a damaged picture is neither returned nor kept as the
    ///   last picture. `tooLarge` or `unsupportedFormat` if the SPS asks for too much, before libavcodec gets any of
    ///   the access unit.
    @discardableResult
    public func decode(_ unit: CodedFrame, copying: Bool = true) throws(VideoDecodingError) -> [I420Picture] {
        guard (1...Self.largestAccessUnit).contains(unit.bytes.count) else {
            throw .unusableAccessUnit(bytes: unit.bytes.count)
        }
        try checkParameterSets(of: unit)
        if isDrained { reset() }
        LibAVMessage.clear()
        shim_account(account).pointee.is_exceeded = 0
        try fillPacket(with: unit)
        let sent = avcodec_send_packet(context, packet)
        av_packet_unref(packet)
        let pictures = try receive(copying: copying)
        if sent < 0 { throw error(code: sent) }
        return pictures
    }

    /// Rejects an SPS that asks for more memory than the limit, or for an unsupported sample format.
    ///
    /// Everything that libavcodec allocates depends on the SPS that it has parsed, whichever of them a PPS then refers
    /// to. NAL units are searched the way libavcodec does, regardless of `unit.units`. An SPS that can't be parsed
    /// here might still be valid for libavcodec, so it is rejected too.
    private func checkParameterSets(of unit: CodedFrame) throws(VideoDecodingError) {
        for range in AnnexB.nalUnits(in: unit.bytes) where unit.bytes[range.lowerBound] & 0x1F == 7 {
            let sequence: SequenceParameterSet
            do {
                sequence = try SequenceParameterSet(nalUnit: unit.bytes[range])
            } catch {
                throw .damaged(reason: "its SPS can't be read: \(error)")
            }
            let depth = max(sequence.lumaBitDepth, sequence.chromaBitDepth)
            guard depth == 8 else { throw .unsupportedFormat(format: "\(depth) bits a sample", size: sequence.size) }
            let bytes = sequence.pictureBufferByteCount
            guard bytes <= Self.pictureBufferLimit else {
                throw .tooLarge(size: sequence.codedSize, pictures: sequence.bufferedPictures, bytes: bytes)
            }
        }
    }

    /// Returns the pictures that reordering still holds back at the end of the stream.
    ///
    /// The next access unit begins a new stream and must be an IDR access unit.
    public func flush() throws(VideoDecodingError) -> [I420Picture] {
        LibAVMessage.clear()
        isDrained = true
        let sent = avcodec_send_packet(context, nil)
        let pictures = try receive(copying: true)
        if sent < 0 && sent != shim_AVERROR_EOF { throw error(code: sent) }
        return pictures
    }

    /// Drops all reference pictures, as before a new stream. The last picture stays.
    public func reset() {
        isDrained = false
        avcodec_flush_buffers(context)
    }

    /// A copy of the last undamaged picture; nil before the first.
    public func lastPicture() throws(VideoDecodingError) -> I420Picture? {
        lastFrame.pointee.width > 0 ? try copyPicture(from: lastFrame) : nil
    }

    /// The size of the last undamaged picture; nil before the first.
    public var lastPictureSize: PictureSize? {
        let (width, height) = (Int(lastFrame.pointee.width), Int(lastFrame.pointee.height))
        return width > 0 ? PictureSize(width: width, height: height) : nil
    }

    /// Receives every picture that is ready, including those after a damaged one, so that there is room for the next
    /// packet.
    private func receive(copying: Bool) throws(VideoDecodingError) -> [I420Picture] {
        var pictures: [I420Picture] = []
        var failure: VideoDecodingError?
        while true {
            let code = avcodec_receive_frame(context, frame)
            if code == shim_AVERROR_EAGAIN || code == shim_AVERROR_EOF { break }
            if code < 0 {
                failure = failure ?? error(code: code)
                // An error that repeats without removing anything from the queue must not cause an endless loop.
                if code != shim_AVERROR_INVALIDDATA { break }
                continue
            }
            defer { av_frame_unref(frame) }
            if let reason = damage(of: frame) {
                failure = failure ?? .damaged(reason: reason)
                continue
            }
            pictureCount += 1
            av_frame_unref(lastFrame)
            av_frame_move_ref(lastFrame, frame)
            guard copying else { continue }
            do {
                pictures.append(try copyPicture(from: lastFrame))
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return pictures
    }

    /// The reason why a picture that libavcodec output is damaged, or nil if it isn't.
    private func damage(of frame: UnsafePointer<AVFrame>) -> String? {
        if LibAVMessage.tellsOfLostPicture { return "a picture before it is lost" }
        if frame.pointee.decode_error_flags != 0 { return LibAVMessage.first(code: shim_AVERROR_INVALIDDATA) }
        if frame.pointee.flags & Int32(AV_FRAME_FLAG_CORRUPT) != 0 {
            return "the IDR picture that it builds on is lost"
        }
        return nil
    }

    /// Copies the access unit to a buffer with `AV_INPUT_BUFFER_PADDING_SIZE` extra bytes, which libavcodec may read.
    private func fillPacket(with unit: CodedFrame) throws(VideoDecodingError) {
        let count = unit.bytes.count
        let needed = count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
        // The decoder has finished with the last packet's bytes when the only reference to them is ours.
        let isFree = buffer.map { av_buffer_get_ref_count($0) == 1 && $0.pointee.size >= needed } ?? false
        if !isFree {
            av_buffer_unref(&buffer)
            buffer = av_buffer_alloc(max(needed, 64 << 10))
        }
        guard let buffer, let data = buffer.pointee.data, let reference = av_buffer_ref(buffer) else {
            throw .outOfMemory
        }
        unit.bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: data, count: count).copyMemory(from: bytes)
        }
        (data + count).update(repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        packet.pointee.buf = reference
        packet.pointee.data = data
        packet.pointee.size = Int32(clamping: count)
        // libavcodec passes this on to the picture made from the packet, even if pictures are reordered.
        packet.pointee.pts = unit.captureTime?.nanoseconds ?? shim_AV_NOPTS_VALUE
        packet.pointee.flags = unit.isRandomAccess ? AV_PKT_FLAG_KEY : 0
    }

    private func error(code: Int32) -> VideoDecodingError {
        if shim_account(account).pointee.is_exceeded != 0 { return .tooManyPictures }
        return code == shim_AVERROR_ENOMEM ? .outOfMemory : .damaged(reason: LibAVMessage.first(code: code))
    }
}
