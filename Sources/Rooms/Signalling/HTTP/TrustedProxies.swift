import LinkTransport
import Threading

/// The proxies that are trusted to report the client's address in `Forwarded` (RFC 7239) or `X-Forwarded-For`.
struct TrustedProxies: Sendable {
    /// Why a header can't be trusted.
    enum ForwardingError: Error, Equatable, CustomStringConvertible {
        /// The `Forwarded` header doesn't conform to RFC 7239.
        case malformed
        /// The two headers name different clients: a proxy writes one of them, and passes on the other as its client
        /// wrote it.
        case contradiction

        var description: String {
            switch self {
            case .malformed: "the Forwarded header is not as RFC 7239 has it"
            case .contradiction:
                "Forwarded and X-Forwarded-For name different clients; have the proxy remove the one that it doesn't write"
            }
        }
    }

    let ranges: [AddressRange]

    /// Whether the proxy at that address is trusted.
    func contains(_ address: String) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns the address of the client that makes its request through `peer`, or the address of `peer` itself if it
    /// isn't a trusted proxy or reports nothing.
    ///
    /// Each proxy appends the address that its request came from. So the headers are read from the end to the first
    /// address that isn't a trusted proxy; the client may have written everything before it. A proxy on another machine
    /// can't vouch for a client on this one: its loopback is another, for example the loopback of a tunnel's end.
    func client(of peer: String, forwarded: String?, forwardedFor: String?) throws(ForwardingError) -> String {
        guard contains(peer) else { return peer }
        let first = try forwarded.map { (header) throws(ForwardingError) in
            walk(from: peer, try Self.hops(forwarded: header))
        }
        let second = forwardedFor.map { walk(from: peer, Self.hops(forwardedFor: $0)) }
        if let first, let second, first != second { throw .contradiction }
        let found = first ?? second ?? peer
        return Loopback.contains(found) && !Loopback.contains(peer) ? peer : found
    }

    private func walk(from peer: String, _ hops: [String?]) -> String {
        var current = peer
        for hop in hops.reversed() {
            // A proxy that hides an address, or doesn't know it, hides all those before it.
            guard contains(current), let hop else { break }
            current = hop
        }
        return current
    }

    /// Returns the address of each `for` in a `Forwarded` header; nil for one that is hidden or unknown.
    private static func hops(forwarded header: String) throws(ForwardingError) -> [String?] {
        var hops: [String?] = []
        for element in try split(header[...], at: ",") {
            var hop: String?
            for pair in try split(element, at: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { throw .malformed }
                guard parts[0].trimmed.lowercased() == "for" else { continue }
                hop = try address(of: unquoted(parts[1].trimmed))
            }
            hops.append(hop)
        }
        return hops
    }

    /// Returns the parts of `text` between separators that aren't in a quoted string.
    private static func split(_ text: Substring, at separator: Character) throws(ForwardingError) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        // A client that leaves a quoted string open must not hide what the proxy appends.
        guard !isQuoted else { throw .malformed }
        parts.append(text[start...])
        return parts.filter { !$0.trimmed.isEmpty }
    }

    private static func unquoted(_ text: String) throws(ForwardingError) -> String {
        guard text.hasPrefix("\"") else {
            guard !text.contains("\"") else { throw .malformed }
            return text
        }
        let inner = text.dropFirst().dropLast()
        guard text.count >= 2, text.hasSuffix("\""), !inner.contains("\""), !inner.contains("\\") else {
            throw .malformed
        }
        return String(inner)
    }

    private static func hops(forwardedFor header: String) -> [String?] {
        header.split(separator: ",").map { address(of: $0.trimmed) }
    }

    /// Parses an address such as `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]` or `[2001:db8::7]:4711`;
    /// nil for other words.
    private static func address(of node: String) -> String? {
        var host = node[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            host = host[host.index(after: host.startIndex)..<end]
        } else if host.count(where: { $0 == ":" }) == 1, let colon = host.firstIndex(of: ":") {
            host = host[..<colon]
        }
        return host.contains("/") || AddressRange(String(host)) == nil ? nil : host.lowercased()
    }
}
