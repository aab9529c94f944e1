import CLibAV
public import MediaTypes

/// Writes one H.264 track into a file that players know, by libavformat; nothing is encoded again.
///
/// Each packet has its own time, so a rate that varies stays as it was. One thread at a time; `finish` makes the file
/// whole, and without it the file is of no use. Closes the file when it goes.
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

    /// Writes one access unit; they come in the order of decoding.
    ///
    /// - Throws: also where an earlier one could not be written, since the system may say so late.
    public func write(_ unit: consuming MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        guard let stream = context.pointee.streams[0] else { throw .outOfMemory }
        defer { av_packet_unref(packet) }
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
        packet.pointee.flags = unit.accessUnit.isIDR ? AV_PKT_FLAG_KEY : 0
        var bytes = Self.lengthPrefixed(Self.accessUnit(consume unit))
        let count = Int32(clamping: bytes.count)
        // Without a buffer of its own the packet is taken as it is, and nothing is kept of it behind the call.
        let code = bytes.withUnsafeMutableBufferPointer { bytes in
            packet.pointee.data = bytes.baseAddress
            packet.pointee.size = count
            return av_write_frame(context, packet)
        }
        packet.pointee.data = nil
        packet.pointee.size = 0
        try check(code)
        // Matroska gathers a cluster in memory: one of a large picture shall not be there with the next.
        if count > Self.largePicture { try check(av_write_frame(context, nil)) }
        try check(context.pointee.pb.pointee.error)
    }

    private static let largePicture: Int32 = 1 << 20

    /// Writes what the file needs at its end, and closes it.
    public func finish() throws(MediaFileError) {
        guard isOpen else { return }
        let trailer = av_write_trailer(context)
        let late = context.pointee.pb.pointee.error
        isOpen = false
        let closing = avio_closep(&context.pointee.pb)
        for code in [trailer, late, closing] { try check(code) }
    }

    /// Each NAL unit behind its length (ISO/IEC 14496-15 section 4.3.3): the library would make a copy of Annex B to do
    /// that. In the unit's own memory, where nobody else has it and start codes of four bytes are all that is between.
    private static func lengthPrefixed(_ unit: consuming AccessUnit) -> [UInt8] {
        let ranges = unit.nalUnits
        var bytes = Self.bytes(consume unit)
        var end = 0
        let isDense = ranges.allSatisfy { range in
            defer { end = range.upperBound }
            return range.lowerBound == end + 4
        }
        if isDense, end == bytes.count {
            for range in ranges { write(range.count, to: &bytes, at: range.lowerBound - 4) }
            return bytes
        }
        var whole: [UInt8] = []
        whole.reserveCapacity(ranges.reduce(0) { $0 + $1.count + 4 })
        for range in ranges {
            whole += [0, 0, 0, 0]
            write(range.count, to: &whole, at: whole.count - 4)
            whole += bytes[range]
        }
        return whole
    }

    // What is left of a value that was taken apart would keep its bytes from being changed in place.
    private static func accessUnit(_ packet: consuming MediaPacket) -> AccessUnit { packet.accessUnit }
    private static func bytes(_ unit: consuming AccessUnit) -> [UInt8] { unit.bytes }

    private static func write(_ length: Int, to bytes: inout [UInt8], at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
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
        guard let record = DecoderConfiguration(track.parameterSets)?.bytes else {
            throw .rejected(reason: "its parameter sets can't be read")
        }
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let memory = av_mallocz(record.count + padding) else { throw .outOfMemory }
        record.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: record.count)
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
    /// Whether access units further on carry other parameter sets: the track is then marked as one whose samples have
    /// their own (avc3 of ISO/IEC 14496-15).
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
    public var accessUnit: AccessUnit
    /// Never before that of the packet in front; may be negative.
    public var decodingTime: Interval
    /// Never before `decodingTime`.
    public var presentationTime: Interval
    /// To the next picture; counts for the last one alone.
    public var duration: Interval

    /// An access unit with these times.
    public init(
        accessUnit: AccessUnit, decodingTime: Interval, presentationTime: Interval, duration: Interval
    ) {
        self.accessUnit = accessUnit
        self.decodingTime = decodingTime
        self.presentationTime = presentationTime
        self.duration = duration
    }
}
