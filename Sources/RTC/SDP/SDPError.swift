/// Why a description can't be read, or can't be agreed on.
public enum SDPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// More bytes than we read.
    case tooLong(Int)
    /// It does not begin with `v=0`.
    case notSDP
    /// A line that is not as its specification wants it.
    case malformed(line: Int, String)
    case tooManyMediaSections
    /// Two media sections of one name.
    case duplicateMid(String)
    /// No media section asks for video.
    case noVideo
    /// The peer's video section does not receive.
    case notReceiving(MediaDirection)
    /// The publisher's video does not send.
    case notSending(MediaDirection)
    /// A publisher's offer with more than one section of a kind.
    case severalSections(kind: String)
    /// A publisher's offer with a section that is neither video nor audio.
    case unwantedSection(kind: String)
    /// A publisher's audio and video that don't share one transport.
    case notBundled
    /// A publisher's audio without Opus; the codecs offered are named.
    case noOpus(offered: [String])
    /// The peer refused the video that we offered.
    case videoRejected
    /// The answer is not made for our offer.
    case answerDoesNotFitOffer
    /// No H.264 among the codecs, which are named.
    case noH264(offered: [String])
    /// H.264, but without packetization-mode 1.
    case noPacketizationMode1
    /// Another transport than DTLS-SRTP.
    case unsupportedTransport(String)
    case noRTCPMux
    case noFingerprint
    /// Fingerprints by hashes that we don't compute, or of a wrong length.
    case unsupportedFingerprint([String])
    case noICECredentials
    /// A ufrag that is not 4 to 256 or a password that is not 22 to 256 characters.
    case badICECredentials
    /// `holdconn`, or `actpass` in an answer.
    case unsupportedSetup(DTLSSetup)
    /// Neither side would make checks.
    case bothICELite

    public var description: String {
        switch self {
        case .tooLong(let count):
            "a description of \(count) bytes is too long (at most \(SessionDescription.maximumLength))"
        case .notSDP: "the description does not begin with v=0"
        case .malformed(let line, let what): "line \(line) of the description is malformed: \(what)"
        case .tooManyMediaSections:
            "the description has more than \(SessionDescription.maximumMediaSections) media sections"
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
            "the offer's audio has no Opus, only \(offered.joined(separator: ", ")): offer Opus, or video alone"
        case .videoRejected: "the peer refused the video that was offered"
        case .answerDoesNotFitOffer: "the answer's media sections are not those of the offer"
        case .noH264(let offered):
            offered.isEmpty
                ? "the peer lists no codecs: H.264 is needed"
                : "the peer takes no H.264, only \(offered.joined(separator: ", "))"
        case .noPacketizationMode1: "the peer takes H.264 with packetization-mode 0 only: 1 is needed"
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
}
