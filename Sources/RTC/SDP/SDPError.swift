import MediaTypes

/// The reason that a description can't be parsed or accepted.
public enum SDPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The description is longer than the limit.
    case tooLong(Int)
    /// The description does not begin with `v=0`.
    case notSDP
    /// A line does not have the form that its specification requires.
    case malformed(line: Int, String)
    case tooManyMediaSections
    /// Two media sections have the same identification.
    case duplicateMid(String)
    /// The description has no video section.
    case noVideo
    /// The peer's video section does not receive media.
    case notReceiving(MediaDirection)
    /// The publisher's video section does not send media.
    case notSending(MediaDirection)
    /// The publisher's offer has more than one section of the same kind.
    case severalSections(kind: String)
    /// The publisher's offer has a section that is neither video nor audio.
    case unwantedSection(kind: String)
    /// The publisher's audio and video do not share one transport.
    case notBundled
    /// The publisher's audio section has no Opus; `offered` names its codecs.
    case noOpus(offered: [String])
    /// The peer rejected the video that we offered.
    case videoRejected
    /// The peer rejected our offer of only sound.
    case soundRejected
    /// The answer does not belong to our offer.
    case answerDoesNotFitOffer
    /// None of our codecs is among the peer's, which `offered` names.
    case noCodec(offered: [String])
    /// The peer lists one of our codecs, but in no form that we can use; the text names the form that is needed.
    case unusableFormats(String)
    /// The transport is not DTLS-SRTP.
    case unsupportedTransport(String)
    case noRTCPMux
    case noFingerprint
    /// The fingerprints use hash functions that we don't support, or have the wrong length.
    case unsupportedFingerprint([String])
    case noICECredentials
    /// The ufrag is not 4 to 256 characters long, or the password not 22 to 256.
    case badICECredentials
    /// The setup attribute is `holdconn`, or `actpass` in an answer.
    case unsupportedSetup(DTLSSetup)
    /// Both sides are ICE-lite, so neither would send checks.
    case bothICELite

    public var description: String {
        switch self {
        case .tooLong(let count):
            "a description of \(count) bytes is too long (at most \(SessionDescription.maxLength))"
        case .notSDP: "the description does not begin with v=0"
        case .malformed(let line, let what): "line \(line) of the description is malformed: \(what)"
        case .tooManyMediaSections:
            "the description has more than \(SessionDescription.maxMediaSections) media sections"
        case .duplicateMid(let mid): "the description has two media sections with a=mid:\(mid)"
        case .noVideo: "the offer has no video section"
        case .notReceiving(let direction):
            "the peer's video is \(direction.rawValue): it has to be recvonly or sendrecv to be sent anything"
        case .notSending(let direction):
            "the publisher's video is \(direction.rawValue): it has to be sendonly or sendrecv"
        case .severalSections(let kind): "the offer has more than one \(kind) section: one is taken"
        case .unwantedSection(let kind): "the offer has a section of kind \(kind): one video and one audio are taken"
        case .notBundled: "the offer's audio and video are not in one BUNDLE group, which is needed"
        case .noOpus(let offered):
            "the offer's audio has no Opus, only \(offered.joined(separator: ", ")): offer Opus, or only video"
        case .videoRejected: "the peer refused the video that was offered"
        case .soundRejected: "the peer refused the sound that was offered"
        case .answerDoesNotFitOffer: "the answer's media sections are not those of the offer"
        case .noCodec(let offered):
            offered.isEmpty
                ? "the peer lists no codecs: \(Self.codecs) is needed"
                : "the peer takes no \(Self.codecs), only \(offered.joined(separator: ", "))"
        case .unusableFormats(let reason): reason
        case .unsupportedTransport(let transport): "the peer wants \(transport): UDP/TLS/RTP/SAVPF is needed"
        case .noRTCPMux: "the peer's video has no a=rtcp-mux, which is needed"
        case .noFingerprint: "the peer's video has no a=fingerprint, which is needed for DTLS"
        case .unsupportedFingerprint(let names):
            "the peer's fingerprint is by \(names.joined(separator: ", ")): a whole sha-256, sha-384 or sha-512 is needed"
        case .noICECredentials: "the peer's video has no a=ice-ufrag or no a=ice-pwd, which are needed for ICE"
        case .badICECredentials:
            "the peer's a=ice-ufrag or a=ice-pwd has a wrong length (4 to 256 and 22 to 256 characters)"
        case .unsupportedSetup(let setup): "a=setup:\(setup.rawValue) can't be used here"
        case .bothICELite: "the peer is ICE-lite, and so are we: neither would begin"
        }
    }

    /// The names of our codecs of pictures.
    private static var codecs: String {
        TrackFormat.Codec.all(of: .video).map(\.negotiation.name).joined(separator: " or ")
    }
}
