/// The formats and protocols that libavformat may use to read or write an address. By default it guesses the format
/// from the first bytes, so the sender of a playlist could make it open local files and connect to other servers.
struct AllowedFormats {
    /// The only format; nil for a file, whose bytes tell which of `formats` it has.
    let format: String?
    /// The formats, as the option `format_whitelist` has them.
    let formats: String
    /// The protocols, as the option `protocol_whitelist` has them.
    let protocols: String

    /// The formats of files: none of them names other files.
    private static let files = "mov,matroska,mpegts,flv,live_flv,avi,wav,aiff,ogg,mp3,aac,flac,mpeg,h264,hevc,ivf"

    /// - Parameter address: a URL of a protocol, or `file:` and a path; nil for any other protocol.
    init?(_ address: String) {
        switch address.prefix(while: { $0 != ":" }).lowercased() {
        case "rtsp": (format, formats, protocols) = ("rtsp", "rtsp", "tcp,udp,rtp")
        case "rtsps": (format, formats, protocols) = ("rtsp", "rtsp", "tls,tcp,udp,rtp")
        case "rtmp": (format, formats, protocols) = ("flv", "flv", "rtmp,tcp")
        case "rtmps": (format, formats, protocols) = ("flv", "flv", "rtmps,tls,tcp")
        case "srt": (format, formats, protocols) = ("mpegts", "mpegts", "srt")
        case "file": (format, formats, protocols) = (nil, Self.files, "file")
        default: return nil
        }
    }
}
