import CLibAV
import Clocks
import LibAVMessages
import MediaTypes
import VideoDecoding

/// A file or another machine's stream that has been opened: which of its streams are read, and how.
struct OpenedMedia {
    /// The stream of pictures.
    struct Pictures {
        let stream: UnsafeMutablePointer<AVStream>
        /// The filter of its packets.
        let filter: UnsafeMutablePointer<AVBSFContext>
        /// Nil for H.264 that can pass as it is, for which no decoder has to be made.
        let otherCodec: StreamDescription?
    }

    /// The stream of sound.
    struct Audio {
        let stream: UnsafeMutablePointer<AVStream>
        let description: AudioDescription
    }

    /// The most bytes that may come before a stream's first packet.
    private static let maxHeaders = 1 << 20

    let context: UnsafeMutablePointer<AVFormatContext>
    private(set) var pictures: Pictures?
    private(set) var sound: Audio?
    /// The names of the codecs of streams that aren't read.
    let leftOut: [String]
    /// How many streams there were when it was opened.
    private let streamCount: Int
    private let reorders: Bool
    /// Kept for the context, both of them.
    private let watch: OpeningWatch
    private let input: InputContext?

    private init(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ watch: OpeningWatch, _ input: InputContext?,
        _ pictures: Pictures?, _ sound: Audio?, _ leftOut: [String], reorders: Bool
    ) {
        self.context = context
        self.watch = watch
        self.input = input
        self.pictures = pictures
        self.sound = sound
        self.leftOut = leftOut
        self.reorders = reorders
        streamCount = Int(context.pointee.nb_streams)
    }

    /// Whether the source is read over RTSP.
    var isRTSP: Bool { context.pointee.iformat?.pointee.name.map { String(cString: $0) } == "rtsp" }
    /// Whether the format shows its streams only by their packets, so that more may follow, for example over RTMP.
    var mayHaveMore: Bool { context.pointee.ctx_flags & AVFMTCTX_NOHEADER != 0 }

    /// Opens `address`. The caller closes the context and frees the filter.
    ///
    /// - Parameters:
    ///   - input: what is read instead of the address, whose scheme selects the format.
    ///   - reorders: whether frames of H.264 are known to arrive in another order than they are shown.
    /// - Throws: ``MediaFileError`` if the source can't be opened, or has neither pictures nor sound.
    static func open(
        _ address: String, _ input: InputContext?, _ connection: MediaConnection, _ timeouts: MediaReader.Timeouts,
        reorders: Bool
    ) throws(MediaFileError) -> OpenedMedia {
        let (context, watch) = try connect(to: address, input, connection, timeouts)
        do throws(MediaFileError) {
            // Analysing waits for several pictures, which a still screen doesn't send.
            if !isDescribed(context) {
                connection.allow(until: connection.now + timeouts.analysing)
                try check(avformat_find_stream_info(context, nil))
                // An input that was interrupted gives libavformat nothing more.
                if input != nil, connection.isLate { throw MediaFileError.rejected(reason: "no answer in time") }
            }
            let pictures = try findPictures(in: context, reorders: reorders)
            let sound = findSound(beside: pictures, in: context)
            guard pictures != nil || sound != nil else {
                throw MediaFileError.rejected(reason: "it has neither pictures nor sound")
            }
            let read = [pictures?.stream, sound?.stream]
            let leftOut = streams(of: context).filter { !read.contains($0) }.map { name(of: $0) }
            return OpenedMedia(context, watch, input, pictures, sound, leftOut, reorders: reorders)
        } catch {
            var context: UnsafeMutablePointer<AVFormatContext>? = context
            avformat_close_input(&context)
            throw error
        }
    }

    /// Reads the stream of a packet from now on, if it is a new one, and the only one of its kind.
    mutating func add(streamOf packet: UnsafeMutablePointer<AVPacket>) throws(MediaFileError) {
        let index = Int(packet.pointee.stream_index)
        guard index >= streamCount, index < Int(context.pointee.nb_streams),
            let stream = context.pointee.streams[index], let parameters = stream.pointee.codecpar?.pointee,
            parameters.codec_id != AV_CODEC_ID_NONE
        else { return }
        if parameters.codec_type == AVMEDIA_TYPE_VIDEO, pictures == nil {
            // A byte stream contains its headers; other streams have them before the first picture.
            let data = UnsafeBufferPointer(start: packet.pointee.data, count: max(0, Int(packet.pointee.size)))
            let isByteStream = data.starts(with: [0, 0, 1]) || data.starts(with: [0, 0, 0, 1])
            guard parameters.codec_id != AV_CODEC_ID_H264 || parameters.extradata_size > 0 || isByteStream else {
                return
            }
            pictures = try Self.readPictures(of: stream, headers: isByteStream ? Array(data) : [], reorders: reorders)
        } else if parameters.codec_type == AVMEDIA_TYPE_AUDIO, sound == nil, parameters.sample_rate > 0 {
            sound = Self.describeSound(of: stream)
        }
    }

