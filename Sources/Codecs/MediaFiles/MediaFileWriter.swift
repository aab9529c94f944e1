import CLibAV
import MediaTypes

/// Writes one track into a container file that players can open, with libavformat and without re-encoding.
///
/// Each packet has its own time, so a variable frame rate is kept. May be used from one thread at a time. The file is
/// unusable until `finish` has completed it. The file is closed when the writer is released.
public final class MediaFileWriter {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let steps: ClosedRange<Int64>
    private let lastDuration: Interval
    private let codec: TrackFormat.Codec
    private var isOpen = false
    private var lastDecodingTime: Int64?
    /// The ticks by which all following times are moved back, because time steps longer than the limit are shortened to
    /// it.
    private var cut: Int64 = 0

    /// Creates the file, or truncates an existing one, and writes the header.
    public init(path: String, container: MediaContainer, track: MediaTrack) throws(MediaFileError) {
        guard let configuration = track.format.codec.configuration(track) else {
            throw .rejected(reason: "its headers can't be read")
        }
        av_log_set_level(AV_LOG_FATAL)
        var made: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&made, nil, container.formatName, nil)
        guard code >= 0, let made else { throw MediaFileError(code) }
        guard let packet = av_packet_alloc() else {
            avformat_free_context(made)
            throw .outOfMemory
        }
        context = made
        self.packet = packet
        steps = container.steps
        lastDuration = track.lastDuration
        codec = track.format.codec
        let parameters = try addTrack(track.format, configuration)
        try check(container.prepare(made, parameters, for: track))
        // Without the prefix, a colon in the name would be taken for the end of a protocol's name.
        try check(avio_open(&made.pointee.pb, "file:" + path, AVIO_FLAG_WRITE))
        isOpen = true
        // Times before the first picture's only matter to the decoder: they must not shift all other times.
        made.pointee.avoid_negative_ts = 0
        try check(avformat_write_header(made, nil))
    }

    deinit {
        if isOpen { avio_closep(&context.pointee.pb) }
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    /// Writes one frame. Frames must be in decoding order.
    ///
    /// - Throws: ``MediaFileError``. The error may be about an earlier frame, because the system may report it
    ///   late.
    public func write(_ unit: consuming MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        guard let stream = context.pointee.streams[0] else { throw .outOfMemory }
        defer { av_packet_unref(packet) }
        let base = stream.pointee.time_base
        var decodingTime = Self.ticks(unit.decodingTime, in: base) - cut
        if let lastDecodingTime {
            let excess = max(0, decodingTime - lastDecodingTime - steps.upperBound)
            cut += excess
            decodingTime = max(decodingTime - excess, lastDecodingTime + steps.lowerBound)
        }
        let presentationTime = Self.ticks(unit.presentationTime, in: base) - cut
        lastDecodingTime = decodingTime
        packet.pointee.stream_index = 0
        packet.pointee.dts = decodingTime
        packet.pointee.pts = min(max(decodingTime, presentationTime), decodingTime + steps.upperBound)
        // Only the last packet's duration matters: libavformat takes the latest end time as the end of the track.
        packet.pointee.duration = min(max(0, Self.ticks(lastDuration, in: base)), steps.upperBound)
        packet.pointee.flags = unit.frame.isRandomAccess ? AV_PKT_FLAG_KEY : 0
        var bytes = codec.sample(of: Self.frame(unit))
        let count = Int32(clamping: bytes.count)
        // A packet without a buffer is written as it is, and libavformat keeps no reference to it after the call.
        let code = bytes.withUnsafeMutableBufferPointer { bytes in
            packet.pointee.data = bytes.baseAddress
            packet.pointee.size = count
            return av_write_frame(context, packet)
        }
        packet.pointee.data = nil
        packet.pointee.size = 0
        try check(code)
        try check(context.pointee.pb.pointee.error)
    }

    /// Writes the end of the file, and closes it.
    public func finish() throws(MediaFileError) {
        guard isOpen else { return }
        let trailer = av_write_trailer(context)
        let late = context.pointee.pb.pointee.error
        isOpen = false
        let closing = avio_closep(&context.pointee.pb)
        for code in [trailer, late, closing] { try check(code) }
    }

    private func addTrack(
        _ format: FrameFacts.FileFormat, _ record: [UInt8]
    ) throws(MediaFileError) -> UnsafeMutablePointer<AVCodecParameters> {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar,
            let memory = av_mallocz(record.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory }
        record.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: record.count)
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = format.codec.identifier
        parameters.pointee.width = Int32(clamping: format.size.width)
        parameters.pointee.height = Int32(clamping: format.size.height)
        return parameters
    }

    /// Consumes the whole packet. A remaining part would still refer to the bytes and cause a copy on write.
    private static func frame(_ packet: consuming MediaPacket) -> CodedFrame { packet.frame }

    private static func ticks(_ interval: Interval, in base: AVRational) -> Int64 {
        av_rescale_q(interval.nanoseconds, AVRational(num: 1, den: 1_000_000_000), base)
    }

    private func check(_ code: Int32) throws(MediaFileError) {
        if code < 0 { throw MediaFileError(code) }
    }
}
