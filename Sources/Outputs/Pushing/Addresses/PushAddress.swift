import Glibc
import MediaFiles
public import OutputSettings
import WebRTCPushing

/// Where a push goes: a URL, whose last part is a secret for most services, or a file.
public struct PushAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL as it was given.
    let url: String
    /// What the protocol carries.
    let container: MediaContainer
    /// The URL without what may be secret: for people, logs and lists.
    public let description: String
    /// The nearest that the server may be, if another server has named it; nil if the user has named it.
    var nearest: Nearness?

    /// The protocols that there are, and what each carries.
    private static let protocols: [(scheme: String, container: MediaContainer)] = [
        ("rtmp", .flash), ("rtmps", .flash), ("srt", .transportStream), ("rtsp", .rtsp),
    ]
    private static let maxByteCount = 4096

    /// Files, by the ends of their names.
    private static let files: [(suffix: String, container: MediaContainer)] = [
        (".mp4", .fragmentedMP4), (".mkv", .clusteredMatroska), (".m3u8", .hls),
    ]

    /// Where an attempt writes to: a file that is there already is kept, and the new one has a number in its name.
    func place() -> String {
        guard container == .fragmentedMP4 || container == .clusteredMatroska else { return url }
        let path = url.dropFirst(5)
        guard Self.isThere(path), let dot = path.lastIndex(of: ".") else { return url }
        var number = 2
        while true {
            let next = "\(path[..<dot])-\(number)\(path[dot...])"
            if !Self.isThere(next[...]) { return "file:" + next }
            number += 1
        }
    }

    /// Whether there is a file, or a link that leads nowhere.
    private static func isThere(_ path: Substring) -> Bool {
        var facts = stat()
        return lstat(String(path), &facts) == 0
    }

    /// Whether it waits for the other side to connect, as long as that takes.
    var isListener: Bool {
        guard container == .transportStream, let query = url.firstIndex(of: "?") else { return false }
        return url[query...].dropFirst().split(separator: "&").contains("mode=listener")
    }

    /// Whether what the path doesn't carry waits where we see it, or is counted.
    public var showsBacklog: Bool { container == .flash || container == .transportStream }

    /// Whether the size of its send buffer can be set.
    public var hasSendBuffer: Bool { container == .flash }

    private init(url: String, container: MediaContainer, description: String) {
        self.url = url
        self.container = container
        self.description = description
    }

    /// Reads a URL such as `rtmp://host/app/key`, `srt://host:port?passphrase=...`, `rtsp://host/path` or
    /// `file:talk.mp4`.
    ///
    /// - Throws: ``OutputSettingsError`` that names what is wrong with it, without its secret part.
    public init(_ text: String) throws(OutputSettingsError) {
        try Self.check(text)
        self = try text.lowercased().hasPrefix("file:") ? Self.file(String(text.dropFirst(5))) : Self.server(text)
    }

    /// Checks what holds for each URL.
    static func check(_ text: String) throws(OutputSettingsError) {
        guard text.utf8.count <= maxByteCount else {
            throw OutputSettingsError("its URL has more than \(maxByteCount) bytes")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw OutputSettingsError("its URL has a space or a control character")
        }
    }

    /// A file, given as `talk.mp4`, `/srv/talk.mp4` or `///srv/talk.mp4`.
    private static func file(_ text: String) throws(OutputSettingsError) -> PushAddress {
        let path = text.hasPrefix("//") ? String(text.dropFirst(2)) : text
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let found = files.first(where: { name.hasSuffix($0.suffix) && name.count > $0.suffix.count }) else {
            let known = files.map(\.suffix).joined(separator: ", ")
            throw OutputSettingsError("its file has no name that ends in one of \(known)")
        }
        return PushAddress(url: "file:" + path, container: found.container, description: "file:" + path)
    }

    private static func server(_ text: String) throws(OutputSettingsError) -> PushAddress {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = parts[0].lowercased()
        guard parts.count == 2, parts[1].hasPrefix("//") else {
            throw OutputSettingsError("it isn't a URL, such as rtmp://host/app/key")
        }
        guard let found = protocols.first(where: { $0.scheme == scheme }) else {
            let known = protocols.map(\.scheme).joined(separator: ", ")
            throw OutputSettingsError(
                "nothing is pushed over \(scheme.prefix(20)); it can be one of \(known), whip, janus, file, object")
        }
        let rest = parts[1].dropFirst(2)
        let end = rest.firstIndex { "/?".contains($0) } ?? rest.endIndex
        let host = rest[..<end].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let tail = rest[end...]
        let path = tail.prefix { $0 != "?" }.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard !host.isEmpty, !host.hasPrefix(":") else { throw OutputSettingsError("its URL names no host") }
        // Else a part of a password would be taken for the host, and shown.
        guard !tail.contains("@") else {
            throw OutputSettingsError("its URL has an @ after the host; write %40, and %2F for a / in a password")
        }
        // A server that asks for them is connected to again, which libavformat does without checking its certificate.
        guard scheme != "rtmps" || !rest[..<end].contains("@") else {
            throw OutputSettingsError(
                "its URL has a user, whose password would be sent without a check of the certificate")
        }
        let application = path.first ?? ""
        if found.container == .transportStream {
            guard host.last != "]", host.contains(":") else {
                throw OutputSettingsError("its URL names no port; write it like srt://\(host):9000")
            }
        } else if application.isEmpty {
            throw OutputSettingsError("its URL has no path; write it like \(scheme)://\(host)/app/key")
        }
        // Of several parts of the path the first one names an application; a single one may be the secret.
        let shown = path.count > 1 ? "/\(application)/..." : application.isEmpty ? "" : "/..."
        return PushAddress(
            url: scheme + text.dropFirst(scheme.count), container: found.container,
            description: "\(scheme)://\(host)\(shown)")
    }
}