    private static func connect(
        to address: String, _ input: InputContext?, _ connection: MediaConnection, _ timeouts: MediaReader.Timeouts
    ) throws(MediaFileError) -> (UnsafeMutablePointer<AVFormatContext>, OpeningWatch) {
        guard let allowed = AllowedFormats(address) else { throw .rejected(reason: "its protocol isn't known") }
        let format = allowed.format.flatMap { av_find_input_format($0) }
        guard allowed.format == nil || format != nil else {
            throw .rejected(reason: "this libavformat was built without its format")
        }
        guard let made = avformat_alloc_context() else { throw .outOfMemory }
        let watch = OpeningWatch(connection, address, made)
        made.pointee.interrupt_callback = watch.callback
        made.pointee.pb = input?.context
        made.pointee.max_analyze_duration = 1_000_000
        // By itself libavformat waits for twenty pictures, to find the frame rate.
        made.pointee.fps_probe_size = 0
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // Packets over the connection are never lost; a server that has only UDP is asked for that next.
        av_dict_set(&options, "rtsp_flags", "prefer_tcp", 0)
        // The demuxer of .wav gives half a second of telephone sound in a packet, which is too much at once for
        // viewers.
        av_dict_set(&options, "max_size", "1024", 0)
        Certificates.check(in: &options)
        av_dict_set(&options, "format_whitelist", allowed.formats, 0)
        av_dict_set(&options, "protocol_whitelist", allowed.protocols, 0)
        av_dict_set(&options, "codec_whitelist", UsedDecoders.list, 0)
        connection.allow(until: connection.now + timeouts.connecting)
        var context: UnsafeMutablePointer<AVFormatContext>? = made
        LibAVMessage.clear()
        // Frees the context if it fails.
        let code = avformat_open_input(&context, address, format, &options)
        guard code >= 0, let context else {
            if watch.hasMoved {
                throw .rejected(reason: "the server redirects to another host; if that is right, name that one")
            }
            throw MediaFileError(connecting: code)
        }
        return (context, watch)
    }

