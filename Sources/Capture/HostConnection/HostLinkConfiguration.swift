public import LinkTransport
public import MediaTypes

/// How a capture reaches its host, and in which form it sends.
public struct HostLinkConfiguration: Sendable {
    /// The address of the host.
    public var link: LinkAddress
    /// The token shared with a host that is reached over TCP; without one, only a host on this machine is connected to.
    public var token: LinkToken?
    /// Whether to send only units, with the headers of the legacy sender.
    public var isLegacy = false
    /// The stream that all messages belong to.
    public var stream: UInt8 = 0
    /// How long a host may leave pending data unread before the link is given up.
    public var readTimeout = Interval.seconds(60)
    /// The size of the kernel's send buffer in bytes (SO_SNDBUF), or nil for the system's default. It bounds how old
    /// what a slow host reads can be.
    public var sendBuffer: Int32?

    /// Creates a configuration for the host at `link`.
    public init(link: LinkAddress) {
        self.link = link
    }
}
