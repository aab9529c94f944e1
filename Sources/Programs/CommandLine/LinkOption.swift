public import LinkTransport

extension ValueFormat where Value == LinkAddress {
    /// `unix:PATH` or `fd:N`.
    public static var link: ValueFormat<LinkAddress> {
        ValueFormat { (text) throws(ValueProblem) in
            do throws(LinkTransportError) {
                return try LinkAddress(parsing: text)
            } catch {
                throw ValueProblem(error.description)
            }
        }
    }
}

extension ParsedOptions {
    /// Where `--link` says that the link is; nil where it isn't given.
    ///
    /// A descriptor that was to be handed down has to be open: ask before the program opens anything itself.
    public func link() throws(UsageError) -> LinkAddress? {
        guard let address = try value("link", as: .link) else { return nil }
        do throws(LinkTransportError) {
            try address.checkHandedDown()
        } catch {
            throw UsageError("--link \(address): \(error)", exitCode: ExitCode(error.kind))
        }
        return address
    }
}

extension ExitCode {
    /// How a program ends that could not have its link.
    public init(_ kind: LinkTransportError.Kind) {
        switch kind {
        case .usage: self = .usage
        case .unavailable: self = .unavailable
        case .permission: self = .permission
        case .system: self = .system
        }
    }
}