    private static func streams(
        of context: UnsafeMutablePointer<AVFormatContext>
    ) -> [UnsafeMutablePointer<AVStream>] {
        (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
    }

    /// The stream of this type that is the best for a viewer, and belongs to `related` if there are several programs.
    private static func bestStream(
        _ type: AVMediaType, in context: UnsafeMutablePointer<AVFormatContext>,
        beside related: UnsafeMutablePointer<AVStream>? = nil
    ) -> UnsafeMutablePointer<AVStream>? {
        let place = av_find_best_stream(context, type, -1, related?.pointee.index ?? -1, nil, 0)
        return place < 0 ? nil : context.pointee.streams[Int(place)]
    }

    /// Whether the source has described all that is needed of its pictures, and of sound whose codec is known.
    private static func isDescribed(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard let pictures = bestStream(AVMEDIA_TYPE_VIDEO, in: context)?.pointee.codecpar?.pointee else {
            return false
        }
        if pictures.codec_id == AV_CODEC_ID_NONE { return false }
        if pictures.codec_id == AV_CODEC_ID_H264, pictures.extradata_size <= 0 { return false }
        return streams(of: context).compactMap { $0.pointee.codecpar?.pointee }.allSatisfy { parameters in
            parameters.codec_type != AVMEDIA_TYPE_AUDIO || parameters.codec_id == AV_CODEC_ID_NONE
                || parameters.sample_rate > 0 && parameters.ch_layout.nb_channels > 0
        }
    }

    private static func findPictures(
        in context: UnsafeMutablePointer<AVFormatContext>, reorders: Bool
    ) throws(MediaFileError) -> Pictures? {
        try bestStream(AVMEDIA_TYPE_VIDEO, in: context).map { stream throws(MediaFileError) in
            try readPictures(of: stream, reorders: reorders)
        }
    }

    /// - Parameter packet: the first packet of a byte stream whose headers aren't elsewhere.
    private static func readPictures(
        of stream: UnsafeMutablePointer<AVStream>, headers packet: [UInt8] = [], reorders: Bool
    ) throws(MediaFileError) -> Pictures {
        guard let parameters = stream.pointee.codecpar?.pointee else { throw .rejected(reason: "it has no pictures") }
        let turns = quarterTurns(of: stream)
        if parameters.codec_id == AV_CODEC_ID_H264 {
            let filter = try makeFilter("h264_mp4toannexb", for: stream)
            // It makes a byte stream of the headers too.
            let headers = (filter.pointee.par_out?.pointee).map { Self.headers($0) } ?? []
            let traits = H264Traits(
                byteStream: headers.isEmpty ? packet : headers, reorders: reorders || parameters.video_delay > 0)
            if traits.words.isEmpty, turns == 0 { return Pictures(stream: stream, filter: filter, otherCodec: nil) }
            var unused: UnsafeMutablePointer<AVBSFContext>? = filter
            av_bsf_free(&unused)
            return try readOther(stream, parameters, turns, traits: traits.words)
        }
        return try readOther(stream, parameters, turns)
    }

    private static func readOther(
        _ stream: UnsafeMutablePointer<AVStream>, _ parameters: AVCodecParameters, _ turns: Int, traits: [String] = []
    ) throws(MediaFileError) -> Pictures {
        let description = try describe(stream, parameters, turns, traits)
        return Pictures(stream: stream, filter: try makeFilter("null", for: stream), otherCodec: description)
    }

    private static func findSound(
        beside pictures: Pictures?, in context: UnsafeMutablePointer<AVFormatContext>
    ) -> Audio? {
        bestStream(AVMEDIA_TYPE_AUDIO, in: context, beside: pictures?.stream).flatMap { describeSound(of: $0) }
    }

    /// Nil if its headers are too long.
    private static func describeSound(of stream: UnsafeMutablePointer<AVStream>) -> Audio? {
        guard let parameters = stream.pointee.codecpar?.pointee, Int(parameters.extradata_size) <= maxHeaders
        else { return nil }
        // RTP has this clock for MPEG sound, whatever its rate and its channels are (RFC 3551 section 4.5.13).
        let isTold = parameters.sample_rate != 90_000
        var description = AudioDescription(
            codec: name(of: stream), rate: isTold ? Int(parameters.sample_rate) : 0,
            channelCount: isTold ? Int(parameters.ch_layout.nb_channels) : 0)
        description.bitsPerSample = Int(parameters.bits_per_coded_sample)
        description.blockByteCount = Int(parameters.block_align)
        description.bitRate = BitRate(bitsPerSecond: Int(parameters.bit_rate))
        description.tag = parameters.codec_tag
        description.headers = headers(parameters)
        return Audio(stream: stream, description: description)
    }

    private static func headers(_ parameters: AVCodecParameters) -> [UInt8] {
        let count = max(0, Int(parameters.extradata_size))
        return parameters.extradata.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
    }

    /// The description of a stream for its decoder.
    private static func describe(
        _ stream: UnsafeMutablePointer<AVStream>, _ parameters: AVCodecParameters, _ turns: Int, _ traits: [String]
    ) throws(MediaFileError) -> StreamDescription {
        let count = Int(parameters.extradata_size)
        guard count <= maxHeaders else {
            throw .rejected(reason: "its headers have \(count) bytes; there can be \(maxHeaders)")
        }
        return StreamDescription(
            codec: parameters.codec_id.rawValue, name: name(of: stream), tag: parameters.codec_tag,
            size: parameters.width > 0 && parameters.height > 0
                ? PictureSize(width: Int(parameters.width), height: Int(parameters.height)) : nil,
            picturesPerSecond: rate(of: stream),
            headers: headers(parameters), quarterTurns: turns, traits: traits)
    }

    /// By how many quarters of a turn a stream's pictures have to be turned clockwise, as a phone's are.
    private static func quarterTurns(of stream: UnsafeMutablePointer<AVStream>) -> Int {
        let degrees = shim_rotation_of(stream)
        // Other angles are for editors: they would need a larger picture.
        guard degrees.isFinite, degrees.truncatingRemainder(dividingBy: 90) == 0 else { return 0 }
        return (4 - Int(degrees / 90)) % 4
    }

    /// The frame rate, rounded up, if the source states it.
    private static func rate(of stream: UnsafeMutablePointer<AVStream>) -> Int? {
        let rate = stream.pointee.avg_frame_rate
        guard rate.num > 0, rate.den > 0 else { return nil }
        return Int(min(240, max(1, av_q2d(rate).rounded(.up))))
    }

    /// Makes a filter. The filter for H.264 makes a byte stream of units that files keep with lengths, with the
    /// parameter sets before each IDR picture; `null` leaves everything as it is.
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
}
