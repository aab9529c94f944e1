import CLibAV
import MediaTypes

/// Writes one H.264 track as MP4 (ISO/IEC 14496-14) with libavformat.
final class MP4Writer: MediaFormatWriter {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let lastDuration: Interval
    private var isOpen = false
    private var lastDecodingTime: Int64?
    /// The ticks by which all following times are moved back, because time steps longer than the limit are shortened to
    /// it.
    private var cut: Int64 = 0

    /// The longest time step: libavformat keeps steps in a C int, and rejects the largest value.
    private static let stepLimit = Int64(Int32.max) - 1

    init(path: String, track: MediaTrack, configuration: DecoderConfiguration) throws(MediaFileError) {
        av_log_set_level(AV_LOG_FATAL)
        var made: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&made, nil, "mp4", nil)
        guard code >= 0, let made else { throw MediaFileError(code) }
        guard let packet = av_packet_alloc() else {
            avformat_free_context(made)
            throw .outOfMemory
        }
        context = made
        self.packet = packet
        lastDuration = track.lastDuration
        try Self.addTrack(track, configuration.bytes, to: made)
        // Without the prefix, a colon in the name would be taken for the end of a protocol's name.
        try check(avio_open(&made.pointee.pb, "file:" + path, AVIO_FLAG_WRITE))
        isOpen = true
        try check(av_opt_set_int(made.pointee.priv_data, "video_track_timescale", Self.timescale(track.longestStep), 0))
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

    func write(_ bytes: consuming [UInt8], _ times: MediaTimes, isKey: Bool) throws(MediaFileError) {
        guard let stream = context.pointee.streams[0] else { throw .outOfMemory }
        defer { av_packet_unref(packet) }
        let base = stream.pointee.time_base
        var decodingTime = Self.ticks(times.decoding, in: base) - cut
        if let lastDecodingTime {
            let excess = max(0, decodingTime - lastDecodingTime - Self.stepLimit)
            cut += excess
            // Decoding times must increase from packet to packet.
            decodingTime = max(decodingTime - excess, lastDecodingTime + 1)
        }
        let presentationTime = Self.ticks(times.presentation, in: base) - cut
        lastDecodingTime = decodingTime
        packet.pointee.stream_index = 0
        packet.pointee.dts = decodingTime
        packet.pointee.pts = min(max(decodingTime, presentationTime), decodingTime + Self.stepLimit)
        // Only the last packet's duration matters: libavformat takes the latest end time as the end of the track.
        packet.pointee.duration = min(max(0, Self.ticks(lastDuration, in: base)), Self.stepLimit)
        packet.pointee.flags = isKey ? AV_PKT_FLAG_KEY : 0
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

    func finish() throws(MediaFileError) {
        guard isOpen else { return }
        let trailer = av_write_trailer(context)
        let late = context.pointee.pb.pointee.error
        isOpen = false
        let closing = avio_closep(&context.pointee.pb)
        for code in [trailer, late, closing] { try check(code) }
    }

    private static func addTrack(
        _ track: MediaTrack, _ record: [UInt8], to context: UnsafeMutablePointer<AVFormatContext>
    ) throws(MediaFileError) {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar else {
            throw .outOfMemory
        }
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = AV_CODEC_ID_H264
        parameters.pointee.width = Int32(clamping: track.size.width)
        parameters.pointee.height = Int32(clamping: track.size.height)
        if track.changesParameterSets { parameters.pointee.codec_tag = tag("avc3") }
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let memory = av_mallocz(record.count + padding) else { throw .outOfMemory }
        record.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: record.count)
    }

    /// The ticks per second: 90,000, as in RTP and MPEG, or the finest clock that can express `longestStep`.
    ///
    /// The coarsest clock lasts for steps of 24 days; an even coarser one could not give each picture its own time.
    private static func timescale(_ longestStep: Interval) -> Int64 {
        for ticks: Int64 in [90_000, 10_000] where longestStep < .seconds(stepLimit / ticks) { return ticks }
        return 1000
    }

    /// MKTAG: the first letter is in the lowest byte.
    private static func tag(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { bytes in bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
    }

    private static func ticks(_ interval: Interval, in base: AVRational) -> Int64 {
        av_rescale_q(interval.nanoseconds, AVRational(num: 1, den: 1_000_000_000), base)
    }

    private func check(_ code: Int32) throws(MediaFileError) {
        if code < 0 { throw MediaFileError(code) }
    }
}
