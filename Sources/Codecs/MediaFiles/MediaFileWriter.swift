import CLibAV
import Glibc
import LibAVMessages
public import MediaTypes

/// Writes a track of pictures, a track of sound, or both into a container file that players can open, with libavformat
/// and without re-encoding.
///
/// Each packet has its own time, so a variable frame rate is kept. May be used from one thread at a time. The file is
/// unusable until `finish` has completed it. The file is closed when the writer is released.
///
/// It writes to another machine in the same way, by a protocol of libavformat; each call then blocks for as long as its
/// ``MediaConnection`` allows.
public final class MediaFileWriter: MediaWriter {
    /// The bytes that the system may buffer for another machine: by itself, Linux buffers megabytes over TCP, which on
    /// a slow path are minutes. This size allows 10 Mbit/s over 100 ms.
    private static let usualSendBuffer: Int64 = 128 << 10

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let steps: ClosedRange<Int64>
    private let lastDuration: Interval
    /// The codec of the pictures; nil without pictures.
    private let codec: TrackFormat.Codec?
    /// Which of the file's tracks is the sound; nil without sound.
    private let soundIndex: Int32?
    private let connection: MediaConnection?
    /// Whether ``takePiece(isHeader:)`` returns the written bytes.
    private let isInPieces: Bool
    private var isOpen = false
    private var lastDecodingTime: Int64?
    private var lastSoundTime: Int64?
    /// The ticks of the pictures by which all following times are moved back, because time steps longer than the limit
    /// are shortened to it.
    private var cut: Int64 = 0

    /// Creates the file, or truncates an existing one, and writes the header. With 1 or 2 `soundChannels` it has a
    /// track of sound as well. Throws the errors of the initialiser below.
    public convenience init(
        path: String, container: MediaContainer, track: MediaTrack, soundChannels: Int = 0
    ) throws(MediaFileError) {
        let sound = soundChannels > 0 ? AudioTrack(codec: .opus, channelCount: soundChannels) : nil
        // Without the prefix, a colon in the name would be taken for the end of a protocol's name.
        try self.init(address: "file:" + path, container: container, track: track, sound: sound)
    }

