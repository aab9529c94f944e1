public import AudioCoding
import CLibAV
import LibAVMessages
public import MediaTypes

/// Decodes the packets of one stream of sound with libavcodec, whatever its codec, to samples at 48 kHz.
///
/// Not thread-safe: its owner calls it from one thread at a time.
public final class AudioDecoder {
    /// What became of a packet, or of a part of it.
    public struct Piece: Sendable {
        /// With the decoder's number of channels.
        public let samples: AudioSamples
        /// When the first sample was captured, by the packet's time; nil if the packet has none.
        public let captureTime: MonotonicTime?
    }

    /// The longest packet that is decoded, in bytes.
    public static let packetLimit = 1 << 20
    /// The samples of one channel in a second that a stream may have.
    public static let rates = 8_000...192_000
    /// The channels that a stream may have.
    public static let channelCounts = 1...8
    /// The most samples of one channel in a frame: some seconds.
    private static let frameLimit = 192_000

    /// The channels of the decoded sound: 1 if the stream is described as mono, else 2.
    public let channelCount: Int

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>
    /// The converter for frames like the last one.
    private var converter: (format: Int32, SampleConverter)?

    /// Creates a decoder.
    ///
    /// - Throws: ``AudioCodingError`` if libavcodec has none for the codec, or the stream exceeds a limit.
    public init(_ stream: AudioDescription) throws(AudioCodingError) {
        try Self.check(rate: stream.rate, channelCount: stream.channelCount, mayBeUnknown: true)
        _ = LibAVMessage.isKept
        guard let descriptor = avcodec_descriptor_get_by_name(stream.codec),
            let codec = avcodec_find_decoder(descriptor.pointee.id)
        else { throw .unusable(reason: "this libavcodec was built without a decoder for \(stream.codec)") }
        guard UsedDecoders.audio.contains(String(cString: codec.pointee.name)) else {
            throw .unusable(reason: "\(stream.codec) is not among the codecs that are decoded here")
        }
        var made = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        var frame = av_frame_alloc()
        guard let context = made, let somePacket = packet, let someFrame = frame, Self.describe(stream, to: context)
        else {
            avcodec_free_context(&made)
            av_packet_free(&packet)
            av_frame_free(&frame)
            throw .failed(call: "avcodec_alloc_context3", reason: "no memory left")
        }
        self.context = context
        self.packet = somePacket
        self.frame = someFrame
        channelCount = stream.channelCount == 1 ? 1 : 2
        context.pointee.thread_count = 1
        context.pointee.max_samples = Int64(Self.frameLimit)
        LibAVMessage.clear()
        let code = avcodec_open2(context, codec, nil)
        if code < 0 { throw Self.failure(of: "avcodec_open2", code) }
    }

    deinit {
        var (context, packet, frame): (_?, _?, _?) = (context, packet, frame)
        avcodec_free_context(&context)
        av_packet_free(&packet)
        av_frame_free(&frame)
    }

    /// Tells a decoder that isn't open yet of the stream. Returns false if no memory is left.
    private static func describe(_ stream: AudioDescription, to context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.codec_tag = stream.tag
        context.pointee.sample_rate = Int32(clamping: stream.rate)
        context.pointee.bits_per_coded_sample = Int32(clamping: stream.bitsPerSample)
        context.pointee.block_align = Int32(clamping: stream.blockByteCount)
        context.pointee.bit_rate = Int64(stream.bitRate.bitsPerSecond)
        if stream.channelCount > 0 { shim_set_channels(context, Int32(clamping: stream.channelCount)) }
        guard !stream.headers.isEmpty else { return true }
        // The decoder may read on behind the headers, and frees them.
        guard let memory = av_mallocz(stream.headers.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        stream.headers.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
        }
        context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = Int32(clamping: stream.headers.count)
        return true
    }

