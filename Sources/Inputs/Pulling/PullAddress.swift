import Threading

/// Where pictures are read from: a server or a file.
public struct PullAddress: Hashable, Sendable, CustomStringConvertible {
    /// As it was given, for libavformat.
    let url: String
    /// Without what may be secret: for people and logs.
    public let description: String
    /// Whether it ends, and has to be read at the pace of its own clock.
    public let isFile: Bool
    /// Whether it waits for a sender at an address that other machines can reach.
    public var listensToOthers: Bool {
        guard url.hasPrefix("srt://"), let query = url.firstIndex(of: "?"),
            url[query...].dropFirst().split(separator: "&").contains("mode=listener")
        else { return false }
        return !Loopback.contains(authority: url.dropFirst("srt://".count).prefix { !"/?".contains($0) })
    }
    /// Whether nothing checks the server's certificate, because libavformat has no option for that.
    public var takesAnyCertificate: Bool { url.hasPrefix("rtsps:") }

    private static let schemes = ["rtsp", "rtsps", "rtmp", "rtmps", "srt"]

    /// Reads `rtsp://HOST/PATH`, `rtsps://`, `rtmp://`, `rtmps://`, `srt://HOST:PORT` or `file:PATH`.
    ///
    /// - Throws: ``PullError`` that says what is wrong without the secret part.
    public init(_ text: String) throws(PullError) {
        guard text.utf8.count <= 4096, text.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F }) else {
            throw PullError("its URL is too long or has a control character")
        }
        if text.lowercased().hasPrefix("file:") {
            let path = text.dropFirst(5)
            guard !path.isEmpty else { throw PullError("it names no file; write it like file:talk.mp4") }
            url = "file:" + path
            description = "file:" + path
            isFile = true
            return
        }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { throw PullError("it isn't a URL, such as rtsp://camera/stream") }
        guard Self.schemes.contains(scheme) else {
            let known = Self.schemes.joined(separator: ", ")
            throw PullError("nothing is read over \(scheme.prefix(20)); it can be one of \(known), file")
        }
        let place = rest.dropFirst(3)
        let authority = place.prefix { $0 != "/" && $0 != "?" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !host.isEmpty, !host.hasPrefix(":") else { throw PullError("its URL names no host") }
        // Else a part of a password would be taken for the host, and shown.
        guard !place.dropFirst(authority.count).contains("@") else {
            throw PullError("its URL has an @ after the host; write %40, and %2F for a / in a password")
        }
        // A server that asks for them is connected to again, which libavformat does without checking its certificate.
        guard scheme != "rtmps" || !authority.contains("@") else {
            throw PullError("its URL has a user, whose password would be sent without a check of the certificate")
        }
        url = scheme + rest
        description = "\(scheme)://\(host)" + (authority.count < place.count ? "/..." : "")
        isFile = false
    }
}

/// What is wrong with a source; one line.
public struct PullError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
