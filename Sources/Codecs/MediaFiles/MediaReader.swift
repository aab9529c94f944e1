import CLibAV
import Clocks
import H264
import LibAVMessages
public import MediaTypes
public import VideoDecoding

/// Reads the pictures and the sound of a file or of another machine with libavformat, as they are.
///
/// Each call blocks for as long as the ``MediaConnection`` allows. May be used from one thread at a time. Closed when
/// it is released.
public final class MediaReader {
    /// One picture, or one packet of sound.
    public struct Piece: Sendable {
        /// The content of a piece: a frame of video, or a packet of video or sound.
        public enum Content: Sendable {
            /// A picture in H.264, as a track takes it.
            case frame(CodedFrame)
            /// A picture in another codec, for its decoder.
            case packet(StreamPacket)
            case sound(AudioPacket)
        }

        /// The frame or packet.
        public let content: Content
        /// When it is shown or heard, on the source's own clock; nil if it has no time.
        public let time: Interval?
        /// When it is due on that clock: when a picture is shown, or where it must be decoded first, when that is; and
        /// when sound ends, since it isn't whole before.
        public let due: Interval?
    }

    /// The longest times for connecting, for finding out the source's streams, and for reading.
    public struct Timeouts: Sendable {
        /// The longest time until the source is connected.
        public var connecting = Interval.seconds(3)
        /// The longest time from then on until the source's streams are known.
        public var analysing = Interval.seconds(10)
        /// The longest time until the next piece arrives.
        public var reading = Interval.seconds(60)

        public init() {}
    }

    /// The most bytes of a packet of sound that is read, and the longest length that it may claim.
    private static let maxSound = 1 << 20
    private static let maxLength = Interval.seconds(10)

    /// Whether there are pictures; else there is only sound, so far.
    public var hasPictures: Bool { media.pictures != nil }
    /// The stream of pictures, if a decoder has to be made for it: its codec isn't H.264, its frames come in another
    /// order than they are shown, its samples aren't 8 bits in 4:2:0, or its pictures have to be turned.
    public var otherCodec: StreamDescription? { media.pictures?.otherCodec }
    /// The stream of sound; nil if there is none.
    public var sound: AudioDescription? { media.sound?.description }
    /// Whether pictures or sound may still come, as the source doesn't say what it has.
    public var mayHaveMore: Bool { media.mayHaveMore }
    /// The names of the codecs of streams that aren't read, such as `subrip`.
    public var leftOut: [String] { media.leftOut }

    /// Whether key frames come in parts, with parameter sets between their slices; they are put together.
    public var joinsPictures: Bool { parts.haveCome }

    private var media: OpenedMedia
    private var parts = PicturesInParts<Piece>()
    /// Pieces that have been read already, and are next.
    private var ready: ArraySlice<Piece> = []
    private let packet: UnsafeMutablePointer<AVPacket>
    private let connection: MediaConnection
    private let timeouts: Timeouts

    /// Opens `address`, a URL of a protocol that libavformat knows, or `file:` and a path.
    ///
    /// - Parameter reorders: whether frames of H.264 are known to arrive in another order than they are shown.
    ///   Otherwise the source's own description counts.
    /// - Throws: ``MediaFileError`` if the source can't be opened, or has neither pictures nor sound.
    public convenience init(
        address: String, connection: MediaConnection, timeouts: Timeouts = Timeouts(), reorders: Bool = false
    ) throws(MediaFileError) {
        try self.init(address, nil, connection, timeouts, reorders: reorders)
    }

    /// Reads an MPEG transport stream that another library receives. Otherwise as above.
    package convenience init(
        transportStream input: any MediaInput, connection: MediaConnection, timeouts: Timeouts, reorders: Bool
    ) throws(MediaFileError) {
        // The scheme selects the format.
        try self.init("srt:", InputContext(input, connection), connection, timeouts, reorders: reorders)
    }

