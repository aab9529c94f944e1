import CLibAV
import LibAVMessages
public import MediaTypes

/// Decodes the packets of one stream with libavcodec on one thread.
///
/// Not thread-safe: its owner calls it from one thread at a time.
public final class StreamDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let lastFrame: UnsafeMutablePointer<AVFrame>
    private var buffer: UnsafeMutablePointer<AVBufferRef>?
    private let account: UnsafeMutablePointer<AVBufferRef>
    private var isDrained = false

    /// The number of pictures that were output undamaged.
    public private(set) var pictureCount = 0

    /// Creates a decoder that begins with a key frame. It outputs pictures in the order in which they are shown, and
    /// repairs what it can; the limits are those of ``H264Decoder``.
    ///
    /// - Throws: `decoderUnavailable` or `outOfMemory`.
    public convenience init(_ stream: StreamDescription) throws(VideoDecodingError) {
        try self.init(
            AVCodecID(rawValue: stream.codec), of: stream, isStrict: false,
            pictureMemoryLimit: H264Decoder.pictureMemoryLimit)
    }

    /// Creates a decoder.
    ///
    /// - Parameter isStrict: whether pictures are output without delay, and any fault makes a picture a damaged one.
    init(
        _ id: AVCodecID, of stream: StreamDescription? = nil, isStrict: Bool, pictureMemoryLimit: Int
    ) throws(VideoDecodingError) {
        _ = LibAVMessage.isKept
        guard let codec = avcodec_find_decoder(id) else {
            let name = avcodec_get_name(id).map { String(cString: $0) } ?? "this codec"
            throw .decoderUnavailable(reason: "this libavcodec was built without one for \(name)")
        }
        let decoder = String(cString: codec.pointee.name)
        guard UsedDecoders.video.contains(decoder) else {
            throw .decoderUnavailable(reason: "\(decoder) is not among the codecs that are decoded here")
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
        self.context = context
        self.packet = somePacket
        self.frame = someFrame
        self.lastFrame = someLast
        context.pointee.thread_count = 1
        // UNALIGNED makes cropping exact instead of rounding it to a SIMD alignment. OUTPUT_CORRUPT outputs and marks
        // pictures whose IDR picture is missing, instead of silently dropping them.
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED | Int32(AV_CODEC_FLAG_OUTPUT_CORRUPT)
        if isStrict {
            context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
            context.pointee.err_recognition = AV_EF_EXPLODE
        }
        context.pointee.max_pixels = H264Decoder.maxPixels
        // Such a decoder (libdav1d) has pictures of its own, up to ten of six bytes a pixel, which the account doesn't
        // see.
        if codec.pointee.capabilities & AV_CODEC_CAP_DR1 == 0 {
            context.pointee.max_pixels = min(H264Decoder.maxPixels, Int64(pictureMemoryLimit / 60))
        }
        if let stream, !stream.describe(to: context) { throw .outOfMemory }
        LibAVMessage.clear()
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

    /// Decodes one packet and returns the pictures that are output: often one, or more or none if the stream reorders
    /// pictures. A picture has the capture time of its packet.
    ///
    /// - Throws: `damaged` if anything is missing or invalid that can't be repaired; a damaged picture is neither
    ///   returned nor kept as the last picture. `unsupportedFormat` if its samples can't be converted to 4:2:0.
    public func decode(_ packet: StreamPacket) throws(VideoDecodingError) -> [I420Picture] {
        try decode(packet.bytes, time: packet.captureTime, isKeyFrame: packet.isKeyFrame, copying: true)
    }

    /// Checks the length of a packet.
    static func check(byteCount: Int) throws(VideoDecodingError) {
        guard (1...H264Decoder.maxAccessUnit).contains(byteCount) else {
            throw .unusableAccessUnit(bytes: byteCount)
        }
    }

    /// Decodes one packet. Its time becomes the capture time of the picture that is made from it. With
    /// `copying: false`, nothing is copied or returned, and ``lastPicture()`` has the result.
    func decode(
        _ bytes: [UInt8], time: MonotonicTime?, isKeyFrame: Bool, copying: Bool
    ) throws(VideoDecodingError) -> [I420Picture] {
        try Self.check(byteCount: bytes.count)
        if isDrained { reset() }
        LibAVMessage.clear()
        shim_account(account).pointee.is_exceeded = 0
        try fillPacket(with: bytes)
        // libavcodec passes this on to the picture made from the packet, even if pictures are reordered.
        packet.pointee.pts = time?.nanoseconds ?? shim_AV_NOPTS_VALUE
        packet.pointee.flags = isKeyFrame ? AV_PKT_FLAG_KEY : 0
        let sent = avcodec_send_packet(context, packet)
        av_packet_unref(packet)
        let pictures = try receive(copying: copying)
        if sent < 0 { throw error(code: sent) }
        return pictures
    }

    /// Returns the pictures that reordering still holds back at the end of the stream.
    ///
    /// The next packet begins a new stream and must be a key frame.
    ///
    /// - Throws: ``VideoDecodingError`` if one of them is damaged; none is returned then.
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

    /// A copy of the last undamaged picture; nil before the first. Throws ``VideoDecodingError`` if it can't be copied.
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
        var copiedByteCount = 0
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
            // A packet may show one picture any number of times.
            guard copiedByteCount < H264Decoder.pictureMemoryLimit else {
                failure = failure ?? .tooManyPictures
                continue
            }
            do {
                let picture = try copyPicture(from: lastFrame)
                copiedByteCount += picture.bytes.count
                pictures.append(picture)
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

    /// Copies the packet to a buffer with `AV_INPUT_BUFFER_PADDING_SIZE` extra bytes, which libavcodec may read.
    private func fillPacket(with bytes: [UInt8]) throws(VideoDecodingError) {
        let count = bytes.count
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
        bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: data, count: count).copyMemory(from: bytes)
        }
        (data + count).update(repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        packet.pointee.buf = reference
        packet.pointee.data = data
        packet.pointee.size = Int32(clamping: count)
    }

    private func error(code: Int32) -> VideoDecodingError {
        if shim_account(account).pointee.is_exceeded != 0 { return .tooManyPictures }
        return code == shim_AVERROR_ENOMEM ? .outOfMemory : .damaged(reason: LibAVMessage.first(code: code))
    }
}
