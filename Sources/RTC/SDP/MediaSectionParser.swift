/// Collects the attributes of one media section, or those at session level.
struct MediaSectionParser {
    private var media: MediaDescription
    private var direction: MediaDirection?
    private var codecs: [UInt8: PayloadFormat] = [:]
    private var parameters: [UInt8: [String: String]] = [:]
    private var feedback: [UInt8: [String]] = [:]
    private var feedbackOfAll: [String] = []

    /// Creates a parser for the session level.
    init() {
        media = MediaDescription(kind: "", port: 0, transport: "", formats: [])
    }

    /// Creates a parser for the media section that begins with `line`, such as `m=video 9 UDP/TLS/RTP/SAVPF 96 97`.
    init(mediaLine line: SDPLine) throws(SDPError) {
        let words = line.value.words
        guard words.count >= 4, words[0].isVisibleASCII, words[2].isVisibleASCII,
            let port = UInt16(words[1].cut(at: "/").head)
        else { throw line.malformed("an m= line wants a kind, a port, a protocol and formats") }
        let formats = words.dropFirst(3)
        guard formats.allSatisfy(\.isVisibleASCII) else { throw line.malformed("a format that is no word") }
        media = MediaDescription(
            kind: String(words[0]), port: port, transport: String(words[2]), formats: formats.map { String($0) })
    }

    mutating func read(attribute line: SDPLine) throws(SDPError) {
        let (name, value) = line.attribute
        switch name {
        case "mid":
            guard value.isVisibleASCII else { throw line.malformed("a mid that is no word") }
            media.mid = String(value)
        case "control": media.control = String(value)
        case "sendrecv", "sendonly", "recvonly", "inactive": direction = MediaDirection(rawValue: String(name))
        case "bundle-only": media.isBundleOnly = true
        case "ice-ufrag": media.iceUfrag = String(value)
        case "ice-pwd": media.icePassword = String(value)
        case "fingerprint":
            guard let fingerprint = FingerprintAttribute(parsing: value) else {
                throw line.malformed("a fingerprint is a hash's name and pairs of hexadecimal digits")
            }
            media.fingerprints.append(fingerprint)
        case "setup":
            guard let setup = DTLSSetup(rawValue: String(value)) else {
                throw line.malformed("setup is active, passive, actpass or holdconn")
            }
            media.setup = setup
        case "rtcp-mux", "rtcp-mux-only": media.hasRTCPMux = true
        case "rtcp-rsize": media.hasReducedSizeRTCP = true
        case "rtcp-xr":
            if value.words.contains(where: { $0.cut(at: "=").head == "rcvr-rtt" }) { media.hasReceiverRoundTrip = true }
        case "rtpmap": try readFormat(value, line)
        case "fmtp": try readParameters(value, line)
        case "rtcp-fb": try readFeedback(value, line)
        case "extmap": try readExtension(value, line)
        case "candidate":
            // A candidate may have a host name that the peer made up (mDNS) or a future transport. One that can't be
            // parsed is skipped.
            if let candidate = Candidate(parsing: value) { media.candidates.append(candidate) }
        default: break
        }
    }

    /// The section, with attributes that it lacks taken from `session`.
    func finish(inheriting session: MediaSectionParser) throws(SDPError) -> MediaDescription {
        var media = media
        media.direction = direction ?? session.direction ?? .sendrecv
        media.iceUfrag = media.iceUfrag ?? session.media.iceUfrag
        media.icePassword = media.icePassword ?? session.media.icePassword
        media.setup = media.setup ?? session.media.setup
        media.hasReceiverRoundTrip = media.hasReceiverRoundTrip || session.media.hasReceiverRoundTrip
        if media.fingerprints.isEmpty { media.fingerprints = session.media.fingerprints }
        media.extensions = session.media.extensions + media.extensions
        var seen: Set<UInt8> = []
        for format in media.formats {
            guard let payloadType = UInt8(format), var codec = codecs[payloadType], seen.insert(payloadType).inserted
            else { continue }
            codec.parameters = parameters[payloadType] ?? [:]
            codec.feedback = feedbackOfAll + (feedback[payloadType] ?? [])
            media.codecs.append(codec)
        }
        return media
    }

    /// `102 H264/90000`
    private mutating func readFormat(_ value: Substring, _ line: SDPLine) throws(SDPError) {
        let words = value.words
        guard words.count == 2, let payloadType = Self.payloadType(words[0]) else {
            throw line.malformed("an rtpmap wants a payload type of 0 to 127 and an encoding")
        }
        let encoding = words[1].parts(separator: "/")
        guard encoding.count >= 2, encoding[0].isVisibleASCII, let clockRate = UInt32(encoding[1]) else {
            throw line.malformed("an encoding is a name, \"/\" and a clock rate")
        }
        codecs[payloadType] = PayloadFormat(
            payloadType: payloadType, name: String(encoding[0]), clockRate: clockRate,
            channelCount: encoding.count > 2 ? Int(encoding[2]) : nil)
    }

    /// `102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f`
    private mutating func readParameters(_ value: Substring, _ line: SDPLine) throws(SDPError) {
        let halves = value.cut(at: " ")
        guard let payloadType = Self.payloadType(halves.head) else {
            throw line.malformed("an fmtp wants a payload type of 0 to 127")
        }
        for part in (halves.tail ?? "").parts(separator: ";") {
            let pair = part.cut(at: "=")
            guard let name = pair.head.words.first else { continue }
            parameters[payloadType, default: [:]][name.lowercased()] = (pair.tail ?? "").words.joined(separator: " ")
        }
    }

    /// `102 nack pli`
    private mutating func readFeedback(_ value: Substring, _ line: SDPLine) throws(SDPError) {
        let words = value.words
        let text = words.dropFirst().joined(separator: " ")
        if words.first == "*" {
            feedbackOfAll.append(text)
        } else if let payloadType = words.first.flatMap(Self.payloadType) {
            feedback[payloadType, default: []].append(text)
        } else {
            throw line.malformed("an rtcp-fb wants a payload type of 0 to 127 or \"*\"")
        }
    }

    /// `3/recvonly http://… attributes`
    private mutating func readExtension(_ value: Substring, _ line: SDPLine) throws(SDPError) {
        let words = value.words
        guard words.count >= 2, words[1].isVisibleASCII else {
            throw line.malformed("an extmap wants a number and a URI")
        }
        let halves = words[0].cut(at: "/")
        guard let id = UInt16(halves.head), id > 0 else { throw line.malformed("an extmap's number is 1 or more") }
        var direction: MediaDirection?
        if let tail = halves.tail {
            guard let known = MediaDirection(rawValue: String(tail)) else {
                throw line.malformed("an extmap's direction is sendrecv, sendonly, recvonly or inactive")
            }
            direction = known
        }
        media.extensions.append(HeaderExtension(id: id, uri: String(words[1]), direction: direction))
    }

    private static func payloadType(_ text: Substring) -> UInt8? {
        guard let number = UInt8(text), number < 128 else { return nil }
        return number
    }
}
