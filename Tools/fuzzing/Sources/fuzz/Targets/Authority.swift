import ByteCoding
import Threading

@testable import Signalling

extension FuzzTarget {
    /// The names in a request's headers: hosts, origins, addresses, entity tags and the segments of a path.
    ///
    /// A line feed in the input ends the Host header, and what follows is the Origin header.
    static let authority = FuzzTarget(
        name: "authority", maxInput: 1024,
        words: [
            "localhost", "127.0.0.1", "[::1]", "http://", "https://", ":443", "::ffff:127.0.0.1", "%2F", "W/\"", "null",
        ]
    ) { input in
        let lines = String(decoding: input, as: UTF8.self).split(
            separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let header = String(lines[0])
        let origin = lines.count > 1 ? String(lines[1]) : nil
        if let authority = Authority(header) { checkRoundTrip(authority) }
        if strict.accept(header) {
            check(Authority(header).map { names.contains($0.host) } ?? false, "no other name is accepted")
        }
        _ = open.accept(header)
        for isSecured in [false, true] {
            guard let origin,
                case .ours = RequestOrigin(header: origin, host: header, isSecured: isSecured, allowed: [])
            else { continue }
            check(
                Authority(origin.drop { $0 != ":" }.dropFirst(3))?.host == Authority(header)?.host,
                "an origin of ours has the name of the request")
            let scheme = origin.prefix { $0 != ":" }.lowercased()
            check(!isSecured || scheme == "https" || scheme == "wss", "a page without TLS isn't ours over TLS")
        }
        let key = ClientAddress.key(header)
        check(ClientAddress.key(key).utf8.count <= max(39, header.utf8.count), "the key of an address is short")
        _ = Loopback.contains(header)
        _ = EntityTag(text: "tag").matches(header)
        check(PercentCoding.decode(PercentCoding.encode(header)) == (isText(header) ? header : nil), "coding is undone")
        if let decoded = PercentCoding.decode(header) { check(isText(decoded), "a segment has no control characters") }
    }
}

private let names: Set<String> = ["localhost", "127.0.0.1", "[::1]", "desk.example"]
private let strict = HostNames(listening: [], lan: false, machineName: "", more: ["desk.example"])
private let open = HostNames(listening: [], lan: true, machineName: "desk", more: [])

private func isText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

private func checkRoundTrip(_ authority: Authority) {
    check(authority.host == authority.host.lowercased(), "a host is in lower case")
    check(authority.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a host is visible ASCII")
    let written = authority.host + (authority.port.map { ":\($0)" } ?? "")
    // Skip a host that still ends with a dot: reading it again would remove that one as well.
    guard !authority.host.hasSuffix(".") else { return }
    check(Authority(written) == authority, "an authority that is written again reads the same")
}
