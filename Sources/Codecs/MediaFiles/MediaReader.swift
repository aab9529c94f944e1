import CLibAV
import Clocks
import H264
import LibAVMessages
public import MediaTypes
public import VideoDecoding

/// Reads the pictures of a file or of another machine with libavformat, as they are.
///
/// Each call blocks for as long as the ``MediaConnection`` allows. May be used from one thread at a time. Closed when it
/// is released.
public final class MediaReader {
    /// One picture.
    public struct Picture: Sendable {
        public enum Content: Sendable {
            /// H.264, as a track takes it.
            case frame(CodedFrame)
            /// Another codec, for its decoder.
            case packet(StreamPacket)
        }

        public let content: Content
        /// When it is shown, or where it must be decoded first, when that is due, on the source's own clock; nil if it
        /// has no time.
        public let time: Interval?
    }

    /// The longest that connecting may take, and then finding out what the source sends.
    public struct Patience: Sendable {
        public var connecting = Interval.seconds(3)
        public var analysing = Interval.seconds(10)
        /// The longest until the next piece comes.
        public var reading = Interval.seconds(60)

        public init() {}
    }

    /// The most bytes that may come before a stream's first packet.
    private static let longestHeaders = 1 << 20

    /// The stream, if its codec isn't H.264: a decoder has to be made for it.
    public let otherCodec: StreamDescription?
    /// The names of the codecs of streams that aren't read, such as `pcm_mulaw`.
    public let leftOut: [String]
    /// The pictures that could not be read as one access unit each.
    public private(set) var brokenPictures = 0

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let filter: UnsafeMutablePointer<AVBSFContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let connection: MediaConnection
    private let patience: Patience
    private let stream: UnsafeMutablePointer<AVStream>