    private init(
        _ address: String, _ input: InputContext?, _ connection: MediaConnection, _ timeouts: Timeouts, reorders: Bool
    ) throws(MediaFileError) {
        _ = LibAVMessage.isKept
        guard let packet = av_packet_alloc() else { throw .outOfMemory }
        do throws(MediaFileError) {
            media = try OpenedMedia.open(address, input, connection, timeouts, reorders: reorders)
        } catch {
            var packet: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&packet)
            throw connection.isLate ? .rejected(reason: "no answer in time") : error
        }
        self.packet = packet
        self.connection = connection
        self.timeouts = timeouts
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        var filter = media.pictures?.filter
        av_bsf_free(&filter)
        // A server is notified, which must not take long.
        connection.allow(until: connection.now + .seconds(1))
        var context: UnsafeMutablePointer<AVFormatContext>? = media.context
        avformat_close_input(&context)
    }

    /// The next picture or packet of sound; nil at the end. It may be the first one of pictures or sound that the
    /// source did not have when it was opened.
    ///
    /// - Throws: `rejected` if nothing arrives in time (`Timeouts.reading`), or if the headers of a stream change that
    ///   needs another decoder; other cases of ``MediaFileError`` as libavformat reports them. A picture that is not
    ///   one access unit is left out instead.
    public func next() throws(MediaFileError) -> Piece? {
        while true {
            if let piece = ready.popFirst() { return piece }
            if let pictures = media.pictures {
                let code = av_bsf_receive_packet(pictures.filter, packet)
                if code == shim_AVERROR_EOF {
                    ready = Self.pieces(parts.finish())
                    if ready.isEmpty { return nil }
                    continue
                }
                // The filter has dropped the packet, and accepts the next one.
                if code == shim_AVERROR_INVALIDDATA { continue }
                if code != 0, code != shim_AVERROR_EAGAIN { throw MediaFileError(code) }
                if code == 0 {
                    defer { av_packet_unref(packet) }
                    guard let picture = try picture(of: pictures) else { continue }
                    // Over RTSP, a picture ends only where the next one begins, or where libavformat assumes that.
                    guard media.isRTSP, case .frame(let frame) = picture.content else { return picture }
                    ready = Self.pieces(parts.add(frame, picture))
                    continue
                }
            }
            connection.allow(until: connection.now + timeouts.reading)
            let read = av_read_frame(media.context, packet)
            if read == shim_AVERROR_EOF {
                guard let filter = media.pictures?.filter else { return nil }
                try check(av_bsf_send_packet(filter, nil))
                continue
            }
            guard read >= 0 else {
                throw connection.isLate ? .rejected(reason: "nothing came in time") : MediaFileError(read)
            }
            try addStream()
            if let pictures = media.pictures, packet.pointee.stream_index == pictures.stream.pointee.index {
                try check(av_bsf_send_packet(pictures.filter, packet))
                continue
            }
            defer { av_packet_unref(packet) }
            if let stream = media.sound?.stream, packet.pointee.stream_index == stream.pointee.index,
                let piece = soundPiece(at: stream.pointee.time_base)
            {
                return piece
            }
        }
    }

    private static func pieces(_ whole: [(frame: CodedFrame, tag: Piece)]) -> ArraySlice<Piece> {
        whole.map { Piece(content: .frame($0.frame), time: $0.tag.time, due: $0.tag.due) }[...]
    }

    /// Reads the stream of the packet too, if it is new.
    private func addStream() throws(MediaFileError) {
        do throws(MediaFileError) {
            try media.add(streamOf: packet)
        } catch {
            av_packet_unref(packet)
            throw error
        }
    }

    /// The picture in the packet; nil if it isn't one access unit.
    private func picture(of pictures: OpenedMedia.Pictures) throws(MediaFileError) -> Piece? {
        // H.264 has them in its frames too; another decoder must be opened again.
        if pictures.otherCodec != nil, av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil {
            throw .rejected(reason: "its headers have changed")
        }
        guard let data = packet.pointee.data, packet.pointee.size > 0 else { return nil }
        let bytes = Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
        let base = pictures.filter.pointee.time_base_out
        let shown = time(packet.pointee.pts, packet.pointee.dts, base)
        if pictures.otherCodec != nil {
            let isKeyFrame = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
            return Piece(
                content: .packet(StreamPacket(bytes: bytes, isKeyFrame: isKeyFrame)), time: shown,
                due: time(packet.pointee.dts, packet.pointee.pts, base))
        }
        guard var frame = try? CodedFrame(annexB: bytes) else { return nil }
        // A server may send the parameter sets only in its description.
        let hasSequence = frame.units.contains { frame.bytes[$0.lowerBound] & 0x1F == 7 }
        if frame.isRandomAccess, !hasSequence,
            let complete = try? CodedFrame(annexB: headers(of: pictures.filter) + bytes)
        {
            frame = complete
        }
        return Piece(content: .frame(frame), time: shown, due: shown)
    }

    /// The source's parameter sets as a byte stream.
    private func headers(of filter: UnsafeMutablePointer<AVBSFContext>) -> [UInt8] {
        guard let parameters = filter.pointee.par_out, let data = parameters.pointee.extradata else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
    }

    /// The sound in the packet; nil if it is empty or too long.
    private func soundPiece(at base: AVRational) -> Piece? {
        guard let data = packet.pointee.data, (1...Self.maxSound).contains(Int(packet.pointee.size)) else {
            return nil
        }
        var sound = AudioPacket(bytes: Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size))))
        var count = 0
        let headers = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &count)
        if let headers, count <= Self.maxSound {
            sound.headers = Array(UnsafeBufferPointer(start: headers, count: count))
        }
        let heard = time(packet.pointee.pts, packet.pointee.dts, base)
        let length = time(packet.pointee.duration, 0, base) ?? .zero
        return Piece(
            content: .sound(sound), time: heard, due: heard.map { $0 + max(.zero, min(length, Self.maxLength)) })
    }

    /// The first of these times that is known.
    private func time(_ first: Int64, _ second: Int64, _ base: AVRational) -> Interval? {
        let ticks = first == shim_AV_NOPTS_VALUE ? second : first
        guard ticks != shim_AV_NOPTS_VALUE else { return nil }
        return Interval(nanoseconds: av_rescale_q(ticks, base, AVRational(num: 1, den: 1_000_000_000)))
    }

    /// Asks the source to stop sending for a while; false if it can't.
    public func pause() -> Bool {
        connection.allow(until: connection.now + timeouts.connecting)
        return av_read_pause(media.context) >= 0
    }

    /// Asks the source to send again; false if it doesn't.
    public func resume() -> Bool {
        connection.allow(until: connection.now + timeouts.connecting)
        return av_read_play(media.context) >= 0
    }
}
