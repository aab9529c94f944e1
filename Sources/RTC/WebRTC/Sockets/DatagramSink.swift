import MediaTypes

/// The destination of a session's datagrams: the socket, or in tests a lossy link.
protocol DatagramSink: AnyObject {
    /// Sends `datagram`, which the caller keeps.
    ///
    /// - Returns: false if there is no room now. The datagram is then sent as soon as there is room, and the sender
    ///   should hold back whatever can wait.
    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool

    /// Whether a request to a candidate of a viewer's may be sent now; if so, it counts for the bound of all viewers.
    func admitsCheck(now: MonotonicTime) -> Bool
}
