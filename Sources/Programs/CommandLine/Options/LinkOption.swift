public import LinkTransport

extension ValueFormat where Value == LinkAddress {
    /// `unix:PATH`, `tcp:HOST:PORT`, `tls:HOST:PORT` or `fd:N`.
    public static var link: ValueFormat<LinkAddress> {
        ValueFormat { (text) throws(ValueError) in
            do throws(SocketError) {
                return try LinkAddress(parsing: text)
            } catch {
                throw ValueError(error.description)
            }
        }
    }
}

extension ParsedOptions {
    /// The address that `--link` gives, or nil if it isn't given.
    ///
    /// Checks that an inherited descriptor is open, so call this before the program opens anything itself.
    ///
    /// - Throws: ``UsageError`` if the address is invalid, or if its descriptor isn't open or no socket.
    public func link() throws(UsageError) -> LinkAddress? {
        guard let address = try value("link", as: .link) else { return nil }
        do throws(SocketError) {
            try address.checkHandedDown()
        } catch {
            throw UsageError("--link \(address): \(error)", exitCode: ExitCode(error.kind))
        }
        return address
    }
}

extension Option {
    /// `--link` of a program that captures.
    public static let hostLink = Option(
        long: "link", short: "l", value: .required("LINK"),
        help: "where the host is: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT (encrypted), or fd:NUMBER for an inherited "
            + "socket; without it, the socket where this user's host listens by default"
    ).under(.captureLink)

    /// `--capture-key`, for programs that take `--link tcp:` or `--link tls:`.
    public static let captureKey = Option(
        long: "capture-key", value: .required("FILE"),
        help: "the capture key: a file of 16 to 4096 bytes that host and capture share and other users can't read; "
            + "needed for tcp: between machines, and for tls:, whose key is derived from it. Each end proves to the "
            + "other that it has the file, which is never sent",
        formerNames: formerCaptureKey
    ).under(.captureLink)

    /// The former name of `--capture-key`, which works for one more release.
    public static let formerCaptureKey = ["link-token"]
}

extension ParsedOptions {
    /// The key in the file that `--capture-key` names, or nil if it isn't given. Only a capture link over TCP may have
    /// one.
    ///
    /// - Throws: ``UsageError`` if the link isn't over TCP, or if the file isn't a key's or others can read it.
    public func captureKey(for address: LinkAddress?) throws(UsageError) -> LinkToken? {
        guard let path = try value("capture-key", as: .text) else { return nil }
        guard address?.isOverTCP == true else {
            throw UsageError(
                "--capture-key \(path): only a capture link over TCP has a key, for example --link tls:127.0.0.1:7300")
        }
        do throws(SocketError) {
            return try LinkToken(file: path)
        } catch {
            throw UsageError("--capture-key \(path): \(error)", exitCode: ExitCode(error.kind))
        }
    }
}

extension ValueFormat where Value == AddressRange {
    /// `192.0.2.0/24`, `2001:db8::/32`, or a single address.
    public static var addressRange: ValueFormat<AddressRange> {
        ValueFormat(orProblem: "not an address range; write it like 192.0.2.0/24, 2001:db8::/32 or 192.0.2.7") {
            AddressRange($0)
        }
    }
}

extension ExitCode {
    /// The exit code of a program that could not open its link.
    public init(_ kind: SocketError.Kind) {
        switch kind {
        case .usage: self = .usage
        case .missing: self = .windowGone
        case .data: self = .badData
        case .unavailable: self = .unavailable
        case .declined: self = .declined
        case .permission: self = .permission
        case .system: self = .system
        }
    }
}
