public import MediaTypes

/// Our offer of one video, and of its sound if there is any, or of only sound, to a receiving peer: a viewer that waits
/// for an offer, a WHIP endpoint, or a conference server. Or our offer to receive such media from a WHEP endpoint.
public struct Offer: Sendable, Equatable {
    /// The description to send, lines ending in CRLF.
    public let text: String
    /// The kinds of the offered sections, in their order.
    private let kinds: [TrackFormat.Kind]
    private let isReceiving: Bool
    private let includes444: Bool
    private let takesCongestionFeedback: Bool
    private let isICELite: Bool

    /// Offers the streams of `local`, the video first, each in a sendonly section of one bundle (RFC 8829 section 5.2):
    /// each of our codecs, video with retransmissions and audio with RED, and either DTLS role.
    ///
    /// - Parameters:
    ///   - includes444: whether 4:4:4 is also offered, with payload types of its own.
    ///   - start: a random access frame of the video, whose level is then offered too; nil if that isn't known.
    public init(
        local: LocalDescription, including444 includes444: Bool = false, beginningWith start: CodedFrame? = nil
    ) {
        let kinds = [TrackFormat.Kind.video, .audio].filter { local.stream(of: $0) != nil }
        self.init(kinds, local, isReceiving: false, includes444: includes444, beginningWith: start)
    }

    /// Offers to receive a video, in 4:2:0 and in 4:4:4, and its sound, each in a recvonly section of one bundle.
    ///
    /// - Parameter local: our own part, without streams.
    public init(receivingAs local: LocalDescription) {
        self.init([.video, .audio], local, isReceiving: true, includes444: true, beginningWith: nil)
    }

    private init(
        _ kinds: [TrackFormat.Kind], _ local: LocalDescription, isReceiving: Bool, includes444: Bool,
        beginningWith start: CodedFrame?
    ) {
        self.kinds = kinds
        self.isReceiving = isReceiving
        self.includes444 = includes444
        takesCongestionFeedback = local.takesCongestionFeedback
        isICELite = local.isICELite
        // Of what we receive, we report on the path transport-wide, and ask for key frames with PLI.
        let useless: NegotiatedSection.Feedback =
            isReceiving ? [.fir, .estimatedBitRate] : local.takesCongestionFeedback ? [] : .congestion
        var lines = local.sessionLines(bundle: kinds.map(Self.mid))
        for kind in kinds {
            var formats = Self.formats(of: kind, includes444: includes444, beginningWith: start)
            for index in formats.indices {
                if isReceiving { formats[index].redPayloadType = nil }
                formats[index].feedback.subtract(useless)
            }
            // The first section of a bundle has the candidates of all (RFC 9143 section 7.2.1).
            lines += Self.lines(
                of: kind, isReceiving ? nil : local.stream(of: kind), formats, local,
                hasCandidates: kind == kinds.first)
        }
        text = lines.joined(separator: "\r\n") + "\r\n"
    }

    private static func mid(of kind: TrackFormat.Kind) -> String {
        switch kind {
        case .video: "0"
        case .audio: "1"
        }
    }

    /// The formats that we offer for `kind`, with payload types that no other kind has.
    private static func formats(
        of kind: TrackFormat.Kind, includes444: Bool, beginningWith start: CodedFrame?
    ) -> [NegotiatedSection.Format] {
        let forms = TrackFormat.Codec.all(of: kind).flatMap { $0.negotiation.offered(beginningWith: start) }.filter {
            includes444 || $0.track.chroma != .yuv444
        }
        let first: UInt8 = kind == .video ? 106 : 96
        return zip(forms, stride(from: first, to: 127, by: 2)).map { form, payloadType in
            NegotiatedSection.Format(
                payloadType: payloadType, rtxPayloadType: kind == .video ? payloadType + 1 : nil,
                redPayloadType: kind == .audio ? payloadType + 1 : nil, track: form.track,
                parameters: form.parameters, feedback: .about(kind))
        }
    }

    /// The lines of the section in which we send `stream` or, if it is nil, receive media.
    private static func lines(
        of kind: TrackFormat.Kind, _ stream: LocalStream?, _ formats: [NegotiatedSection.Format],
        _ local: LocalDescription, hasCandidates: Bool
    ) -> [String] {
        let isVideo = kind == .video
        let payloadTypes = formats.flatMap(\.payloadTypes).map { String($0) }
        let direction = stream == nil ? MediaDirection.recvonly : .sendonly
        var lines = [
            "m=\(kind.sectionName) \(local.port) UDP/TLS/RTP/SAVPF \(payloadTypes.joined(separator: " "))",
            local.connectionLine, "a=mid:\(mid(of: kind))", "a=\(direction.rawValue)", "a=rtcp-mux", "a=rtcp-rsize",
        ]
        if isVideo, stream != nil { lines.append(MediaDescription.receiverRoundTripLine) }
        lines += local.transportLines(setup: .actpass)
        if hasCandidates { lines += local.candidateLines }
        // A receiver needs only the extension that it reports on.
        guard let stream else {
            return lines + ["a=extmap:1 \(ExtensionURI.transportNumber)"] + formats.flatMap(\.lines)
        }
        // In one bundle, an extension has the same number everywhere (RFC 9143 section 6).
        let extensions = ExtensionURI.all.filter {
            $0.uri != ExtensionURI.corruptionDetection
                && (local.takesCongestionFeedback || $0.uri != ExtensionURI.transportNumber)
        }
        for (index, known) in extensions.enumerated() where isVideo || !ExtensionURI.ofPictures.contains(known.uri) {
            lines.append("a=extmap:\(index + 1) \(known.uri)")
        }
        return lines + formats.flatMap(\.lines) + local.sourceLines(of: stream, hasRTX: isVideo)
    }

    /// The media that `answer` accepts: the first section, and the sound after the video unless the answer rejects it
    /// or leaves it out. The payload types are the answer's, since the receiver may choose other numbers (RFC 3264
    /// section 6.1).
    ///
    /// - Throws: ``SDPError`` if the answer rejects what was offered, has other sections, or accepts it in a way that
    ///   can't be served.
    public func negotiated(with answer: SessionDescription) throws(SDPError) -> NegotiatedMedia {
        guard !isICELite || !answer.isICELite else { throw .bothICELite }
        guard let first = answer.media.first, answer.media.count <= kinds.count,
            zip(answer.media, kinds).allSatisfy({ Self.fits($0, $1) })
        else { throw .answerDoesNotFitOffer }
        guard !first.isRejected else { throw kinds.first == .audio ? .soundRejected : .videoRejected }
        return try MediaNegotiation(
            session: answer, isReceiving: isReceiving, isViewing: isReceiving, includes444: includes444,
            takesCongestionFeedback: takesCongestionFeedback
        ).negotiate(first, withSound: kinds == [.video, .audio], role: Self.role)
    }

    private static func fits(_ section: MediaDescription, _ kind: TrackFormat.Kind) -> Bool {
        section.trackKind == kind && (section.mid == nil || section.mid == mid(of: kind))
    }

    private static func role(for setup: DTLSSetup?) throws(SDPError) -> NegotiatedMedia.DTLSRole {
        switch setup {
        case .active, nil: .server
        case .passive: .client
        case .some(let other): throw .unsupportedSetup(other)
        }
    }
}
