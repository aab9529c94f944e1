import Glibc
import MediaFiles

/// What libavformat connects to.
struct ResolvedAddress: Equatable {
    var url: String
    /// Options of its protocol.
    var options: [String: String] = [:]
}

extension PushAddress {
    /// Where an attempt writes to. `resolve` is asked for the address of the host, as ``PushSettings/resolve`` says.
    func resolved(by resolve: (@Sendable (String) -> String?)?) throws(OutputError) -> ResolvedAddress {
        guard let resolve, let range = nameRange, let address = resolve(String(url[range])) else {
            return ResolvedAddress(url: place())
        }
        guard let family = Self.family(of: address) else {
            throw OutputError("what its host was resolved to is no address")
        }
        let (before, host, after) = (url[..<range.lowerBound], url[range], url[range.upperBound...])
        let place = family == AF_INET6 ? "[\(address)]" : address
        var resolved = ResolvedAddress(url: "\(before)\(place)\(after)")
        if container == .flash {
            let told = Self.applicationURL(host, after)
            // Some builds of libavformat have room for little more.
            guard told.utf8.count < 1024 else { throw OutputError("the application in its URL is too long") }
            resolved.options["rtmp_tcurl"] = told
        }
        return resolved
    }

    /// Where the URL has a host's name; nil if it has an address or none, or if a certificate must be for the name.
    private var nameRange: Range<String.Index>? {
        let schemes = ["rtmp://", "srt://", "rtsp://"]
        guard let scheme = schemes.first(where: { url.hasPrefix($0) }) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { !"/?".contains($0) }
        let start = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let name = authority[start...].prefix { $0 != ":" }
        guard !name.hasPrefix("["), Self.family(of: String(name)) == nil else { return nil }
        return name.startIndex..<name.endIndex
    }

    /// The URL of the application that an RTMP server is told: what libavformat would make of the URL with the host's
    /// name. Of three parts of a path, it takes two for the application's, unless the second one has a colon.
    private static func applicationURL(_ host: Substring, _ rest: Substring) -> String {
        let port = rest.prefix { $0 != "/" }
        let parts = rest.dropFirst(port.count + 1).split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let isInstance = parts.count > 2 && !parts[1].contains(":")
        let application = parts.prefix(isInstance ? 2 : 1).joined(separator: "/")
        return "rtmp://\(host)\(port.isEmpty ? ":1935" : port)/\(application)"
    }

    /// AF_INET or AF_INET6; nil if the text is no address.
    private static func family(of text: String) -> Int32? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return AF_INET }
        var six = in6_addr()
        return inet_pton(AF_INET6, text, &six) == 1 ? AF_INET6 : nil
    }
}
