import CLibAV
public import MediaTypes

/// A container format.
public enum MediaContainer: Sendable {
    /// MP4 (ISO/IEC 14496-14). The clock is 90 kHz; if pictures are hours apart, it is 10 kHz, and if they are days
    /// apart, 1 kHz.
    case mp4
    /// Matroska (RFC 9559). Times are rounded to whole milliseconds.
    case matroska
    /// Flash Video, which RTMP carries. Times are whole milliseconds.
    case flash
    /// An MPEG-2 transport stream (ITU-T H.222.0), which SRT carries.
    case transportStream
    /// MP4 in fragments of a second: the written part can be played, whatever happens to the writer.
    case fragmentedMP4
    /// Matroska in clusters of a second, so that the written part can be played too.
    case clusteredMatroska
    /// The fragments of MP4 that ``HLSWriter`` makes files of.
    case hls
    /// No file, but a session with an RTSP server (RFC 2326), over which RTP goes interleaved.
    case rtsp
}

/// A track of a file.
public struct MediaTrack: Sendable {
    /// The codec and the size of the pictures.
    public var format: FrameFacts.FileFormat
    /// The headers that apply at the beginning, which are the SPS and PPS of H.264, without start codes.
    public var headers: [[UInt8]]
    /// Whether later frames carry other headers.
    public var changesHeaders: Bool
    /// The longest time between the decoding of two consecutive packets, or between decoding and presentation of one. A
    /// long step makes times coarser in formats that store them with few bits.
    public var maxStep: Interval
    /// How long the last picture is shown. Every other picture is shown until the next one.
    public var lastDuration: Interval

    /// Creates a track from its properties.
    public init(
        format: FrameFacts.FileFormat, headers: [[UInt8]], changesHeaders: Bool, maxStep: Interval,
        lastDuration: Interval
    ) {
        self.format = format
        self.headers = headers
        self.changesHeaders = changesHeaders
        self.maxStep = maxStep
        self.lastDuration = lastDuration
    }
}

/// A frame and its times, from the beginning of the track.
public struct MediaPacket: Sendable {
    /// The coded frame.
    public var frame: CodedFrame
    /// The decoding time: not before the previous packet's; may be negative.
    public var decodingTime: Interval
    /// The presentation time. It must not be before `decodingTime`.
    public var presentationTime: Interval
    /// The headers that apply from this frame on; empty if they haven't changed. Only Flash Video and HLS need them.
    public var newHeaders: [[UInt8]] = []
    /// The format from this frame on; nil if it hasn't changed.
    public var newFormat: FrameFacts.FileFormat?
    /// How long the frame is shown; nil if that is unknown or follows from the next frame.
    public var duration: Interval?

    /// Creates a packet from a frame and its times.
    public init(frame: CodedFrame, decodingTime: Interval, presentationTime: Interval) {
        self.frame = frame
        self.decodingTime = decodingTime
        self.presentationTime = presentationTime
    }
}

/// The rules of libavformat's muxers.
extension MediaContainer {
    /// libavformat's name for the format.
    var formatName: String {
        switch self {
        case .mp4: "mp4"
        case .matroska: "matroska"
        case .flash: "flv"
        case .fragmentedMP4: "mp4"
        case .clusteredMatroska: "matroska"
        case .hls: "mp4"
        case .transportStream: "mpegts"
        case .rtsp: "rtsp"
        }
    }

    /// The least and the longest step between decoding times, in ticks. In MP4, steps are stored, in a C int whose
    /// largest value is rejected.
    var steps: ClosedRange<Int64> {
        switch self {
        case .mp4, .fragmentedMP4, .hls: 1...Int64(Int32.max) - 1
        case .matroska, .clusteredMatroska: 1...Int64.max / 4
        case .flash, .transportStream, .rtsp: 1...Int64(Int32.max)
        }
    }

    /// Sets the options that differ between the formats, before the header is written.
    func prepare(
        _ context: UnsafeMutablePointer<AVFormatContext>,
        for pictures: (track: MediaTrack, parameters: UnsafeMutablePointer<AVCodecParameters>)?
    ) -> Int32 {
        switch self {
        case .mp4:
            guard let pictures else { return 0 }
            Self.name(pictures.track, in: pictures.parameters)
            return av_opt_set_int(
                context.pointee.priv_data, "video_track_timescale", timescale(for: pictures.track.maxStep), 0)
        case .matroska:
            // Without random identifiers, an export of the same pictures always gives the same bytes.
            context.pointee.flags |= AVFMT_FLAG_BITEXACT
            return 0
        case .flash:
            // A live stream has neither.
            return av_opt_set(context.pointee.priv_data, "flvflags", "no_duration_filesize", 0)
        case .fragmentedMP4:
            if let pictures { Self.name(pictures.track, in: pictures.parameters) }
            return Self.set(
                ["movflags": "empty_moov+default_base_moof+frag_keyframe", "frag_duration": "1000000"], in: context)
        case .clusteredMatroska: return Self.set(["cluster_time_limit": "1000"], in: context)
        case .hls:
            if let pictures { Self.name(pictures.track, in: pictures.parameters) }
            // With the times of the stream in each piece, a player can begin with any of them.
            return Self.set(
                ["movflags": "frag_custom+empty_moov+default_base_moof+frag_discont+skip_trailer"], in: context)
        case .transportStream:
            // By itself libavformat collects 2,930 bytes or 120 ms of sound, which then arrive up to 180 ms behind
            // their pictures.
            return av_opt_set_int(context.pointee.priv_data, "pes_payload_size", 0, 0)
        case .rtsp: return av_opt_set(context.pointee.priv_data, "rtsp_transport", "tcp", 0)
        }
    }

    /// Sets the type of MP4's sample entry, where it isn't left to libavformat.
    private static func name(_ track: MediaTrack, in parameters: UnsafeMutablePointer<AVCodecParameters>) {
        if let entry = track.format.codec.sampleEntry(track) { parameters.pointee.codec_tag = tag(entry) }
    }

    /// Sets options of the format; returns libavformat's code for the first rejected one.
    private static func set(
        _ options: [String: String], in context: UnsafeMutablePointer<AVFormatContext>
    ) -> Int32 {
        for (name, value) in options {
            let code = av_opt_set(context.pointee.priv_data, name, value, 0)
            if code < 0 { return code }
        }
        return 0
    }

    /// The ticks per second: 90,000, as in RTP and MPEG, or the finest clock that can express `maxStep`.
    ///
    /// The coarsest clock lasts for steps of 24 days; an even coarser one could not give each picture its own time.
    private func timescale(for maxStep: Interval) -> Int64 {
        for ticks: Int64 in [90_000, 10_000] where maxStep < .seconds(steps.upperBound / ticks) { return ticks }
        return 1000
    }

    /// MKTAG: the first letter is in the lowest byte.
    private static func tag(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { bytes in bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
    }
}
