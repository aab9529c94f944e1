public import STUN

/// The configuration of a media server: its addresses, and how many sessions it may have.
public struct MediaServerConfiguration: Sendable {
    /// The maximum number of media threads. One of them receives for all, so that many more would wait for it.
    package static let threadLimit = 8

    /// The address of the UDP port and of the TCP port of the same number; with port 0, the kernel chooses one.
    public var bind: TransportAddress
    /// Addresses offered to peers in addition to this machine's own, for example behind port forwarding. Port 0 stands
    /// for the server's own port.
    public var advertised: [TransportAddress]
    /// The maximum number of simultaneous sessions.
    public var sessionLimit: Int
    /// Returns why there is no room for another session, or nil. Called before each session, on the thread that opens
    /// it; must not block.
    public var sessionRefusal: @Sendable () -> String? = { nil }
    /// When a media thread is too late for further sessions.
    var lagLimits = LoopLag.Limits()
    /// When sessions that aren't connected make room for others.
    var halfOpenLimits = SessionTable.HalfOpenLimits()
    /// What returns the memory of ended sessions to the system.
    var freedMemory = FreedMemory()
    /// The number of media threads, from 1 to ``threadLimit``, among which all sessions are divided; nil for what
    /// is usual on this machine, where the first thread has some sessions before others get any.
    package var threadCount: Int?
    /// The number of processors that the process may take, if that is less than the machine has; nil for no such limit.
    public var processorLimit: Int?
    /// Whether peers may connect over TCP. A program that only views needs no open TCP port.
    public var takesConnections = true
    /// TCP ports that the program needs for something else. Peers connect over TCP on the port of the same number as
    /// the UDP port, unless it is one of these.
    public var reservedTCPPorts: Set<UInt16> = []
    /// STUN servers that report which address a NAT gives the server's port: names or numeric addresses, each with or
    /// without a port (`stun.example.org`, `192.0.2.1:3478`, `[2001:db8::1]:3478`). The default port is 3478.
    public var stunServers: [String] = []

    /// A server that can be reached at `bind` and `advertised`.
    public init(bind: TransportAddress, advertised: [TransportAddress] = [], sessionLimit: Int = 4096) {
        self.bind = bind
        self.advertised = advertised
        self.sessionLimit = sessionLimit
    }
}
