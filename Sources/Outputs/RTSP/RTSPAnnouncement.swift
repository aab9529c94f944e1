public import MediaTypes
public import RTP
import SDP

/// What a client announces that it will publish (RFC 2326 section 10.3): one stream of pictures, one of sound, or both.
public struct RTSPAnnouncement: Hashable, Sendable {
    /// How a stream is coded.
    public enum Coding: Hashable, Sendable {
        /// H.264, with the parameter sets that the description has, without start codes.
        case h264(parameterSets: [[UInt8]])
        /// Sound of which each packet has one piece, such as Opus or PCMU.
        case audio(AudioDescription)
        /// AAC, with the ticks that a frame lasts.
        case aac(AudioDescription, AACPacking, frameTicks: Int64)
    }

    /// A stream, which is set up by itself.
    public struct Stream: Hashable, Sendable {
        /// How its packets are coded.
        public let coding: Coding
        /// The payload type of its packets.
        public let payloadType: PayloadType
        /// The rate of its timestamps.
        public let clockRate: ClockRate
        fileprivate let control: String?

        /// Whether it has pictures.
        public var isVideo: Bool { if case .h264 = coding { true } else { false } }
    }

    /// The streams in the order of the description: one or two.
    public let streams: [Stream]

    /// Reads a description, as the body of ANNOUNCE has it.
    ///
    /// - Throws: ``RTSPRefusal`` if it is malformed, or if it has a stream that isn't used here.
    public init(parsing description: [UInt8]) throws(RTSPRefusal) {
        let session: SessionDescription
        do throws(SDPError) {
            session = try SessionDescription(parsing: description)
        } catch {
            throw RTSPRefusal(.badRequest, "\(error)")
        }
        var streams: [Stream] = []
        for section in session.media where !streams.contains(where: { $0.isVideo == (section.kind == "video") }) {
            streams.append(try Self.stream(section))
        }
        guard streams.count == session.media.count else {
            throw .unusable("more than one video stream and one audio stream")
        }
        guard !streams.isEmpty else { throw .unusable("no video and no audio") }
        self.streams = streams
    }

    /// The index of the stream that SETUP with this URL means; nil if there is none.
    func index(of url: String) -> Int? {
        if streams.count == 1 { return 0 }
        return streams.firstIndex { stream in
            guard let control = stream.control, !control.isEmpty else { return false }
            return url == control || url.hasSuffix("/" + control)
        }
    }

    // MARK: Sections

    private static func stream(_ section: MediaDescription) throws(RTSPRefusal) -> Stream {
        guard ["video", "audio"].contains(section.kind) else {
            throw .unusable("a stream that is neither video nor audio")
        }
        guard section.transport.hasPrefix("RTP/AVP"), let type = section.formats.first.flatMap({ UInt8($0) }),
            let format = section.codecs.first(where: { $0.payloadType == type }) ?? fixedFormat(type)
        else { throw .unusable("\(section.kind) in a format that isn't described") }
        guard (1...192_000).contains(format.clockRate) else {
            throw .unusable("\(section.kind) with a clock rate of \(format.clockRate) Hz")
        }
        return Stream(
            coding: section.kind == "video" ? try video(format) : try audio(format), payloadType: PayloadType(type),
            clockRate: ClockRate(hertz: format.clockRate), control: section.control)
    }

    /// The formats whose payload types RFC 3551 fixes.
    private static func fixedFormat(_ type: UInt8) -> PayloadFormat? {
        switch type {
        case 0: PayloadFormat(payloadType: 0, name: "PCMU", clockRate: 8_000)
        case 8: PayloadFormat(payloadType: 8, name: "PCMA", clockRate: 8_000)
        default: nil
        }
    }

    private static func video(_ format: PayloadFormat) throws(RTSPRefusal) -> Coding {
        guard format.isNamed("H264") else {
            throw .unusable("the video is \(format.name.prefix(20)); set the encoder to H.264")
        }
        guard format.clockRate == ClockRate.video.hertz else { throw .unusable("H.264 with a clock other than 90 kHz") }
        guard format.parameters["packetization-mode"] != "2" else {
            throw .unusable("H.264 with interleaved NAL units")
        }
        let sets = format.parameters["sprop-parameter-sets"] ?? ""
        return .h264(parameterSets: sets.split(separator: ",").compactMap { Base64.decoded($0) }.filter { !$0.isEmpty })
    }

