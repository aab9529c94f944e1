import CLibAV
import H264
public import MediaTypes

/// Decodes H.264 by libavcodec: one thread, and every picture out as soon as the stream allows.
///
/// Not thread-safe; one owner calls it from one thread at a time. A change of SPS (another size) needs no new decoder.
public final class H264Decoder {
    /// The longest access unit that it takes, in bytes.
    public static let largestAccessUnit = 32 << 20
    /// The most pixels that a picture may have: 8192x4320 and a bit.
    public static let largestPicture: Int64 = 36 << 20
    /// What the samples of the pictures that a stream has its decoder keep may take, in bytes, by its SPS.
    ///
    /// 8192x4320 in 4:2:0 with the five references that level 6 allows takes 304 MiB, 3840x2160 in 4:4:4 with those of level 5.1 143. A
    /// stream of 170 kB may ask for 3.7 GB.
    public static let pictureBufferLimit = 320 << 20
    /// What they may take in fact: pictures that wait for their turn in output, and those that are given out, come on top, and a decoder
    /// finds out only on its way how many wait.
    public static let pictureMemoryLimit = 512 << 20

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let lastFrame: UnsafeMutablePointer<AVFrame>
    private var buffer: UnsafeMutablePointer<AVBufferRef>?
    private let account: UnsafeMutablePointer<AVBufferRef>
    private var isDrained = false

    /// How many pictures have come out undamaged.
    public private(set) var pictureCount = 0

    /// A decoder that waits for its first IDR access unit.
    public convenience init() throws(VideoDecodingError) {
        try self.init(pictureMemoryLimit: Self.pictureMemoryLimit)
    }

    /// The same with another limit than ``pictureMemoryLimit``.
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
        // UNALIGNED: the cropping is exact, not rounded to what SIMD likes. OUTPUT_CORRUPT: pictures without their IDR
        // picture come out, marked, instead of silently not at all.
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

    /// Decodes one access unit and gives the pictures that come out: mostly one, more or none where the stream reorders.
    ///
    /// With `copying: false` nothing is copied out and nothing is given back: it only proves that the unit decodes, and
    /// `lastPicture` has the result for whoever asks.
    /// - Throws: `damaged` where anything was missing or wrong; such a picture isn't given out, nor kept as the last. `tooLarge` and
    ///   `unsupportedFormat` before libavcodec has seen anything of the unit, where its SPS asks for too much.
    @discardableResult
    public func decode(_ unit: AccessUnit, copying: Bool = true) throws(VideoDecodingError) -> [I420Picture] {
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

    /// Refuses an SPS that asks for more memory than there is for it, or for samples that can't be used anyway: all that libavcodec
    /// allocates depends on the SPS that it has seen, whichever of them a PPS then refers to.
    ///
    /// NAL units are looked for as libavcodec does it, whatever the unit itself says of them. An SPS that we can't read might mean something
    /// to libavcodec, so it is refused too.
    private func checkParameterSets(of unit: AccessUnit) throws(VideoDecodingError) {
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

    /// Gives the pictures that the stream's reordering still held back, at the stream's end.
    ///
    /// The next access unit begins a new stream and has to be an IDR one.
    public func flush() throws(VideoDecodingError) -> [I420Picture] {
        LibAVMessage.clear()
        isDrained = true
        let sent = avcodec_send_packet(context, nil)
        let pictures = try receive(copying: true)
        if sent < 0 && sent != shim_AVERROR_EOF { throw error(code: sent) }
        return pictures
    }

    /// Forgets all reference pictures, as before a new stream; the last picture stays.
    public func reset() {
        isDrained = false
        avcodec_flush_buffers(context)
    }

    /// A copy of the last picture that came out undamaged; nil before the first.
    public func lastPicture() throws(VideoDecodingError) -> I420Picture? {
        lastFrame.pointee.width > 0 ? try copyPicture(from: lastFrame) : nil
    }

    /// The size of the last picture that came out undamaged; nil before the first.
    public var lastPictureSize: PictureSize? {
        let (width, height) = (Int(lastFrame.pointee.width), Int(lastFrame.pointee.height))
        return width > 0 ? PictureSize(width: width, height: height) : nil
    }

    /// Takes every picture that is ready, also those behind a damaged one, so that the next packet finds room.
    private func receive(copying: Bool) throws(VideoDecodingError) -> [I420Picture] {
        var pictures: [I420Picture] = []
        var failure: VideoDecodingError?
        while true {
            let code = avcodec_receive_frame(context, frame)
            if code == shim_AVERROR_EAGAIN || code == shim_AVERROR_EOF { break }
            if code < 0 {
                failure = failure ?? error(code: code)
                // An error that repeats itself without taking anything off the queue must not hold us here.
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

    /// What is wrong with a picture that libavcodec gave out all the same.
    private func damage(of frame: UnsafePointer<AVFrame>) -> String? {
        if LibAVMessage.tellsOfLostPicture { return "a picture before it is lost" }
        if frame.pointee.decode_error_flags != 0 { return LibAVMessage.first(code: shim_AVERROR_INVALIDDATA) }
        if frame.pointee.flags & Int32(AV_FRAME_FLAG_CORRUPT) != 0 {
            return "the IDR picture that it builds on is lost"
        }
        return nil
    }

    /// Copies the unit to where libavcodec may read `AV_INPUT_BUFFER_PADDING_SIZE` bytes past its end.
    private func fillPacket(with unit: AccessUnit) throws(VideoDecodingError) {
        let count = unit.bytes.count
        let needed = count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
        // The decoder is done with the last packet's bytes when nobody but us refers to them.
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
        // Rides along to the picture that is made from this packet, over any reordering.
        packet.pointee.pts = unit.captureTime?.nanoseconds ?? shim_AV_NOPTS_VALUE
        packet.pointee.flags = unit.isIDR ? AV_PKT_FLAG_KEY : 0
    }

    private func error(code: Int32) -> VideoDecodingError {
        if shim_account(account).pointee.is_exceeded != 0 { return .tooManyPictures }
        return code == shim_AVERROR_ENOMEM ? .outOfMemory : .damaged(reason: LibAVMessage.first(code: code))
    }
}
