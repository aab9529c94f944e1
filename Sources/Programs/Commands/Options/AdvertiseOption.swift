import CommandLine
import LinkTransport
import STUN
import Synchronization

/// `--advertise ADDRESS`: a numeric address, or a host name, which is resolved once.
enum AdvertiseOption {
    static let option = Option(
        long: "advertise", value: .required("ADDRESS"),
        help: "an additional address to offer viewers, for example the public address of a router that forwards the "
            + "ports to the same numbers: an IP address, or a host name, which is resolved once, at the start, and "
            + "accepted in links; may be repeated", repeats: true
    )

    private static let resolved = Mutex<[String: [TransportAddress]]>([:])

    /// The addresses, of a host name one of each family.
    static func addresses(_ options: ParsedOptions) throws(UsageError) -> [TransportAddress] {
        var addresses: [TransportAddress] = []
        for text in options.values("advertise") {
            for address in try self.addresses(of: text, label: options.place(of: "advertise") ?? "--advertise")
            where !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return addresses
    }

    /// The names by which viewers may ask for the host: the addresses, and the host names as they were given.
    static func hostNames(_ options: ParsedOptions) throws(UsageError) -> [String] {
        let numeric = try addresses(options).map { $0.family == .ipv6 ? "[\($0.host)]" : $0.host }
        return numeric + options.values("advertise").filter { isName($0) }.map { $0.lowercased() }
    }

    private static func addresses(of text: String, label: String) throws(UsageError) -> [TransportAddress] {
        if let address = try? ValueFormat.ipAddress.read(text, option: label) { return [address] }
        guard isName(text) else {
            throw UsageError(
                "\(label) \(text): neither an IP address nor a host name; write it like 203.0.113.7, 2001:db8::7 or "
                    + "router.example.org")
        }
        if let known = resolved.withLock({ $0[text] }) { return known }
        var found: [TransportAddress] = []
        do throws(SocketError) {
            for numeric in try numericAddresses(of: text) {
                guard let address = try? ValueFormat.ipAddress.read(numeric, option: label),
                    !found.contains(where: { $0.family == address.family })
                else { continue }
                found.append(address)
            }
        } catch {
            throw UsageError("\(label) \(text): \(error)", exitCode: .unavailable)
        }
        if found.isEmpty {
            throw UsageError("\(label) \(text): this name has no IP address", exitCode: .unavailable)
        }
        resolved.withLock { $0[text] = found }
        return found
    }

    /// Whether it can be a host's name (RFC 1123 section 2.1), and isn't a number that was meant as an address.
    private static func isName(_ text: String) -> Bool {
        guard text.utf8.count <= 253, text.contains(where: \.isLetter) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "-" || $0 == "_")
                }
        }
    }
}