    private static func audio(_ format: PayloadFormat) throws(RTSPRefusal) -> Coding {
        let channelCount = format.channelCount ?? 1
        guard (1...8).contains(channelCount) else { throw .unusable("audio of \(channelCount) channels") }
        func description(_ codec: String) -> AudioDescription {
            AudioDescription(codec: codec, rate: Int(format.clockRate), channelCount: channelCount)
        }
        switch format.name.lowercased() {
        case "opus":
            guard format.clockRate == ClockRate.audio.hertz, channelCount <= 2 else {
                throw .unusable("Opus with a clock other than 48 kHz, or with more than two channels")
            }
            return .audio(description("opus"))
        case "pcmu": return .audio(description("pcm_mulaw"))
        case "pcma": return .audio(description("pcm_alaw"))
        case "mpeg4-generic": return try genericAAC(format)
        case "mp4a-latm": return try latmAAC(format)
        default:
            throw .unusable("the audio is \(format.name.prefix(20)); set the encoder to Opus, AAC, PCMU or PCMA")
        }
    }

    /// AAC with its configuration (ISO/IEC 14496-3 section 1.6.2.1), which says how many channels there are.
    private static func aac(
        _ configuration: [UInt8], _ packing: AACPacking, _ format: PayloadFormat
    ) throws(RTSPRefusal) -> Coding {
        guard (2...64).contains(configuration.count) else { throw .unusable("AAC without its configuration") }
        var description = AudioDescription(codec: "aac", rate: 0, channelCount: format.channelCount == 1 ? 1 : 0)
        description.headers = configuration
        let ticks = format.parameters["constantduration"].flatMap { Int64($0) } ?? 1024
        return .aac(description, packing, frameTicks: min(max(ticks, 1), 8192))
    }

    /// RFC 3640 section 4.1.
    private static func genericAAC(_ format: PayloadFormat) throws(RTSPRefusal) -> Coding {
        guard let mode = format.parameters["mode"]?.lowercased(), mode == "aac-hbr" || mode == "aac-lbr" else {
            throw .unusable("MPEG-4 audio that is not AAC")
        }
        func length(_ name: String) -> Int { format.parameters[name].flatMap { Int($0) } ?? 0 }
        let lengths = [length("sizelength"), length("indexlength"), length("indexdeltalength")]
        guard (1...16).contains(lengths[0]), lengths.allSatisfy({ (0...16).contains($0) }) else {
            throw .unusable("AAC with sizes of \(lengths[0]) bits")
        }
        return try aac(
            bytes(hexadecimal: format.parameters["config"] ?? ""),
            .generic(sizeLength: lengths[0], indexLength: lengths[1], indexDeltaLength: lengths[2]), format)
    }

    /// RFC 6416 section 7.3. The configuration is a StreamMuxConfig (ISO/IEC 14496-3 section 1.7.3.2), in which the
    /// audio's own one follows 15 bits, if it has one program with one layer and one frame.
    private static func latmAAC(_ format: PayloadFormat) throws(RTSPRefusal) -> Coding {
        let bytes = bytes(hexadecimal: format.parameters["config"] ?? "")
        guard format.parameters["cpresent"] == "0", bytes.count >= 4, bytes[0] == 0x40, bytes[1] & 0xFE == 0 else {
            throw .unusable("AAC whose configuration is in its packets, or has several programs")
        }
        // AAC Main, LC, SSR and LTP have 16 bits; those of others aren't as easily found.
        let configuration = [bytes[1] << 7 | bytes[2] >> 1, bytes[2] << 7 | bytes[3] >> 1]
        guard (1...4).contains(configuration[0] >> 3) else { throw .unusable("AAC other than AAC-LC in MP4A-LATM") }
        return try aac(configuration, .latm, format)
    }

    /// The bytes of a text; none if it has other characters than pairs of hexadecimal digits.
    private static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return [] }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return [] }
            bytes.append(UInt8(truncatingIfNeeded: high << 4 | low))
        }
        return bytes
    }
}

/// Why a client may not publish.
public struct RTSPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    let status: RTSPAnswer.Status
    /// The reason, for people.
    public let description: String

    /// A refusal with this status.
    public init(_ status: RTSPAnswer.Status, _ reason: String) { (self.status, description) = (status, reason) }

    /// A refusal of what the client sends.
    static func unusable(_ reason: String) -> RTSPRefusal { RTSPRefusal(.unsupportedMedia, reason) }

    /// The answer, with the reason in its first line, which FFmpeg and GStreamer print.
    public var answer: RTSPAnswer {
        var answer = RTSPAnswer(status)
        answer.reason = description
        return answer
    }
}
