public import OutputSettings
import WebRTCPushing

/// What is viewed.
public struct ViewPlace: Sendable {
    enum Kind: Sendable {
        /// A WHEP endpoint, such as that of a room.
        case server(WebRTCServer)
        /// A stream over RTSP, by its URL.
        case stream(String)
        /// A recording, a raw dump or an H.264 stream, by its path.
        case recording(String)
    }

    let kind: Kind

    /// Whether it is received over WebRTC, which may use a TURN server.
    public var usesTURN: Bool { if case .server = kind { true } else { false } }

    /// Reads an invite link, the address of a WHEP endpoint (`https://TOKEN@HOST/PATH`, also after `whep:`), an
    /// `rtsp://` URL, or the path of a file.
    ///
    /// - Parameter track: the track of the room; nil for its first one. Only for an invite link.
    /// - Throws: ``OutputSettingsError`` that says what is wrong with it, without its secret parts.
    public init(_ text: String, track: String? = nil) throws(OutputSettingsError) {
        let lowercased = text.lowercased()
        if ["http:", "https:", "whep:"].contains(where: { lowercased.hasPrefix($0) }) {
            kind = .server(try WebRTCServer(viewing: text, track: track))
            return
        }
        guard track == nil else { throw OutputSettingsError("a track can only be chosen with an invite link") }
        if lowercased.hasPrefix("rtsp://") {
            let authority = text.dropFirst("rtsp://".count).prefix { $0 != "/" && $0 != "?" }
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            guard !host.isEmpty, !host.hasPrefix(":") else {
                throw OutputSettingsError("the address names no host; write it like rtsp://HOST:PORT/PATH")
            }
            kind = .stream(text)
        } else if lowercased.hasPrefix("rtsps://") {
            // A man in the middle would get the token.
            throw OutputSettingsError("rtsps isn't supported, because the server's certificate can't be verified")
        } else if text.contains("://") {
            let scheme = text.prefix { $0 != ":" }
            throw OutputSettingsError("\(scheme.prefix(20)) isn't supported; use http, https or rtsp")
        } else {
            kind = .recording(text)
        }
    }
}
