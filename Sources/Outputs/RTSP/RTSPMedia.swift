public import MediaTypes

/// What a client may set up of a track: its pictures, or its sound in one of two codecs. Each is a section of the
/// description and a stream of packets of its own.
public enum RTSPMedia: Hashable, Sendable, CaseIterable {
    /// H.264 (RFC 6184).
    case pictures
    /// G.711 mu-law, mono at 8 kHz (RFC 3551 section 4.5.14).
    case pcmu
    /// Opus (RFC 7587).
    case opus

    /// The payload type of the stream's packets; that of PCMU is RFC 3551's own.
    public var payloadType: UInt8 {
        switch self {
        case .pictures: 96
        case .pcmu: 0
        case .opus: 97
        }
    }

    /// The rate of the stream's timestamps.
    public var clockRate: ClockRate {
        switch self {
        case .pictures: .video
        case .pcmu: ClockRate(hertz: 8_000)
        case .opus: .audio
        }
    }

    /// The encoding name, the clock rate and the channels, as in `a=rtpmap`.
    var encoding: String {
        switch self {
        case .pictures: "H264/90000"
        case .pcmu: "PCMU/8000"
        // Two channels, even if the sound is mono (RFC 7587 section 7).
        case .opus: "opus/48000/2"
        }
    }

    /// The name by which the stream is set up, relative to the URL of its place. No track of a room can have a
    /// name with "=", so that ROOM/TRACK isn't taken for a stream of ROOM. Only the first of these is older than that.
    var control: String {
        switch self {
        case .pictures: "track1"
        case .pcmu: "trackID=2"
        case .opus: "trackID=3"
        }
    }

    /// The stream with this name; nil if there is none.
    init?(control: some StringProtocol) {
        guard let named = Self.allCases.first(where: { control == $0.control }) else { return nil }
        self = named
    }

    /// How the names of players begin that decode Opus, and would set up every section: those made with FFmpeg, mpv,
    /// GStreamer and VLC.
    private static let playersOfOpus = ["Lavf", "libmpv", "GStreamer", "LibVLC"]

    /// The sound that a description offers, the better one first.
    ///
    /// A client says what it decodes by what it sets up, of two sections. If both are set up, both are sent, of which
    /// it plays one. So a client that is known to decode Opus is offered that alone.
    ///
    /// - Parameters:
    ///   - audio: the value of `audio` in the URL's query; one that isn't known counts as none.
    ///   - player: the client's `User-Agent`.
    static func sound(wanted audio: String?, player: String?) -> [RTSPMedia] {
        switch audio {
        case "none": return []
        case "pcmu": return [.pcmu]
        case "opus": return [.opus]
        default:
            let decodesOpus = player.map { name in playersOfOpus.contains { name.hasPrefix($0) } }
            return decodesOpus == true ? [.opus] : [.opus, .pcmu]
        }
    }
}