    /// Opens `address`, a URL of a protocol that libavformat knows, or `file:` and a path.
    ///
    /// - Throws: ``MediaFileError``, also if there are no pictures.
    public init(
        address: String, connection: MediaConnection, patience: Patience = Patience()
    ) throws(MediaFileError) {
        _ = LibAVMessage.isKept
        guard let packet = av_packet_alloc() else { throw .outOfMemory }
        let opened: Opened
        do throws(MediaFileError) {
            opened = try Self.open(address, connection, patience)
        } catch {
            var packet: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&packet)
            throw connection.isLate ? .rejected(reason: "no answer in time") : error
        }
        (context, filter, stream, leftOut) = (opened.context, opened.filter, opened.stream, opened.leftOut)
        otherCodec = opened.otherCodec
        (self.packet, self.connection, self.patience) = (packet, connection, patience)
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        var filter: UnsafeMutablePointer<AVBSFContext>? = filter
        av_bsf_free(&filter)
        // A server is told, which must not take long.
        connection.allow(until: .now() + .seconds(1))
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&context)
    }

    private struct Opened {
        let context: UnsafeMutablePointer<AVFormatContext>
        let filter: UnsafeMutablePointer<AVBSFContext>
        let stream: UnsafeMutablePointer<AVStream>
        let otherCodec: StreamDescription?
        let leftOut: [String]
    }

    private static func open(
        _ address: String, _ connection: MediaConnection, _ patience: Patience
    ) throws(MediaFileError) -> Opened {
        guard let made = avformat_alloc_context() else { throw .outOfMemory }
        made.pointee.interrupt_callback = connection.callback
        made.pointee.max_analyze_duration = 1_000_000
        // By itself libavformat waits for twenty pictures, to know how many there are in a second.
        made.pointee.fps_probe_size = 0
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // Packets over the connection are never lost; a server that has only UDP is asked for that next.
        av_dict_set(&options, "rtsp_flags", "prefer_tcp", 0)
        Certificates.check(in: &options)
        if !address.hasPrefix("file:") {
            // Else a server could name other addresses to be read, as by a playlist.
            av_dict_set(&options, "format_whitelist", "rtsp,rtp,sdp,flv,live_flv,mpegts,matroska,webm", 0)
        }
        connection.allow(until: .now() + patience.connecting)
        var context: UnsafeMutablePointer<AVFormatContext>? = made
        LibAVMessage.clear()
        // Frees the context if it fails.
        let code = avformat_open_input(&context, address, nil, &options)
        guard code >= 0, let context else { throw MediaFileError(connecting: code) }
        do throws(MediaFileError) {
            // Analysing waits for several pictures, which a still screen doesn't send.
            if !isDescribed(context) {
                connection.allow(until: .now() + patience.analysing)
                try check(avformat_find_stream_info(context, nil))
            }
            let place = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
            guard place >= 0, let stream = context.pointee.streams[Int(place)] else {
                throw MediaFileError.rejected(reason: "it has no pictures")
            }
            let otherCodec = try describeOtherCodec(of: stream)
            let filter = try makeFilter(otherCodec == nil ? "h264_mp4toannexb" : "null", for: stream)
            let leftOut = (0..<Int(context.pointee.nb_streams)).filter { $0 != Int(place) }
                .compactMap { context.pointee.streams[$0] }.map { name(of: $0) }
            return Opened(
                context: context, filter: filter, stream: stream, otherCodec: otherCodec, leftOut: leftOut)
        } catch {
            var context: UnsafeMutablePointer<AVFormatContext>? = context
            avformat_close_input(&context)
            throw error
        }
    }

    /// Whether the source has said all that is needed of its pictures.
    private static func isDescribed(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        let place = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard place >= 0, let parameters = context.pointee.streams[Int(place)]?.pointee.codecpar else { return false }
        switch parameters.pointee.codec_id {
        case AV_CODEC_ID_NONE: return false
        case AV_CODEC_ID_H264: return parameters.pointee.extradata_size > 0
        default: return true
        }
    }

    /// What a decoder must know of a stream; nil for H.264, which needs none.
    private static func describeOtherCodec(
        of stream: UnsafeMutablePointer<AVStream>
    ) throws(MediaFileError) -> StreamDescription? {
        guard let parameters = stream.pointee.codecpar?.pointee else { throw .rejected(reason: "it has no pictures") }
        if parameters.codec_id == AV_CODEC_ID_H264 { return nil }
        let count = Int(parameters.extradata_size)
        guard count <= longestHeaders else {
            throw .rejected(reason: "its headers have \(count) bytes; there can be \(longestHeaders)")
        }
        return StreamDescription(
            codec: parameters.codec_id.rawValue, name: name(of: stream), tag: parameters.codec_tag,
            size: parameters.width > 0 && parameters.height > 0
                ? PictureSize(width: Int(parameters.width), height: Int(parameters.height)) : nil,
            picturesPerSecond: rate(of: stream),
            headers: parameters.extradata.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? [])
    }

    /// The pictures in a second, rounded up, as far as the source says.
    private static func rate(of stream: UnsafeMutablePointer<AVStream>) -> Int? {
        let rate = stream.pointee.avg_frame_rate
        guard rate.num > 0, rate.den > 0 else { return nil }
        return Int(min(240, max(1, av_q2d(rate).rounded(.up))))
    }

    /// Makes a filter. That for H.264 makes a byte stream of what files keep with lengths, with the parameter sets
    /// before each IDR picture; `null` leaves everything as it is.
    private static func makeFilter(
        _ name: String, for stream: UnsafeMutablePointer<AVStream>
    ) throws(MediaFileError) -> UnsafeMutablePointer<AVBSFContext> {
        guard let kind = av_bsf_get_by_name(name) else {
            throw .rejected(reason: "this libavcodec was built without \(name)")
        }
        var filter: UnsafeMutablePointer<AVBSFContext>?
        try check(av_bsf_alloc(kind, &filter))
        guard let filter else { throw .outOfMemory }
        filter.pointee.time_base_in = stream.pointee.time_base
        var code = avcodec_parameters_copy(filter.pointee.par_in, stream.pointee.codecpar)
        if code >= 0 { code = av_bsf_init(filter) }
        guard code >= 0 else {
            var filter: UnsafeMutablePointer<AVBSFContext>? = filter
            av_bsf_free(&filter)
            throw MediaFileError(code)
        }
        return filter
    }

    private static func name(of stream: UnsafeMutablePointer<AVStream>) -> String {
        guard let parameters = stream.pointee.codecpar, let name = avcodec_get_name(parameters.pointee.codec_id) else {
            return "unknown"
        }
        return String(cString: name)
    }

    /// The source's parameter sets as a byte stream.
    private var headers: [UInt8] {
        guard let parameters = filter.pointee.par_out, let data = parameters.pointee.extradata else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
    }

    /// The next picture; nil at the end.
    public func next() throws(MediaFileError) -> Picture? {
        while true {
            let code = av_bsf_receive_packet(filter, packet)
            if code == 0 {
                defer { av_packet_unref(packet) }
                // H.264 has them in its frames too; another decoder must begin anew.
                if otherCodec != nil, av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil {
                    throw .rejected(reason: "its headers have changed")
                }
                if let picture = picture() { return picture }
                brokenPictures += 1
                continue
            }
            if code == shim_AVERROR_EOF { return nil }
            if code != shim_AVERROR_EAGAIN { throw MediaFileError(code) }
            connection.allow(until: .now() + patience.reading)
            let read = av_read_frame(context, packet)
            if read == shim_AVERROR_EOF {
                try check(av_bsf_send_packet(filter, nil))
                continue
            }
            guard read >= 0 else {
                throw connection.isLate ? .rejected(reason: "nothing came in time") : MediaFileError(read)
            }
            guard packet.pointee.stream_index == stream.pointee.index else {
                av_packet_unref(packet)
                continue
            }
            try check(av_bsf_send_packet(filter, packet))
        }
    }

    private func picture() -> Picture? {
        guard let data = packet.pointee.data, packet.pointee.size > 0 else { return nil }
        let bytes = Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
        if otherCodec != nil {
            let isKeyFrame = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
            return Picture(
                content: .packet(StreamPacket(bytes: bytes, isKeyFrame: isKeyFrame)),
                time: time(packet.pointee.dts, packet.pointee.pts))
        }
        guard var frame = try? CodedFrame(annexB: bytes) else { return nil }
        // A server may send the parameter sets in its description alone.
        let hasSequence = frame.units.contains { frame.bytes[$0.lowerBound] & 0x1F == 7 }
        if frame.isRandomAccess, !hasSequence, let complete = try? CodedFrame(annexB: headers + bytes) {
            frame = complete
        }
        return Picture(content: .frame(frame), time: time(packet.pointee.pts, packet.pointee.dts))
    }

    /// The first of these times that is known.
    private func time(_ first: Int64, _ second: Int64) -> Interval? {
        let ticks = first == shim_AV_NOPTS_VALUE ? second : first
        guard ticks != shim_AV_NOPTS_VALUE else { return nil }
        let nanoseconds = av_rescale_q(ticks, filter.pointee.time_base_out, AVRational(num: 1, den: 1_000_000_000))
        return Interval(nanoseconds: nanoseconds)
    }

    /// Asks the source to stop sending for a while; false if it can't.
    public func pause() -> Bool {
        connection.allow(until: .now() + patience.connecting)
        return av_read_pause(context) >= 0
    }

    /// Asks the source to send again; false if it doesn't.
    public func resume() -> Bool {
        connection.allow(until: .now() + patience.connecting)
        return av_read_play(context) >= 0
    }
}

private func check(_ code: Int32) throws(MediaFileError) {
    if code < 0 { throw MediaFileError(code) }
}
