import MediaTypes

/// One form of a codec: the format of its frames, and the value of its fmtp line.
typealias CodecForm = (track: TrackFormat, parameters: String)

/// The part of offers and answers that is about one codec.
protocol CodecNegotiation: Sendable {
    /// The codec's name for people.
    var name: String { get }
    /// Its name in an rtpmap.
    var encodingName: String { get }
    /// The number of channels in an rtpmap; nil if it has none, as for pictures.
    var channelCount: Int? { get }
    /// The forms in which we offer to send it, the preferred one first.
    ///
    /// - Parameter start: a random access frame of what we send; nil if that isn't known.
    func offered(beginningWith start: CodedFrame?) -> [CodecForm]

    /// The payload formats in which we send the codec to a peer, each with the form that we answer with; the one that
    /// most frames will have comes first. Throws if we can send none of them.
    ///
    /// - Parameter listed: the peer's payload formats with our encoding name and clock rate, in its order; not empty.
    func sent(to listed: [PayloadFormat]) throws(SDPError) -> [(PayloadFormat, CodecForm)]

    /// The payload format in which a publisher is to send, with the form that we answer with. Throws if we can receive
    /// none of the listed formats.
    func received(from listed: [PayloadFormat]) throws(SDPError) -> (PayloadFormat, CodecForm)
}

extension TrackFormat.Codec {
    /// The part of offers and answers that is about this codec.
    var negotiation: any CodecNegotiation {
        switch self {
        case .h264: H264Negotiation()
        case .opus: OpusNegotiation()
        }
    }

    /// The codecs of `kind`, the preferred one first.
    static func all(of kind: TrackFormat.Kind) -> [Self] { allCases.filter { $0.kind == kind } }
}

extension TrackFormat.Kind {
    /// The kind of a media section for such a track, as its `m=` line has it.
    var sectionName: String {
        switch self {
        case .video: "video"
        case .audio: "audio"
        }
    }
}

extension NegotiatedSection.Format {
    /// All of its payload types, the frames' first.
    var payloadTypes: [UInt8] { [payloadType] + [rtxPayloadType, redPayloadType].compactMap { $0 } }

    /// The rtpmap, rtcp-fb and fmtp lines of its payload types.
    var lines: [String] {
        let clockRate = track.clockRate.hertz
        let negotiation = track.codec.negotiation
        let channels = negotiation.channelCount.map { "/\($0)" } ?? ""
        var lines = ["a=rtpmap:\(payloadType) \(negotiation.encodingName)/\(clockRate)\(channels)"]
        for known in NegotiatedSection.Feedback.names where feedback.contains(known.feedback) {
            lines.append("a=rtcp-fb:\(payloadType) \(known.name)")
        }
        if !parameters.isEmpty { lines.append("a=fmtp:\(payloadType) \(parameters)") }
        if let rtxPayloadType {
            lines += ["a=rtpmap:\(rtxPayloadType) rtx/\(clockRate)", "a=fmtp:\(rtxPayloadType) apt=\(payloadType)"]
        }
        if let redPayloadType {
            lines += [
                "a=rtpmap:\(redPayloadType) red/\(clockRate)\(channels)",
                "a=fmtp:\(redPayloadType) \(payloadType)/\(payloadType)",
            ]
        }
        return lines
    }
}
