import ByteCoding
import H264
import MediaTypes

/// Reads the messages of a stream that carry video and audio.
///
/// Their payload is that of FLV tags, with the codecs that "Enhanced RTMP" has added. H.264 and AAC are used; any other
/// codec is refused by its name, so that the sharer learns what to change.
struct RTMPMediaReader: Sendable {
    /// Why a stream can't be published.
    enum Fault: Error, Hashable {
        /// The client sends something that can be read, but isn't used here; for people.
        case unusable(String)
        case malformed(RTMPError)
    }

    private var clock = RTMPClock()
    private var avc: AVCConfiguration?
    private var builder = AccessUnitBuilder()
    private var aac: AACConfiguration?

    /// What a message carries; nil if it is nothing to be passed on.
    mutating func read(_ message: RTMPMessage) throws(Fault) -> RTMPMedia? {
        switch message.kind {
        case .video: return try video(message)
        case .audio: return try audio(message)
        default: return nil
        }
    }

    // MARK: Video

    /// What the packets of video hold (FLV section E.4.3.1).
    private enum VideoPacket: UInt8 {
        case configuration = 0
        case picture = 1
        case end = 2
        /// A picture without a composition time, in an enhanced message.
        case pictureInOrder = 3
    }

    /// A message of H.264:
    ///
    ///     classic   frame type, codec 7 (4 bits each) | packet | composition time, 3 bytes | contents
    ///     enhanced  1, frame type (3), packet (4)     | "avc1" | composition time, 3 bytes | contents
    ///
    /// In an enhanced message, only packets of type 1 have the time.
    private mutating func video(_ message: RTMPMessage) throws(Fault) -> RTMPMedia? {
        var reader = ByteReader(message.payload)
        // An empty message ends a stream.
        guard let first = reader.uint8() else { return nil }
        let isEnhanced = first & 0x80 != 0
        // A command for a player, such as "seek has begun".
        guard first >> 4 & 7 != 5 else { return nil }
        let packet: VideoPacket?
        if isEnhanced {
            guard let name = reader.bytes(4) else { throw Self.cutOff }
            guard name.elementsEqual("avc1".utf8) else { throw .unusable(Codec.refusal(ofVideo: name)) }
            packet = VideoPacket(rawValue: first & 0xF)
        } else {
            guard first & 0xF == 7 else { throw .unusable(Codec.refusal(ofVideo: first & 0xF)) }
            guard let type = reader.uint8() else { throw Self.cutOff }
            packet = VideoPacket(rawValue: type)
        }
        var composition: Int64 = 0
        if !isEnhanced || packet == .picture {
            guard let bits = reader.uint24() else { throw Self.cutOff }
            // A signed number of 24 bits.
            composition = Int64(Int32(bitPattern: bits << 8) >> 8)
        }
        switch packet {
        case .configuration:
            try configure(reader.rest)
            return nil
        case .picture, .pictureInOrder:
            return try picture(reader.rest, message.timestamp, composition: .milliseconds(composition))
        case .end, nil: return nil
        }
    }

    private mutating func configure(_ bytes: ArraySlice<UInt8>) throws(Fault) {
        let configuration = try Self.checked { () throws(RTMPError) -> AVCConfiguration in
            try AVCConfiguration(bytes)
        }
        avc = configuration
        builder.reset()
        for set in configuration.parameterSets { builder.add(AnnexB.startCode + set, captureTime: nil) }
        // The sets are kept; they aren't a picture.
        builder.discardPending()
    }

    private mutating func picture(
        _ bytes: ArraySlice<UInt8>, _ timestamp: UInt32, composition: Interval
    ) throws(Fault) -> RTMPMedia? {
        guard let avc else { return nil }
        let units = try Self.checked { () throws(RTMPError) -> [ArraySlice<UInt8>] in
            try avc.nalUnits(in: bytes)
        }
        let time = clock.time(of: timestamp)
        for unit in units { builder.add(AnnexB.startCode + unit, captureTime: nil) }
        builder.endFrame()
        return builder.next().map { .picture($0, decoded: time, shown: time + composition) }
    }

    // MARK: Audio

    /// A message of AAC:
    ///
    ///     classic   format 10, rate, size, channels (8 bits) | 0: configuration, 1: frame | contents
    ///     enhanced  9 (4 bits), 0: configuration, 1: frame   | "mp4a"                     | contents
    private mutating func audio(_ message: RTMPMessage) throws(Fault) -> RTMPMedia? {
        var reader = ByteReader(message.payload)
        guard let first = reader.uint8() else { return nil }
        let packet: UInt8
        switch first >> 4 {
        case 9:
            guard let name = reader.bytes(4) else { throw Self.cutOff }
            guard name.elementsEqual("mp4a".utf8) else { throw .unusable(Codec.refusal(ofAudio: name)) }
            packet = first & 0xF
        case 10:
            guard let type = reader.uint8() else { throw Self.cutOff }
            packet = type
        case let format: throw .unusable(Codec.refusal(ofAudio: format))
        }
        switch packet {
        case 0:
            guard let configuration = AACConfiguration(reader.rest) else { throw Self.cutOff }
            // Some clients repeat it.
            guard configuration != aac else { return nil }
            aac = configuration
            return .audioConfiguration(configuration)
        case 1 where aac != nil && !reader.isEmpty:
            return .audio(Array(reader.rest), heard: clock.time(of: message.timestamp))
        default: return nil
        }
    }

    private static var cutOff: Fault { .malformed(.malformed("a message of video or audio that is cut off")) }

    private static func checked<Value>(_ read: () throws(RTMPError) -> Value) throws(Fault) -> Value {
        do throws(RTMPError) {
            return try read()
        } catch {
            throw .malformed(error)
        }
    }
}