    /// Decodes a packet.
    ///
    /// - Throws: libavcodec's error for a damaged packet; the next one can be decoded. `unusable` if the packet, its
    ///   rate or its channels exceed a limit.
    public func decode(_ sound: AudioPacket) throws(AudioCodingError) -> [Piece] {
        LibAVMessage.clear()
        try fillPacket(with: sound)
        let sent = avcodec_send_packet(context, packet)
        av_packet_unref(packet)
        var pieces: [Piece] = []
        // A packet may have several frames, of which libavcodec gives only the first its time.
        var end: MonotonicTime?
        while true {
            let code = avcodec_receive_frame(context, frame)
            if code == shim_AVERROR_EAGAIN || code == shim_AVERROR_EOF { break }
            guard code >= 0 else { throw Self.failure(of: "avcodec_receive_frame", code) }
            defer { av_frame_unref(frame) }
            let piece = try piece(of: shim_sound_of(frame), after: end)
            end = piece.captureTime.map { $0 + piece.samples.duration }
            if piece.samples.frameCount > 0 { pieces.append(piece) }
        }
        if sent < 0 { throw Self.failure(of: "avcodec_send_packet", sent) }
        return pieces
    }

    /// Forgets earlier packets: later ones don't continue them.
    public func reset() {
        avcodec_flush_buffers(context)
        converter = nil
    }

    private func fillPacket(with sound: AudioPacket) throws(AudioCodingError) {
        guard (1...Self.packetLimit).contains(sound.bytes.count), sound.headers.count <= Self.packetLimit else {
            throw .unusable(reason: "a packet of \(sound.bytes.count) bytes; it may have 1 to \(Self.packetLimit)")
        }
        guard av_new_packet(packet, Int32(clamping: sound.bytes.count)) >= 0, let data = packet.pointee.data else {
            throw .failed(call: "av_new_packet", reason: "no memory left")
        }
        Self.copy(sound.bytes, to: data)
        packet.pointee.pts = sound.captureTime?.nanoseconds ?? shim_AV_NOPTS_VALUE
        guard !sound.headers.isEmpty else { return }
        guard let room = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, sound.headers.count) else {
            av_packet_unref(packet)
            throw .failed(call: "av_packet_new_side_data", reason: "no memory left")
        }
        Self.copy(sound.headers, to: room)
    }

    private static func copy(_ bytes: [UInt8], to memory: UnsafeMutablePointer<UInt8>) {
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: memory, count: $0.count).copyMemory(from: $0) }
    }

    /// - Parameter end: where the piece before ends, in the same packet.
    private func piece(of sound: shim_sound, after end: MonotonicTime?) throws(AudioCodingError) -> Piece {
        let layout = SampleLayout(rate: Int(sound.rate), channelCount: Int(sound.channels))
        try Self.check(rate: layout.rate, channelCount: layout.channelCount, mayBeUnknown: false)
        guard let planes = sound.planes, (1...Self.frameLimit).contains(Int(sound.count)) else {
            throw .unusable(reason: "a frame of \(sound.count) samples; it may have 1 to \(Self.frameLimit)")
        }
        let converter = try currentConverter(from: layout, storedAs: sound.format)
        // What comes out first was taken that much earlier.
        let held = ClockRate(hertz: UInt32(clamping: layout.rate)).interval(of: Int64(converter.delay))
        let samples = Array(converter.convert(planes: planes, frameCount: Int(sound.count)))
        let time = sound.time == shim_AV_NOPTS_VALUE ? end : MonotonicTime(nanoseconds: sound.time) - held
        return Piece(samples: AudioSamples(channelCount: channelCount, samples: samples), captureTime: time)
    }

    private func currentConverter(
        from layout: SampleLayout, storedAs format: Int32
    ) throws(AudioCodingError) -> SampleConverter {
        if let (lastFormat, last) = converter, lastFormat == format, last.input == layout { return last }
        let output = SampleLayout(rate: AudioSamples.rate, channelCount: channelCount)
        guard let new = SampleConverter(from: layout, storedAs: format, to: output) else {
            throw .failed(call: "swr_init", reason: "libswresample doesn't take the samples")
        }
        converter = (format, new)
        return new
    }

    private static func check(rate: Int, channelCount: Int, mayBeUnknown: Bool) throws(AudioCodingError) {
        guard rates.contains(rate) || mayBeUnknown && rate == 0 else {
            throw .unusable(
                reason: "audio at \(rate) Hz; it may have \(rates.lowerBound) to \(rates.upperBound)")
        }
        guard channelCounts.contains(channelCount) || mayBeUnknown && channelCount == 0 else {
            throw .unusable(reason: "sound of \(channelCount) channels; it may have 1 to \(channelCounts.upperBound)")
        }
    }

    private static func failure(of call: String, _ code: Int32) -> AudioCodingError {
        .failed(call: call, reason: LibAVMessage.first(code: code))
    }
}