    /// Opens `address`, a URL of a protocol that libavformat knows, with options of that protocol, and writes the
    /// header of a file with these tracks. Throws ``MediaFileError`` if the address can't be opened, or if the
    /// container has no place for the tracks.
    public init(
        address: String, options: [String: String] = [:], container: MediaContainer, track: MediaTrack?,
        sound: AudioTrack? = nil, connection: MediaConnection? = nil
    ) throws(MediaFileError) {
        _ = LibAVMessage.isKept
        var made: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&made, nil, container.formatName, address)
        guard code >= 0, let made else { throw MediaFileError(code) }
        guard let packet = av_packet_alloc() else {
            avformat_free_context(made)
            throw .outOfMemory
        }
        context = made
        self.connection = connection
        self.packet = packet
        steps = container.steps
        isInPieces = container == .hls
        lastDuration = track?.lastDuration ?? .zero
        codec = track?.format.codec
        soundIndex = sound == nil ? nil : track == nil ? 0 : 1
        var pictures: (track: MediaTrack, parameters: UnsafeMutablePointer<AVCodecParameters>)?
        if let track { pictures = (track, try add(track)) }
        if let sound { try add(sound) }
        try check(container.prepare(made, for: pictures))
        if let connection {
            made.pointee.interrupt_callback = connection.callback
            // Written packets go out at once.
            made.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        }
        if container == .hls {
            try openPiece()
        } else if made.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 {
            // A format that is also a protocol opens its connections itself.
            try open(address, options)
        } else if let allowed = AllowedFormats(address) {
            try check(av_opt_set(made, "protocol_whitelist", allowed.protocols, 0))
        }
        // Times before the first picture's only matter to the decoder: they must not shift all other times.
        made.pointee.avoid_negative_ts = 0
        try check(avformat_write_header(made, nil))
        isOpen = true
    }

    private func open(_ address: String, _ protocolOptions: [String: String]) throws(MediaFileError) {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        if connection != nil {
            av_dict_set_int(&options, "send_buffer_size", Self.usualSendBuffer, 0)
            Certificates.check(in: &options)
        }
        for (name, value) in protocolOptions { av_dict_set(&options, name, value, 0) }
        if let allowed = AllowedFormats(address) {
            av_dict_set(&options, "protocol_whitelist", allowed.protocols, 0)
        }
        var place = address
        var descriptor: Int32 = -1
        defer { if descriptor >= 0 { close(descriptor) } }
        if address.hasPrefix("file:") {
            // Readable only by this user, as recordings are, because it has their content. A link isn't followed.
            descriptor = Glibc.open(
                String(address.dropFirst(5)), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            // Only a file that the user has named by a path may be there already, and is then overwritten.
            if descriptor < 0, connection != nil { throw MediaFileError(-errno) }
            if descriptor >= 0 { place = "file:/proc/self/fd/\(descriptor)" }
        }
        LibAVMessage.clear()
        var opened: Int32 = 0
        let socket = socketOfSRT {
            opened = avio_open2(
                &context.pointee.pb, place, AVIO_FLAG_WRITE, &context.pointee.interrupt_callback, &options)
        }
        if opened < 0 { throw MediaFileError(connecting: opened) }
        connection?.connected(bySRT: socket)
    }

    /// Returns the bytes written since the last piece: the header before the first frame, or a fragment.
    func takePiece(isHeader: Bool = false) throws(MediaFileError) -> [UInt8] {
        guard isOpen, isInPieces else { throw .rejected(reason: "it isn't written in pieces") }
        if !isHeader { try check(av_write_frame(context, nil)) }
        let bytes = closePiece()
        try openPiece()
        return bytes
    }

    private func openPiece() throws(MediaFileError) { try check(avio_open_dyn_buf(&context.pointee.pb)) }

    private func closePiece() -> [UInt8] {
        var memory: UnsafeMutablePointer<UInt8>?
        let count = avio_close_dyn_buf(context.pointee.pb, &memory)
        defer { av_free(memory) }
        context.pointee.pb = nil
        return Array(UnsafeBufferPointer(start: memory, count: Int(max(0, count))))
    }

    deinit {
        if isInPieces, context.pointee.pb != nil { _ = closePiece() }
        // Where there is no file, only the trailer closes the connection.
        if isOpen, context.pointee.pb == nil, !isInPieces { av_write_trailer(context) }
        if !isInPieces, context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 { avio_closep(&context.pointee.pb) }
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    public func write(_ unit: consuming MediaPacket) throws(MediaFileError) {
        guard isOpen else { throw .rejected(reason: "the file is closed") }
        guard let codec else { throw .rejected(reason: "it has no track of pictures") }
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
        // Only the last packet's duration matters: libavformat uses the latest end time as the end of the track.
        packet.pointee.duration = min(max(0, Self.ticks(unit.duration ?? lastDuration, in: base)), steps.upperBound)
        packet.pointee.flags = unit.frame.isRandomAccess ? AV_PKT_FLAG_KEY : 0
        // In pieces, its track has its headers already.
        let headers = isInPieces ? [] : unit.newHeaders
        var bytes = codec.sample(of: Self.frame(unit))
        if !headers.isEmpty { try attach(headers, of: codec) }
        try send(&bytes)
    }

    public func write(sound bytes: [UInt8], at time: Interval, for duration: Interval) throws(MediaFileError) {
        guard isOpen, let soundIndex else { throw .rejected(reason: "it has no track of sound") }
        // Without pictures, the first track is the sound, and nothing is cut.
        guard let first = context.pointee.streams[0], let stream = context.pointee.streams[Int(soundIndex)] else {
            throw .outOfMemory
        }
        defer { av_packet_unref(packet) }
        let base = stream.pointee.time_base
        let ticks = Self.ticks(time, in: base) - av_rescale_q(cut, first.pointee.time_base, base)
        // Sound within a pause that was too long for the file may lie behind the picture that ends the shortened pause.
        if let lastSoundTime, ticks <= lastSoundTime { return }
        lastSoundTime = ticks
        packet.pointee.stream_index = soundIndex
        packet.pointee.dts = ticks
        packet.pointee.pts = ticks
        packet.pointee.duration = Self.ticks(duration, in: base)
        packet.pointee.flags = AV_PKT_FLAG_KEY
        var bytes = bytes
        try send(&bytes)
    }

    /// Writes the packet with these bytes.
    private func send(_ bytes: inout [UInt8]) throws(MediaFileError) {
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
        try check(lateError)
    }

    /// The error of bytes that were accepted before; 0 if there is none.
    private var lateError: Int32 { context.pointee.pb?.pointee.error ?? 0 }

    /// Writes the end of the file, and closes it. Throws ``MediaFileError``, also for earlier bytes that the system
    /// could not write.
    public func finish() throws(MediaFileError) {
        guard isOpen, !isInPieces else { return }
        let trailer = av_write_trailer(context)
        let late = lateError
        isOpen = false
        let closing = context.pointee.pb == nil ? 0 : avio_closep(&context.pointee.pb)
        for code in [trailer, late, closing] { try check(code) }
    }

    private func add(
        _ track: MediaTrack
    ) throws(MediaFileError) -> UnsafeMutablePointer<AVCodecParameters> {
        guard let configuration = track.format.codec.configuration(track.headers) else {
            throw .rejected(reason: "its headers can't be read")
        }
        let parameters = try addStream(configuration)
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = track.format.codec.identifier
        parameters.pointee.width = Int32(clamping: track.format.size.width)
        parameters.pointee.height = Int32(clamping: track.format.size.height)
        return parameters
    }

    private func add(_ sound: AudioTrack) throws(MediaFileError) {
        let parameters = try addStream(sound.configuration)
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        av_channel_layout_default(&parameters.pointee.ch_layout, Int32(clamping: sound.channelCount))
        switch sound.codec {
        case .opus:
            parameters.pointee.codec_id = TrackFormat.Codec.opus.identifier
            parameters.pointee.sample_rate = 48_000
            // The samples of most packets. Each packet has its own duration all the same.
            parameters.pointee.frame_size = 960
        case .aac(_, let rate, let bitRate):
            parameters.pointee.codec_id = AV_CODEC_ID_AAC
            parameters.pointee.sample_rate = Int32(clamping: rate)
            parameters.pointee.bit_rate = Int64(bitRate.bitsPerSecond)
            parameters.pointee.frame_size = 1024
        }
    }

    /// Adds a track whose decoder needs `record`.
    private func addStream(_ record: [UInt8]) throws(MediaFileError) -> UnsafeMutablePointer<AVCodecParameters> {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar,
            let memory = av_mallocz(record.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory }
        record.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: record.count)
        return parameters
    }

    /// Tells libavformat which headers apply from the packet on.
    private func attach(_ headers: [[UInt8]], of codec: TrackFormat.Codec) throws(MediaFileError) {
        guard let record = codec.configuration(headers),
            let memory = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, record.count)
        else { throw .rejected(reason: "its new headers can't be read") }
        memory.update(from: record, count: record.count)
    }

    /// Consumes the whole packet. A remaining part would still refer to the bytes and cause a copy on write.
    private static func frame(_ packet: consuming MediaPacket) -> CodedFrame { packet.frame }

    private static func ticks(_ interval: Interval, in base: AVRational) -> Int64 {
        av_rescale_q(interval.nanoseconds, AVRational(num: 1, den: 1_000_000_000), base)
    }
}
