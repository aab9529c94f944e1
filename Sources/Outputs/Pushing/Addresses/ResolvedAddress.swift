import Glibc
import LinkTransport
import MediaFiles
import OutputSettings
import WebRTCPushing

/// What libavformat connects to.
struct ResolvedAddress: Equatable {
    var url: String
    /// Options of its protocol.
    var options: [String: String] = [:]
}

extension PushAddress {
    /// Where an attempt writes to. `resolve` is asked for the address of the host, as ``PushSettings/resolve`` says.
    func resolved(by resolve: (@Sendable (String) -> String?)?) throws(OutputSettingsError) -> ResolvedAddress {
        var found = nameRange.flatMap { resolve?(String(url[$0])) }
        if let nearest, let host = hostRange.map({ String(url[$0]) }) {
            let addresses = found.map { [$0] } ?? (try? numericAddresses(of: host)) ?? []
            guard let first = addresses.first else {
                throw OutputSettingsError("the host in its stream object isn't found")
            }
            guard addresses.allSatisfy({ Nearness($0) <= nearest }) else {
                throw OutputSettingsError("its stream object names a server of this machine or its network")
            }
            // A second lookup may return another address.
            found = first
        }
        guard let range = nameRange, let address = found else { return ResolvedAddress(url: place()) }
        guard let family = Self.family(of: address) else {
            throw OutputSettingsError("what its host was resolved to is no address")
        }
        let (before, host, after) = (url[..<range.lowerBound], url[range], url[range.upperBound...])
        let place = family == AF_INET6 ? "[\(address)]" : address
        var resolved = ResolvedAddress(url: "\(before)\(place)\(after)")
        if container == .flash {
            let told = Self.applicationURL(host, after)
            // Some builds of libavformat have room for little more.
            guard told.utf8.count < 1024 else { throw OutputSettingsError("the application in its URL is too long") }
            resolved.options["rtmp_tcurl"] = told
        }
        return resolved
    }

    /// Where the URL has a host's name; nil if it has an address or none, or if a certificate must be for the name.
    private var nameRange: Range<String.Index>? {
        guard !url.hasPrefix("rtmps:"), let range = hostRange, Self.family(of: String(url[range])) == nil else {
            return nil
        }
        return range
    }

    /// Where the URL has a host, without brackets; nil if it is a file's.
    private var hostRange: Range<String.Index>? {
        guard container.isWatched, container != .hls, let colon = url.firstIndex(of: ":") else { return nil }
        let authority = url[colon...].dropFirst(3).prefix { !"/?".contains($0) }
        let start = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let isBracketed = authority[start...].hasPrefix("[")
        let host = authority[start...].dropFirst(isBracketed ? 1 : 0).prefix { $0 != (isBracketed ? "]" : ":") }
        return host.startIndex..<host.endIndex
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
