import MediaTypes

/// The part of offers and answers that is about Opus (RFC 7587 section 7).
struct OpusNegotiation: CodecNegotiation {
    var name: String { "Opus" }
    var encodingName: String { "opus" }
    /// Two, even if the sound is mono (RFC 7587 section 7).
    var channelCount: Int? { 2 }

    /// What we send may be stereo, in packets of 20 ms, and carries the repetitions of lost packets where the encoder
    /// makes them.
    private static let parameters = "minptime=10;useinbandfec=1;stereo=1;sprop-stereo=1"

    func offered(beginningWith start: CodedFrame?) -> [CodecForm] {
        [(TrackFormat(codec: .opus), Self.parameters)]
    }

    func sent(to listed: [PayloadFormat]) throws(SDPError) -> [(PayloadFormat, CodecForm)] {
        listed.prefix(1).map { ($0, (TrackFormat(codec: .opus), Self.parameters)) }
    }

    func received(from listed: [PayloadFormat]) throws(SDPError) -> (PayloadFormat, CodecForm) {
        guard let first = listed.first else { throw .noOpus(offered: []) }
        // Browsers send mono without this. GStreamer's encoder would have to obey it, and offers no parameters.
        let parameters = first.parameters.isEmpty ? "" : "useinbandfec=1;stereo=1"
        return (first, (TrackFormat(codec: .opus), parameters))
    }
}
