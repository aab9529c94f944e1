import CLibAV
public import MediaTypes

/// Writes one H.264 track into a file that players know, by libavformat; nothing is encoded again.
///
/// Each packet has its own time, so a rate that varies stays as it was. One thread at a time; `finish` makes the file whole,
/// and without it the file is of no use. Closes the file when it goes.
public final class MediaFileWriter {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var isOpen = false
    /// Where decoding times have to grow from one packet to the next.
    private let needsGrowingTimes: Bool
    private var lastDecodingTime: Int64?

    /// Creates the file, or empties the one that is there, and writes its front.
    public init(path: String, container: MediaContainer, track: MediaTrack) throws(MediaFileError) {
        av_log_set_level(AV_LOG_FATAL)
        var made: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&made, nil, container.libraryName, nil)
        guard code >= 0, let made else { throw MediaFileError(code) }
        guard let packet = av_packet_alloc() else {
            avformat_free_context(made)
            throw .outOfMemory
        }
        context = made
        self.packet = packet
        needsGrowingTimes = container == .mp4
        try Self.addTrack(track, container, to: made)
        // Without the prefix a colon in the name would make it another protocol's.
        try check(avio_open(&made.pointee.pb, "file:" + path, AVIO_FLAG_WRITE))
        isOpen = true
        // Times before the first picture's are for the decoder alone: they must not move all others.
        made.pointee.avoid_negative_ts = 0
        try check(avformat_write_header(made, nil))
    }

    deinit {
        if isOpen { avio_closep(&context.pointee.pb) }
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    /// Writes one access unit, in Annex B form; access units come in the order of decoding.
    ///
    /// - Throws: also where an earlier one could not be written, since the system may say so late.
    public func write(_ unit: MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        let count = unit.bytes.count
        try check(av_new_packet(packet, Int32(clamping: count)))
        defer { av_packet_unref(packet) }
        guard count <= Int(Int32.max), let data = packet.pointee.data, let stream = context.pointee.streams[0] else {
            throw .outOfMemory
        }
        unit.bytes.withUnsafeBufferPointer { bytes in
            if let base = bytes.baseAddress { data.update(from: base, count: count) }
        }
        let base = stream.pointee.time_base
        var decodingTime = Self.ticks(unit.decodingTime, in: base)
        if let lastDecodingTime {
            decodingTime = max(decodingTime, needsGrowingTimes ? lastDecodingTime + 1 : lastDecodingTime)
        }
        lastDecodingTime = decodingTime
        packet.pointee.stream_index = 0
        packet.pointee.dts = decodingTime
        packet.pointee.pts = max(decodingTime, Self.ticks(unit.presentationTime, in: base))
        packet.pointee.duration = Self.ticks(unit.duration, in: base)
        packet.pointee.flags = unit.isIDR ? AV_PKT_FLAG_KEY : 0
        try check(av_write_frame(context, packet))
        try check(context.pointee.pb.pointee.error)
    }

    /// Writes what the file needs at its end, and closes it.
    public func finish() throws(MediaFileError) {
        guard isOpen else { return }
        let trailer = av_write_trailer(context)
        let late = context.pointee.pb.pointee.error
        isOpen = false
        let closing = avio_closep(&context.pointee.pb)
        for code in [trailer, late, closing] { try check(code) }
    }

    private static func addTrack(
        _ track: MediaTrack, _ container: MediaContainer, to context: UnsafeMutablePointer<AVFormatContext>
    ) throws(MediaFileError) {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar else {
            throw .outOfMemory
        }
        // The clock of RTP and MPEG; Matroska's muxer goes by milliseconds whatever is asked for.
        stream.pointee.time_base = AVRational(num: 1, den: 90_000)
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = AV_CODEC_ID_H264
        parameters.pointee.width = Int32(clamping: track.size.width)
        parameters.pointee.height = Int32(clamping: track.size.height)
        if container == .mp4, track.changesParameterSets { parameters.pointee.codec_tag = tag("avc3") }
        let sets = track.parameterSets.reduce(into: [UInt8]()) { $0 += [0, 0, 0, 1] + $1 }
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard sets.count <= 1 << 20, let memory = av_mallocz(sets.count + padding) else { throw .outOfMemory }
        sets.withUnsafeBytes {
            memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: sets.count)
    }

    /// MKTAG: the first letter in the lowest byte.
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

/// A format of files.
public enum MediaContainer: Sendable {
    /// ISO/IEC 14496-14.
    case mp4
    /// Matroska (RFC 9559). Its times are whole milliseconds here.
    case matroska

    var libraryName: String {
        switch self {
        case .mp4: "mp4"
        case .matroska: "matroska"
        }
    }
}

/// An H.264 track.
public struct MediaTrack: Sendable {
    /// The SPS and PPS that hold at its beginning, without start codes.
    public var parameterSets: [[UInt8]]
    /// The visible size.
    public var size: PictureSize
    /// Whether access units further on carry other parameter sets: the track is then marked as one whose samples have their
    /// own (avc3 of ISO/IEC 14496-15).
    public var changesParameterSets: Bool

    /// A track with these parts.
    public init(parameterSets: [[UInt8]], size: PictureSize, changesParameterSets: Bool) {
        self.parameterSets = parameterSets
        self.size = size
        self.changesParameterSets = changesParameterSets
    }
}

/// An access unit and its times, all since the track's beginning.
public struct MediaPacket: Sendable {
    /// In Annex B form.
    public var bytes: [UInt8]
    /// Never before that of the packet in front; may be negative.
    public var decodingTime: Interval
    /// Never before `decodingTime`.
    public var presentationTime: Interval
    /// To the next picture; counts for the last one alone.
    public var duration: Interval
    public var isIDR: Bool

    /// An access unit with these times.
    public init(
        bytes: [UInt8], decodingTime: Interval, presentationTime: Interval, duration: Interval, isIDR: Bool
    ) {
        self.bytes = bytes
        self.decodingTime = decodingTime
        self.presentationTime = presentationTime
        self.duration = duration
        self.isIDR = isIDR
    }
}
